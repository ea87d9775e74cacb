"""A front of the names of PyTorch that model files use; the library does the work."""
import sys
import types

import _fxscope
from _fxscope import set_printoptions, manual_seed, initial_seed, get_default_dtype  # noqa: F401
from _fxscope import is_grad_enabled, set_default_dtype  # noqa: F401
from _fxscope import Generator, Size, Tensor, device, dtype, layout, memory_format  # noqa: F401

for _name, _value in _fxscope.constants().items():
    globals()[_name] = _value


def _module(name):
    if name not in sys.modules:
        parent, _, last = name.rpartition('.')
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
        setattr(_module(parent), last, sys.modules[name])
    return sys.modules[name]


for _path, _function in _fxscope.functions().items():
    _place, _, _name = _path.rpartition('.')
    setattr(_module(_place), _name, _function)
