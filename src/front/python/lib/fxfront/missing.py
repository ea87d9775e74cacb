"""Names that are not here. A package that is not installed becomes a module of names, so that a
file that imports it can still be read; a name of torch without a meaning here becomes one of them.
They can be imported, used as decorator, annotation or default value; only calling one is an error, and
no class can derive from one without its being said."""
import sys
import types

from .later import Later
from .notes import note

ast, linecache, machinery = Later('ast'), Later('linecache'), Later('importlib.machinery')


class Unsupported(RuntimeError):
    """A thing that fxscope does not have was used."""


class MissingPackage(ImportError):
    """A thing of a package that is not installed was used."""


class Missing:
    """An absent function, class or value."""
    def __init__(self, path, error, why):
        self.__dict__.update(_path=path, _error=error, _why=why)
        self.__dict__['__name__'] = self.__dict__['__qualname__'] = path.rpartition('.')[2]
        self.__dict__['__module__'] = path.rpartition('.')[0]
        self.__dict__['__doc__'] = why

    def _refuse(self, *_):
        raise self._error(f'{self._path} is not supported (since {self._why})')

    def __call__(self, *args, **kwargs):
        # As a decorator it changes nothing.
        if len(args) == 1 and not kwargs and isinstance(args[0], (type, types.FunctionType)):
            return args[0]
        self._refuse()

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Missing(f'{self._path}.{name}', self._error, self._why)

    def __mro_entries__(self, bases):
        """A class that derives from it can be defined, not made."""
        path, why, error = self._path, self._why, self._error
        note(f'a class derives from {path}, which is not here: it can not be built '
             f'(since {why})')

        def __new__(cls, *args, **kwargs):
            raise error(f'{cls.__name__} derives from {path}, which is not supported '
                        f'(since {why})')
        return (type(self.__name__, (), {'__new__': __new__, '__module__': self.__module__,
                                         '_fxscope_missing': path}),)

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __getitem__(self, item):
        return self

    def __repr__(self):
        return f'<{self._path}: not here>'

    def __bool__(self):
        self._refuse()

    __iter__ = __len__ = __enter__ = __int__ = __float__ = __add__ = __mul__ = __sub__ = _refuse


class _StubModule(types.ModuleType):
    __version__ = '0.0.0'

    def __getattr__(self, name):
        if name.startswith('__') and name != '__version__':
            raise AttributeError(name)
        root = self.__name__.partition('.')[0]
        return Missing(f'{self.__name__}.{name}', MissingPackage,
                       f'the package {root} is not installed; --path DIR says where it is')


class _AbsentOfTorch(Missing, types.ModuleType):
    """What a file imports from torch that is not here, and not in the PyTorch that is followed
    either: of a later one perhaps. It can be a module, a class or a function."""
    def __init__(self, path):
        types.ModuleType.__init__(self, path)
        Missing.__init__(self, path, Unsupported, 'fxscope knows nothing of that name')


def _guarded(frame):
    """Is the running import inside a try statement that catches something?"""
    name, line = frame.f_code.co_filename, frame.f_lineno
    if name not in _tries:
        _tries[name] = []
        try:
            tree = ast.parse(''.join(linecache.getlines(name, frame.f_globals)))
        except SyntaxError:
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Try) and node.handlers and node.body:
                _tries[name].append((node.body[0].lineno, node.body[-1].end_lineno))
    return any(first <= line <= last for first, last in _tries[name])


_tries = {}


def _imports(code, root):
    """Does the import stand in this code? Else compiled code that it calls has it (Cython's), and
    knows what to do."""
    return any(name.partition('.')[0] in (root, 'import_module', '__import__')
               for name in code.co_names)


class Finder:
    """The last finder: it makes stubs of packages that nobody else found."""
    def __init__(self, allowed=lambda name: True):
        self.allowed = allowed
        self.made = []

    def find_spec(self, name, path=None, target=None):
        root = name.partition('.')[0]
        if root in sys.builtin_module_names or root in sys.stdlib_module_names or \
                root.startswith('_') or not self.allowed(root):
            return None
        parent = name.rpartition('.')[0]
        of_torch = _is_of_torch(name)
        if parent and parent != 'torchvision' and not of_torch and \
                not isinstance(sys.modules.get(parent), _StubModule):
            return None  # a real package that lacks a module: an error of the file
        frame = _importer('<frozen') if of_torch else _importer('<frozen', '<fxscope>')
        if frame is None or _guarded(frame) or not _imports(frame.f_code, root):
            return None
        if of_torch:
            if _is_ours(frame):
                return None
            note(f'{_place(frame)}: fxscope knows nothing of {name}: it can be imported, not called')
        if not parent:
            self.made.append(name)
            note(f'{_place(frame)}: the package {root} is not installed: its names can be '
                 'imported, not called (--path DIR says where it is)')
        return machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return (_AbsentOfTorch if _is_of_torch(spec.name) else _StubModule)(spec.name)

    def exec_module(self, module):
        module.__path__ = []


def _importer(*passed_over):
    """The frame that imports; frames of files whose names begin so only pass it on."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(passed_over):
        frame = frame.f_back
    return frame


def _is_of_torch(name):
    """A part of torch, or of a part of torchvision that is here."""
    return name.startswith('torch.') or name.startswith('torchvision.') and \
        name.count('.') > 1 and \
        not isinstance(sys.modules.get(name.rpartition('.')[0]), _StubModule)


def _is_ours(frame):
    return frame.f_code.co_filename.startswith('<fxscope>')


def _place(frame):
    import os
    return f'{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}'


_finder = Finder()


def install():
    """From now on a model file may import packages that are not here."""
    from . import standins
    standins.install()
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
