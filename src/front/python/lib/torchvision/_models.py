"""torchvision.models without importing all of them: each file is read when one of its names is asked
for. The package's own file says which names are whose; where it does more than import, or a file does
not spell its __all__ out, it is read as ever."""
import ast
import importlib
import os
import re
import sys
import types

_NAME = 'torchvision.models'
_ALL = re.compile(r'^__all__\s*=\s*\[([^][]*)\]\s*$', re.M)


def _exports(path):
    """The names in a file's __all__; None where it is no plain list."""
    try:
        with open(path, encoding='utf-8') as file:
            source = file.read()
        found = _ALL.findall(source)
        plain = len(found) == source.count('__all__') == 1
        names = ast.literal_eval(f'[{found[0]}]') if plain else None
    except (OSError, SyntaxError, ValueError):
        return None
    return names


def _plan(source, folder):
    """(names -> file that star-imports them, files whose names are not known, names -> file for
    `from ._api import X`, folders) of the package's file; None: it does more than import."""
    owners, unknown, named, parts = {}, [], {}, []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ImportFrom) or node.level != 1 or \
                any(each.asname for each in node.names):
            return None
        names = [each.name for each in node.names]
        if node.module is None:
            parts += names
        elif names == ['*']:
            exported = _exports(os.path.join(folder, node.module + '.py'))
            if exported is None:
                unknown.append(node.module)
            owners.update(dict.fromkeys(exported or (), node.module))
        else:
            named.update(dict.fromkeys(names, node.module))
    return owners, unknown, named, parts


_names_of = types.ModuleType.__dict__['__dict__'].__get__  # not what _Models makes of it


class _Models(types.ModuleType):
    """The package. Who looks at all of its names at once gets all of them."""

    def _fxscope_plan(self, plan):
        self._owners, self._unknown, self._named, self._parts = plan
        self._stars = {*self._owners.values(), *self._unknown}
        self._whole = False

    def _load(self, file):
        return importlib.import_module(f'{_NAME}.{file}')

    def _load_all(self):
        if self._whole:
            return
        self._whole = True
        try:
            for file in dict.fromkeys((*self._owners.values(), *self._unknown, *self._parts)):
                self._load(file)
            for name, file in self._named.items():
                setattr(self, name, getattr(self._load(file), name))
        except BaseException:
            self._whole = False
            raise

    def __setattr__(self, name, value):
        """Also what an import does once a file was read: its names become the package's, and may
        take the place of the file itself, as googlenet does."""
        super().__setattr__(name, value)
        if isinstance(value, types.ModuleType) and value.__name__ == f'{_NAME}.{name}':
            if name in _names_of(self)['_stars']:
                for each in getattr(value, '__all__', ()):
                    super().__setattr__(each, getattr(value, each))
            if name == '_api' and type(value.__dict__.get('BUILTIN_MODELS')) is dict:
                value.BUILTIN_MODELS = _Registry(value.BUILTIN_MODELS)

    def __getattr__(self, name):
        names = _names_of(self)
        if '_whole' in names and not name.startswith('__'):
            if name in names['_named']:  # they tell of all models
                self._load_all()
            elif name in names['_owners']:
                self._load(names['_owners'][name])
            elif name in names['_parts']:
                self._load(name)
            elif not names['_whole']:
                for file in names['_unknown']:
                    self._load(file)
                if name not in names and name in names['_stars']:
                    self._load(name)
        if name in names:
            return names[name]
        raise AttributeError(f'module {_NAME!r} has no attribute {name!r}')

    @property
    def __dict__(self):
        self._load_all()
        return _names_of(self)


class _Registry(dict):
    """Builders by name: who asks for one that is not there, or for all, has all files read."""

    def _complete(self):
        sys.modules[_NAME]._load_all()
        return super()

    def __missing__(self, name):
        self._complete()
        return dict(self)[name]

    def keys(self):
        return self._complete().keys()

    def items(self):
        return self._complete().items()

    def values(self):
        return self._complete().values()

    def __iter__(self):
        return self._complete().__iter__()

    def __len__(self):
        return self._complete().__len__()


class _Loader:
    """Of the package alone: its real loader makes it where the plan does not fit."""

    def __init__(self, real):
        self.real = real

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = module.__spec__.origin
        with open(path, 'rb') as file:
            plan = _plan(file.read(), os.path.dirname(path))
        if plan is None:
            self.real.exec_module(module)
        else:
            module.__class__ = _Models
            _Models._fxscope_plan(module, plan)


class Finder:
    """The first one for the package; it finds it where the others would."""

    def find_spec(self, name, path=None, target=None):
        if name != _NAME:
            return None
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.origin and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec
