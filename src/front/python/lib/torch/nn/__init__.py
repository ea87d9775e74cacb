"""torch.nn"""
from . import init
from .parameter import (Buffer, Parameter, UninitializedBuffer, UninitializedParameter)
from .modules import *  # noqa: F401,F403
from . import functional, modules, utils
from .parallel import DataParallel


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
