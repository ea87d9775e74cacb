"""Modules of the standard library that are read when something of them is first used: reading
inspect, ast, re and what they need takes a third of what starting takes, and a plain trace needs
none of them."""
import sys

_path = list(sys.path)  # before a model file's folders are in it


class Later:
    """Stands for a module: `inspect = Later('inspect')` in the place of `import inspect`."""
    def __init__(self, name):
        self.__dict__['_name'] = name

    def __getattr__(self, attribute):
        module = sys.modules.get(self._name)
        if module is None:
            # Not a file of that name beside the model.
            saved, sys.path[:] = sys.path[:], _path
            try:
                __import__(self._name)
            finally:
                sys.path[:] = saved
            module = sys.modules[self._name]
        return getattr(module, attribute)

