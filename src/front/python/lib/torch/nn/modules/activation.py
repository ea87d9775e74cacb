"""torch.nn.modules.activation"""
import _fxscope
import torch
from torch import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._define import layer
from .linear import NonDynamicallyQuantizableLinear
from .module import Module, hidden

ReLU = layer('ReLU(inplace=False)', '?inplace', 'F.relu(input, inplace=self.inplace)')
RReLU = layer('RReLU(lower=1.0 / 8, upper=1.0 / 3, inplace=False)', 'lower= upper= ?inplace',
              'F.rrelu(input, self.lower, self.upper, self.training, self.inplace)')
Sigmoid = layer('Sigmoid()', '', 'torch.sigmoid(input)')
Hardsigmoid = layer('Hardsigmoid(inplace=False)', '', 'F.hardsigmoid(input, self.inplace)')
Tanh = layer('Tanh()', '', 'torch.tanh(input)')
SiLU = layer('SiLU(inplace=False)', '?inplace', 'F.silu(input, inplace=self.inplace)')
Mish = layer('Mish(inplace=False)', '?inplace', 'F.mish(input, inplace=self.inplace)')
Hardswish = layer('Hardswish(inplace=False)', '', 'F.hardswish(input, self.inplace)')
ELU = layer('ELU(alpha=1., inplace=False)', 'alpha= ?inplace',
            'F.elu(input, self.alpha, self.inplace)')
CELU = layer('CELU(alpha=1., inplace=False)', 'alpha= ?inplace',
             'F.celu(input, self.alpha, self.inplace)')
SELU = layer('SELU(inplace=False)', '?inplace', 'F.selu(input, self.inplace)')
GLU = layer('GLU(dim=-1)', 'dim=', 'F.glu(input, self.dim)')
GELU = layer("GELU(approximate='none')", 'approximate=!',
             'F.gelu(input, approximate=self.approximate)')
Hardshrink = layer('Hardshrink(lambd=0.5)', 'lambd', 'F.hardshrink(input, self.lambd)')
LeakyReLU = layer('LeakyReLU(negative_slope=1e-2, inplace=False)', 'negative_slope= ?inplace',
                  'F.leaky_relu(input, self.negative_slope, self.inplace)')
LogSigmoid = layer('LogSigmoid()', '', 'F.logsigmoid(input)')
Softplus = layer('Softplus(beta=1, threshold=20)', 'beta= threshold=',
                 'F.softplus(input, self.beta, self.threshold)')
Softshrink = layer('Softshrink(lambd=0.5)', 'lambd', 'F.softshrink(input, self.lambd)')
Softsign = layer('Softsign()', '', 'F.softsign(input)')
Tanhshrink = layer('Tanhshrink()', '', 'F.tanhshrink(input)')
Softmin = layer('Softmin(dim=None)', 'dim=', 'F.softmin(input, self.dim, _stacklevel=5)')
Softmax = layer('Softmax(dim=None)', 'dim=', 'F.softmax(input, self.dim, _stacklevel=5)')
LogSoftmax = layer('LogSoftmax(dim=None)', 'dim=',
                   'F.log_softmax(input, self.dim, _stacklevel=5)')
Threshold = layer('Threshold(threshold, value, inplace=False)', 'threshold= value= ?inplace',
                  'F.threshold(input, self.threshold, self.value, self.inplace)')


class Softmax2d(Module):
    def forward(self, input: Tensor) -> Tensor:
        assert input.dim() == 4 or input.dim() == 3, \
            'Softmax2d requires a 3D or 4D tensor as input'
        return F.softmax(input, -3, _stacklevel=5)


class Hardtanh(Module):
    def __init__(self, min_val=-1., max_val=1., inplace=False, min_value=None, max_value=None):
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        assert self.max_val > self.min_val

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        return (f'min_val={self.min_val}, max_val={self.max_val}' +
                (', inplace=True' if self.inplace else ''))


class ReLU6(Hardtanh):
    def __init__(self, inplace=False):
        super().__init__(0., 6., inplace)

    def extra_repr(self):
        return 'inplace=True' if self.inplace else ''


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(torch.empty(num_parameters, dtype=dtype).fill_(init))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f'num_parameters={self.num_parameters}'


class MultiheadAttention(Module):
    __constants__ = ['batch_first']

    def __init__(self, embed_dim, num_heads, dropout=0., bias=True, add_bias_kv=False,
                 add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None,
                 dtype=None):
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == self.embed_dim, \
            'embed_dim must be divisible by num_heads'
        one = self._qkv_same_embed_dim
        self.in_proj_weight = (
            Parameter(torch.empty((3 * embed_dim, embed_dim), dtype=dtype)) if one else None)
        if one:
            for name in 'qkv':
                self.register_parameter(name + '_proj_weight', None)
        else:
            del self.in_proj_weight
            for name, width in (('q', embed_dim), ('k', self.kdim), ('v', self.vdim)):
                self.register_parameter(name + '_proj_weight',
                                        Parameter(torch.empty((embed_dim, width), dtype=dtype)))
            self.register_parameter('in_proj_weight', None)
        self.register_parameter('in_proj_bias', Parameter(torch.empty(3 * embed_dim, dtype=dtype))
                                if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias,
                                                        dtype=dtype)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(torch.empty((1, 1, embed_dim), dtype=dtype))
            self.bias_v = Parameter(torch.empty((1, 1, embed_dim), dtype=dtype))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def extra_repr(self):
        return hidden(embed_dim=self.embed_dim, num_heads=self.num_heads, dropout=self.dropout,
                      add_bias_kv=self.bias_k is not None, add_zero_attn=self.add_zero_attn,
                      kdim=self.kdim, vdim=self.vdim, batch_first=self.batch_first)

    def _reset_parameters(self):
        for name in ('in_proj_weight', 'q_proj_weight', 'k_proj_weight', 'v_proj_weight'):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.)
            init.constant_(self.out_proj.bias, 0.)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True):
        is_batched = query.dim() == 3
        if _fxscope.strict():
            bool(is_batched)  # torch chooses a path by it, so that it can't be traced
        if self.batch_first and is_batched:
            if key is value:
                if query is key:
                    query = key = value = query.transpose(1, 0)
                else:
                    query, key = [x.transpose(1, 0) for x in (query, key)]
                    value = key
            else:
                query, key, value = [x.transpose(1, 0) for x in (query, key, value)]
        more = {}
        if not self._qkv_same_embed_dim:
            more = dict(use_separate_proj_weight=True, q_proj_weight=self.q_proj_weight,
                        k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, **more)
        if self.batch_first and is_batched:
            return output.transpose(1, 0), weights
        return output, weights
