# Written by fxscope. Parameters and buffers that no layer makes are zeros.
from typing import Union as typing_Union
from mod import Pair as mod_Pair
from typing import Tuple as typing_Tuple
from math import sqrt as math_sqrt
from _operator import not_ as _operator_not_
from math import inf
from torch import device
import torch
import torch.fx

_device_ = "'device'"
_ = ...
__main___UserT = '__main__.UserT'


def __main___userfn(*args, **kwargs):
    raise NotImplementedError('__main__.userfn')


int_None = 'int | None'
NoneType = type(None)

torch.fx._symbolic_trace.wrap("math_sqrt")
torch.fx._symbolic_trace.wrap("len")
torch.fx._symbolic_trace.wrap("__main___userfn")
torch.fx._symbolic_trace.wrap("_operator_not_")


class FrozenNorm(torch.nn.Module):
    def forward(self, *args, **kwargs):
        raise NotImplementedError('FrozenNorm')


class Block(torch.nn.Module):
    def forward(self, *args, **kwargs):
        raise NotImplementedError('Block')


class Odd_1(torch.nn.Module):
    def forward(self, *args, **kwargs):
        raise NotImplementedError('Odd')


class MultiheadAttention(torch.nn.Module):
    def forward(self, *args, **kwargs):
        raise NotImplementedError('MultiheadAttention')


class NonDynamicallyQuantizableLinear(torch.nn.Module):
    def forward(self, *args, **kwargs):
        raise NotImplementedError('NonDynamicallyQuantizableLinear')


class Function(torch.nn.Module):
    def forward(self, *args, **kwargs):
        raise NotImplementedError('Function')


class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros([4], dtype=torch.float64))
        self.index = torch.nn.Parameter(torch.zeros([2], dtype=torch.int64), requires_grad=False)
        self.register_buffer('mask', torch.zeros([1, 4], dtype=torch.bool))
        self.features = torch.nn.Sequential()
        self.features.add_module('0', torch.nn.Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1), padding='same', padding_mode='circular'))
        self.features.add_module('norm-1', FrozenNorm())  # 4, eps=1e-05
        getattr(self.features, "norm-1").register_buffer('weight', torch.zeros([4]))
        self.features.add_module('class', torch.nn.Hardtanh(min_val=-inf, max_val=6.0))
        self.block = Block()  # width=4
        self.block.up = torch.nn.UpsamplingBilinear2d(scale_factor=2.0)
        self.block.norm = FrozenNorm()  # 4, eps=1e-05
        self.block.odd = Odd_1()
        self.attention = MultiheadAttention()
        self.attention.out_proj = NonDynamicallyQuantizableLinear()  # in_features=4, out_features=4, bias=True
        self.attention.out_proj.weight = torch.nn.Parameter(torch.zeros([4, 4]))
        self.attention.out_proj.bias = torch.nn.Parameter(torch.zeros([4]))
        self.act = Function()  # function=<function silu at 0x7f00>
        self.empty = torch.nn.ModuleList()
        self.a = torch.nn.Linear(in_features=4, out_features=4, bias=False)
        self.b = torch.nn.Linear(in_features=4, out_features=4, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x : typing_Union[torch.Tensor,NoneType] = None, where : _device_ = device(type='cpu')):
        features_0 = getattr(self.features, "0")(x)
        features_norm_1 : mod_Pair = getattr(self.features, "norm-1")(features_0);  features_0 = None
        to = features_norm_1.to(where, torch.float32, memory_format = torch.channels_last);  features_norm_1 = where = None
        sqrt : typing_Tuple[int,_] = math_sqrt(2.0)
        len_1 = len(x)
        userfn : __main___UserT = __main___userfn(to, inf, device(type='cuda', index=0));  to = None
        not_ = _operator_not_(userfn);  userfn = None
        scale : torch.nn.parameter.Parameter = self.scale
        add : int_None = scale + sqrt;  scale = sqrt = None
        return {'out': [add, len_1], 'x': (x,)}
