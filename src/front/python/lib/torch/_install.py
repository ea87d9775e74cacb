"""Puts the library's functions under the names by which PyTorch's users know them."""
import sys
import types

import _fxscope

_places = {}
for _path, _function in _fxscope.functions().items():
    _place, _, _name = _path.rpartition('.')
    _places.setdefault(_place, {})[_name] = _function


def fill(place, names):
    """Enters all functions of one module, `torch.fft`, into its names."""
    for name, function in _places.get(place, {}).items():
        names.setdefault(name, function)


def find(place, name):
    """The function of that name in a module, or None."""
    return _places.get(place, {}).get(name)


def module(name, **names):
    """A module of that name that holds these things; its parents must be there."""
    made = sys.modules.get(name)
    if made is None:
        made = types.ModuleType(name)
        made.__path__ = []
        sys.modules[name] = made
        parent, _, last = name.rpartition('.')
        if parent:
            setattr(module(parent), last, made)
        fill(name, made.__dict__)
    for each, value in names.items():  # not through __dict__, which reads what is read late
        setattr(made, each, value)
    return made
