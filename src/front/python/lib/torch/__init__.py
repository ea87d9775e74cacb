"""A front of the names of PyTorch that model files use; the library does the work."""
import _fxscope
from _fxscope import Generator, Size, Tensor, device, dtype, layout, memory_format  # noqa: F401

for _name, _value in _fxscope.constants().items():
    globals()[_name] = _value
for _path, _function in _fxscope.functions().items():
    _place, _, _name = _path.rpartition('.')
    if _place == 'torch':
        globals()[_name] = _function
