"""torch.nn.modules.padding"""
from .. import functional as F
from ._define import layer
from .module import Module
from .utils import _ntuple, _pair, _quadruple

_sextuple = _ntuple(6)
_PAIRS = {1: '_pair', 2: '_quadruple', 3: '_sextuple'}


class _ConstantPadNd(Module):
    pass


class _ReflectionPadNd(Module):
    pass


class _ReplicationPadNd(Module):
    pass


class _CircularPadNd(Module):
    pass


def _constant(n):
    return layer(f'ConstantPad{n}d(padding, value)', 'padding= value=',
                 "F.pad(input, self.padding, 'constant', self.value)", base=_ConstantPadNd,
                 keep={'padding': f'{_PAIRS[n]}(padding)'})


def _edge(name, mode, base, n):
    return layer(f'{name}Pad{n}d(padding)', 'padding', f"F.pad(input, self.padding, '{mode}')",
                 base=base, keep={'padding': f'{_PAIRS[n]}(padding)'})


ConstantPad1d, ConstantPad2d, ConstantPad3d = map(_constant, (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (
    _edge('Reflection', 'reflect', _ReflectionPadNd, n) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _edge('Replication', 'replicate', _ReplicationPadNd, n) for n in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (
    _edge('Circular', 'circular', _CircularPadNd, n) for n in (1, 2, 3))


def _zero(n, base):
    def __init__(self, padding):
        base.__init__(self, padding, 0.)
    return type(f'ZeroPad{n}d', (base,), {
        '__module__': __name__, '__init__': __init__, 'extra_repr': lambda self: f'{self.padding}'})


ZeroPad1d, ZeroPad2d, ZeroPad3d = map(_zero, (1, 2, 3),
                                      (ConstantPad1d, ConstantPad2d, ConstantPad3d))
