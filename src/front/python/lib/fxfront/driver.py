"""From FILE.py:EXPR to a traced network, and from a file to what it needs of torch: what the
command's draw, print, table and check call. Their options come as texts."""
import contextlib
import os
import sys

import _fxscope
import torch  # now: what it takes is not the file's time

from . import loader
from .notes import note, take as notes  # noqa: F401: the command prints them


# ---- example inputs, as the command line has them (`fxscope help inputs`)

class Example:
    """A value that is made when it is known which input has it: the numbers are those that the run
    gives that input."""

    def __init__(self, spec):
        self.spec = spec

    def value(self, name):
        return _fxscope.input_value(self.spec, name)

    def star(self):
        """As one of *args."""
        return self.value(self.spec)


def example(spec):
    """(name or None, Example)"""
    name, equals, value = spec.partition('=')
    if equals and name and all(c.isalnum() or c in '_*' for c in name):
        return name, Example(value)
    return None, Example(spec)


def examples(specs):
    """By name, and in order those that have none."""
    named, unnamed = {}, []
    for name, value in map(example, specs):
        if name is None:
            unnamed.append(value)
        else:
            named[name.lstrip('*')] = value
    return named, unnamed


# ---- loading

def split(spec):
    """'a/b.py:Net(3)' -> 'a/b.py', 'Net(3)'"""
    at = spec.find('.py:')
    return (spec, '') if at < 0 else (spec[:at + 3], spec[at + 4:])


def _arguments(texts):
    pairs = {}
    for text in texts:
        name, equals, value = text.partition('=')
        if not equals or not name.isidentifier():
            raise loader.LoadError(f"--arg '{text}' is no NAME=VALUE")
        pairs[name] = value
    return pairs


def _where(error):
    """'model.py:72: ' of the innermost line that is the user's."""
    place, traceback = '', error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith('<'):
            place = f'{os.path.basename(file)}:{traceback.tb_lineno}: '
        traceback = traceback.tb_next
    return place


def _tell(tier, reasons, inputs):
    if tier != 'plain' and reasons:
        reason = reasons[0][1]
        note(f'traced with {"sizes" if tier == "concrete" else "values"} of {" ".join(inputs)}, '
             f'since a plain trace fails: {_where(reason)}{_first_sentence(reason)}')


def _first_sentence(error):
    """Of an exception that may fail to tell it; with its type, but where that is torch.fx's own."""
    said = loader.said(error)
    if type(error).__name__ == 'TraceError':
        said = said.partition(': ')[2] or said
    return said.partition('. ')[0]


@contextlib.contextmanager
def _kept_process():
    """What a model file does must not move where outputs go, nor into what they go: what it writes
    to descriptor 1 goes where messages go."""
    folder, mask = os.open('.', os.O_RDONLY | os.O_DIRECTORY), os.umask(0)
    os.umask(mask)
    output = None
    with contextlib.suppress(OSError):  # one of the two is closed
        output = os.dup(1)
        os.dup2(2, 1)
    try:
        yield
    finally:
        if output is not None:
            os.dup2(output, 1)
            os.close(output)
        os.umask(mask)
        os.fchdir(folder)
        os.close(folder)


def _evaluate(root):
    """root.eval(), which goes through all modules."""
    try:
        root.eval()
    except RecursionError as error:
        if not _where(error):  # of nothing that the file wrote
            raise loader.LoadError(f'{_place_of(type(root))}{_what_is_deep(root)}') from error
        raise


def _place_of(cls):
    code = getattr(cls.forward, '__code__', None)
    ours = code is None or code.co_filename.startswith('<')
    return '' if ours else f'{code.co_filename}:{code.co_firstlineno}: '


def _what_is_deep(root):
    """Why nothing can go through all modules."""
    name, above = type(root).__name__, {id(root): 'the whole network'}
    stack = [(root, '', iter(root._modules.items()))]
    while stack:
        module, path, children = stack[-1]
        key, child = next(children, (None, None))
        if key is None:
            above.pop(id(module))
            stack.pop()
        elif id(child) in above:
            return f'{name} holds itself: its part {path}{key} is {above[id(child)]} again'
        elif child is not None:
            above[id(child)] = path + key
            stack.append((child, f'{path}{key}.', iter(child._modules.items())))
    return f'the modules of {name} are nested deeper than Python can go'


def _trace(root, given, tier, build):
    from torch.fx import _hints
    from torch.fx.proxy import TraceError
    try:
        return _hints.trace(root, given, tier, build)
    except TraceError:
        if tier == 'plain' and given == ({}, []):
            note('with example inputs (-i 1x3x224x224) a trace can go on where a program asks for '
                 'sizes or values')
        raise


def load(spec, paths=(), arguments=(), inputs=(), tier=None, isolated=False, strict=False):
    """The GraphModule of what the spec names."""
    path, expression = split(spec)
    loader.set_path(path, paths, isolated)
    with _kept_process():
        build, _ = loader.find_model(path, expression, _arguments(arguments))
        _fxscope.set_strict(strict)
        def ready():
            root = build()
            owner = getattr(root, '__self__', root)  # of a method
            if isinstance(owner, torch.nn.Module):
                _evaluate(owner)
            return root
        given = examples(inputs)
        tier = tier or ('plain' if strict or not inputs else None)
        try:
            module, used, reasons = _trace(ready(), given, tier, ready)
        except (MemoryError, SyntaxError, loader.LoadError):
            raise
        except Exception as error:
            if _where(error):
                raise
            # Of no line that is the user's.
            explained = type(error).__module__.startswith('fxfront')
            text = str(error) if explained else loader.told(error)
            raise loader.LoadError(f'{spec}: {text}') from error
    _tell(used, reasons, inputs)
    return module


def check(path, paths=(), arguments=(), inputs=(), tier=None, isolated=False, strict=False):
    """(text, how many names are not supported)"""
    from . import check as checker
    path, _ = split(path)
    loader.set_path(path, paths, isolated)
    try:
        return checker.report(path)
    except SyntaxError:
        raise
    except (OSError, ValueError) as error:
        raise loader.LoadError(f'{path}: {getattr(error, "strerror", None) or error}') from None
