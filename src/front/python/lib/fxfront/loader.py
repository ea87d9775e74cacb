"""Finds a model in a Python file: FILE.py:EXPR, and without EXPR the one network class of the file
that no other class uses. A file that is a script is read for its definitions only."""
import _ast as ast
import importlib.util
import os
import sys
import types

from . import missing, signatures
from .syntax import parse, walk
from .notes import note


class LoadError(Exception):
    """A mistake of the user's, said in one line or a few."""


# ---- where modules are found

def package_root(path, levels=0):
    """The folder that holds the outermost package of a file, and the dotted name of the file.
    levels: how many folders up the file itself imports from; those are packages, too."""
    folder, name = os.path.split(os.path.splitext(os.path.abspath(path))[0])
    parts = [] if name == '__init__' else [name]
    while os.path.exists(os.path.join(folder, '__init__.py')) or len(parts) <= levels:
        if not os.path.basename(folder).isidentifier():
            break
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return folder, '.'.join(parts)


def set_path(path, extra=(), isolated=False):
    """sys.path for a model file. torch and torchvision's own parts never come from there."""
    root, _ = package_root(path)
    wanted = [root, os.path.dirname(os.path.abspath(path)), *map(os.path.abspath, extra)]
    if not isolated:
        env = os.environ.get('VIRTUAL_ENV')
        version = 'python%d.%d' % sys.version_info[:2]
        if env:
            wanted.append(os.path.join(env, 'lib', version, 'site-packages'))
        wanted += [f'/usr/local/lib/{version}/dist-packages', '/usr/lib/python3/dist-packages']
    for folder in wanted:
        if folder not in sys.path and os.path.isdir(folder):
            sys.path.append(folder)


# ---- reading a file

_HARMLESS_CALLS = {'add_argument', 'set_defaults', 'wrap', 'append', 'insert', 'extend', 'update',
                   'manual_seed', 'seed', 'filterwarnings', 'simplefilter', 'register',
                   'basicConfig', 'set_default_dtype', 'setrecursionlimit'}


def _call_name(node):
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return function.attr if isinstance(function, ast.Attribute) else \
            getattr(function, 'id', '')
    return None


def _is_main_guard(node):
    return (isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and
            any(isinstance(part, ast.Name) and part.id == '__name__'
                for part in (node.test.left, *node.test.comparators)))


def is_script(tree):
    """Does running the file do work of its own, beside defining things?"""
    for node in tree.body:
        if isinstance(node, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)):
            return True
        name = _call_name(node)
        if name is not None and name not in _HARMLESS_CALLS:
            return True
    return False


def _run_definitions(tree, path, module):
    """Imports, definitions and assignments, one by one; gives (line, exception) of those that
    fail, and are skipped."""
    skipped = []
    saved, sys.argv = sys.argv, [path]
    try:
        for node in tree.body:
            if isinstance(node, (ast.For, ast.While, ast.With)) or _is_main_guard(node):
                continue
            name = _call_name(node)
            if name is not None and name not in _HARMLESS_CALLS:
                continue
            code = compile(ast.Module(body=[node], type_ignores=[]), path, 'exec')
            try:
                exec(code, module.__dict__)
            except (Exception, SystemExit) as error:
                skipped.append((node.lineno, error))
    finally:
        sys.argv = saved
    return skipped


def told(error):
    """'TypeError: text', of an exception that may fail to tell it."""
    try:
        text = str(error)
    except Exception:
        text = ''
    name = type(error).__name__
    return f'{name}: {text}' if text else name


def said(error):
    """The first line of that."""
    return told(error).split('\n')[0]


def _tell_skipped(path, skipped, found):
    """What of the file could not be run: notes, or where no network is left, what is wrong."""
    if skipped and not found:
        line, error = skipped[0]
        raise LoadError(f'{path}:{line}: {said(error)}') from error
    for line, error in skipped:
        note(f'{os.path.basename(path)}:{line}: skipped, since it raises {said(error)}')


def _levels_up(tree):
    """1: the file imports from its own folder (`from .layers import X`), 2: from the one above."""
    return max((node.level for node in walk(tree) if isinstance(node, ast.ImportFrom)),
               default=0)


def _module_name(path, tree):
    root, name = package_root(path, _levels_up(tree))
    if root not in sys.path:
        sys.path.insert(0, root)
    if name.partition('.')[0] in sys.stdlib_module_names or name in sys.modules:
        return 'model_' + name.replace('.', '_')
    return name


def _parsed(path, source):
    nul = source.find(b'\0')
    if nul >= 0:
        line = source.count(b'\n', 0, nul) + 1
        raise LoadError(f'{path}:{line}: the file has a NUL byte: it is no Python source')
    try:
        return parse(source, path)
    except SyntaxError as error:
        text = (error.text or '').strip()
        raise LoadError(f'{path}:{error.lineno or 1}: {error.msg}' +
                        (f'\n    {text}' if text else '')) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise LoadError(f'{path}: {error or "it is nested too deeply"}') from None


def load_file(path, definitions=None):
    """(module, syntax tree, what was skipped) of a file. definitions: True reads definitions only,
    None decides by looking."""
    try:
        with open(path, 'rb') as file:
            source = file.read()
    except OSError as error:
        raise LoadError(f'{path}: {error.strerror}') from None
    tree = _parsed(path, source)
    name = _module_name(path, tree)
    package = name.rpartition('.')[0]
    if package:
        importlib.import_module(package)
    if definitions is None and is_script(tree):
        definitions = True
        note(f'{os.path.basename(path)} is a script: only its definitions are read')
    module, skipped = _new_module(name, package, path), []
    try:
        if definitions:
            skipped = _run_definitions(tree, path, module)
        else:
            exec(compile(tree, path, 'exec'), module.__dict__)
    except ImportError:
        raise  # what would be missing is not known
    except (Exception, SystemExit) as error:
        if definitions is not None:
            raise
        module = _new_module(name, package, path)
        skipped = _run_definitions(tree, path, module)
        if candidates(module, tree):
            note(f'{os.path.basename(path)} can not be run ({said(error)}): only its definitions '
                 'are read')
    return module, tree, skipped


def _new_module(name, package, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = path
    if package:
        module.__package__ = package
    sys.modules[name] = module
    return module


# ---- choosing a model

def _names_in(node):
    return {part.id for part in walk(node) if isinstance(part, ast.Name)} | \
           {part.attr for part in walk(node) if isinstance(part, ast.Attribute)}


def candidates(module, tree):
    """Network classes of the file that no other class or function of it uses, in its order."""
    from torch.nn import Module
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    networks = [name for name in classes if isinstance(module.__dict__.get(name), type) and
                issubclass(module.__dict__[name], Module)]
    used = set()
    for name, node in classes.items():
        used |= _names_in(node) - {name}
    top = [name for name in networks if name not in used]
    return top or networks


def find_model(path, expression, arguments=None, definitions=None):
    """What FILE.py:EXPR names: (a function that builds it anew, a description)."""
    import torch  # noqa: F401  (its finders come before those of what is missing)
    missing.install()
    module, tree, skipped = load_file(path, definitions)
    arguments = {name: _literal(text, module) for name, text in (arguments or {}).items()}
    _tell_skipped(path, skipped, candidates(module, tree) or expression)
    if not expression:
        names = candidates(module, tree)
        if len(names) != 1:
            raise LoadError(_choose(path, module, names, tree))
        expression = names[0]
    try:
        code = compile(expression.strip(), f'{path}:{expression}', 'eval')
    except SyntaxError as error:
        raise LoadError(f'{path}:{expression}: this is no Python expression: {error.msg}') \
            from None

    def build():
        from torch.nn import Module
        try:
            thing = eval(code, module.__dict__)
        except NameError as error:
            raise LoadError(f'{path}: {error}; it has ' +
                            (', '.join(_defined(module, tree)) or 'no classes or functions')) \
                from None
        if isinstance(thing, Module):
            return thing
        if not callable(thing):
            kind = 'module' if isinstance(thing, types.ModuleType) else type(thing).__name__
            raise LoadError(f'{path}:{expression} is {kind}, no network')
        lacking = signatures.lacking(thing, arguments)
        _refuse_absent_base(path, tree, thing)
        if isinstance(thing, type):
            if not issubclass(thing, Module):
                raise LoadError(f'{path}:{expression} is a class that does not derive from '
                                'torch.nn.Module')
            if lacking:
                raise LoadError(f'{path}: {expression}{signatures.text(thing)}: {lacking}; write '
                                f"'{os.path.basename(path)}:{expression}(...)' or --arg NAME=VALUE")
            return thing(**arguments)
        if not signatures.exists(thing):
            raise LoadError(f'{path}:{expression} is no function in Python: write '
                            f"'{os.path.basename(path)}:lambda x: {expression}(x)'")
        if lacking:
            return thing  # a function over tensors: it is traced itself
        made = thing(**arguments)
        return made if isinstance(made, Module) else thing
    return build, expression


def _literal(text, module):
    try:
        return eval(text, module.__dict__)
    except Exception:
        return text


def _defined(module, tree):
    return [node.name for node in tree.body
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name in module.__dict__]


def _refuse_absent_base(path, tree, cls):
    """LoadError for a class that derives from what is not here."""
    absent = getattr(cls, '_fxscope_missing', None)
    if absent and isinstance(cls, type):
        line = next((f':{node.lineno}' for node in tree.body
                     if getattr(node, 'name', None) == cls.__name__), '')
        why = 'which fxscope does not know' if absent.startswith('torch.') else \
            'which is not here: --path DIR says where its package is'
        raise LoadError(f'{path}{line}: {cls.__name__} derives from {absent}, {why}')


def _choose(path, module, names, tree):
    name = os.path.basename(path)
    if not names:
        for node in tree.body:
            _refuse_absent_base(path, tree, module.__dict__.get(getattr(node, 'name', None)))
    if not names:
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        hint = f"; it has the functions {', '.join(functions)}: write '{name}:FUNCTION'" \
            if functions else ''
        return f'{path}: there is no class that derives from torch.nn.Module{hint}'
    lines = [f"{path}: which network? Write '{name}:CLASS(...)':"]
    for each in names:
        lines.append(f'  {each}{signatures.text(module.__dict__[each])}')
    return '\n'.join(lines)
