"""torch.nn"""
import sys
from importlib import import_module

from . import init
from .parameter import (Buffer, Parameter, UninitializedBuffer, UninitializedParameter)
from .modules import Module
from . import functional, modules
from .parallel import DataParallel

__all__ = ['Buffer', 'DataParallel', 'Parameter', 'UninitializedBuffer', 'UninitializedParameter',
           'factory_kwargs', 'functional', 'init', 'modules', 'parallel', 'parameter', 'utils',
           *modules.__all__]


def __getattr__(name):
    """A layer or a part of the package, which is read when it is first asked for."""
    if name == 'utils':
        return import_module('torch.nn.utils')
    if name not in modules.__all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(modules, name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = modules.Whole


def factory_kwargs(kwargs):
    """The arguments of a layer that say where its tensors are made, and nothing else."""
    if kwargs is None:
        return {}
    left = dict(kwargs)
    made = dict(left.pop('factory_kwargs', {}))
    for name in ('device', 'dtype', 'memory_format'):
        if name in left:
            made[name] = left.pop(name)
    if left:
        raise TypeError(f'unexpected kwargs {left.keys()}')
    return made
