"""Modules of the standard library that are read when something of them is first used: reading
inspect, ast, re and what they need takes a third of what starting takes, and a plain trace needs
none of them."""
import os
import sys

_library = os.path.dirname(os.__file__)
_read = {}  # name -> module


def _is_standard(module):
    """And no file of that name beside the model, nor what a model has put in its place."""
    origin = getattr(getattr(module, '__spec__', None), 'origin', None)
    return origin in ('built-in', 'frozen') or \
        isinstance(origin, str) and origin.startswith(_library + os.sep)


def _standard(name):
    """The module of that name of the standard library, and what it reads; sys.modules keeps what a
    model has put there."""
    if _is_standard(sys.modules.get(name)):
        return sys.modules[name]
    aside = {each: module for each, module in sys.modules.items()
             if each.partition('.')[0] in sys.stdlib_module_names and not _is_standard(module)}
    path = sys.path[:]
    sys.path[:] = [folder for folder in path if folder.startswith(_library)] or path
    for each in aside:
        del sys.modules[each]
    try:
        __import__(name)
        return sys.modules[name]
    finally:
        sys.path[:] = path
        sys.modules.update(aside)


class Later:
    """Stands for a module: `inspect = Later('inspect')` in the place of `import inspect`."""
    def __init__(self, name):
        self.__dict__['_name'] = name

    def __getattr__(self, attribute):
        module = _read.get(self._name)
        if module is None:
            module = _read[self._name] = _standard(self._name)
        return getattr(module, attribute)
