# Written by fxscope. Parameters and buffers that no layer makes are zeros.
from math import sqrt as math_sqrt_1
from math import floor as math_floor
from math import inf
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
import torch
import torch.fx

torch.fx._symbolic_trace.wrap("math_sqrt_1")
torch.fx._symbolic_trace.wrap("math_floor")


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        _0 = getattr(self, "0")(x);  x = None
        b = self.b
        math_sqrt = _0 + b;  _0 = b = None
        sqrt = math_sqrt_1(inf)
        part = math_sqrt * sqrt;  math_sqrt = sqrt = None
        return part


class Part_1(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._in_spec = pytree.tree_flatten((0, {'k': 0},))[1]
        self._out_spec = pytree.tree_flatten(0)[1]

    def forward(self, x):
        self, x_1, = fx_pytree.tree_flatten_spec([self, x], self._in_spec)
        floor = math_floor(x_1);  x_1 = None
        return pytree.tree_unflatten([floor], self._out_spec)


class Part_2(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, Part):
        Part_3 = Part
        act = self.act(Part_3);  Part_3 = None
        return act


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.torch = Part()
        self.torch.register_buffer('b', torch.zeros([2]))
        self.torch.add_module('0', torch.nn.Linear(in_features=2, out_features=2, bias=True))
        self.trees = Part_1()
        self.list = torch.nn.ModuleList()
        self.list.add_module('0', Part_2())
        getattr(self.list, "0").act = torch.nn.Sequential()

    def forward(self, x):
        math_sqrt = self.torch(x);  x = None
        part = self.trees({'k': math_sqrt});  math_sqrt = None
        list_0 = getattr(self.list, "0")(part);  part = None
        sqrt = math_sqrt_1(4.0)
        mul = list_0 * sqrt;  list_0 = sqrt = None
        return mul
