"""Layers that are one call: their constructor, repr and forward from one line each.

layer('ReLU(inplace=False)', '?inplace', 'F.relu(input, inplace=self.inplace)') is the class that
one would write by hand: the constructor keeps its arguments, forward is the expression.
The repr is a list of names: `name` its value, `name=` with its name before it, `name=!` the same
with Python's repr of it, `?name` "name=True" when it is true.
"""
import sys

from _fxscope import Tensor

from .module import Module


def show(module, spec):
    parts = []
    for word in spec.split():
        name = word.strip('?=!')
        value = getattr(module, name)
        if word.startswith('?'):
            if value:
                parts.append(f'{name}=True')
        elif word.endswith('!'):
            parts.append(f'{name}={value!r}')
        elif word.endswith('='):
            parts.append(f'{name}={value}')
        else:
            parts.append(f'{value}')
    return ', '.join(parts)


class _Late:
    """A member of a layer that is made when it is first looked at: a file uses few of the layers,
    and compiling all of them would take as long as tracing a network."""
    def __init__(self, name, make):
        self.name, self.make = name, make

    def __get__(self, instance, owner=None):
        value = self.make()[self.name]
        get = getattr(type(value), '__get__', None)
        return get(value, instance, owner) if get else value

    def __call__(self, *args, **kwargs):
        """For who takes it from the dictionary of its class."""
        return self.make()[self.name](*args, **kwargs)


_LATE = ('__init__', 'forward', '__constants__')


def layer(signature, spec, call, forward='input', base=Module, keep=None, **members):
    """A layer class in the caller's module. `keep` renames what the constructor keeps: a dict of
    attribute -> expression over the arguments."""
    names = sys._getframe(1).f_globals
    name, _, rest = signature.partition('(')

    def make():
        """Puts the real members in the place of the late ones that nobody has replaced."""
        made = _members(names, name, rest.rpartition(')')[0], call, forward, keep)
        for member in _LATE:
            if isinstance(vars(cls).get(member), _Late):
                setattr(cls, member, made[member])
        return made

    late = {member: _Late(member, make) for member in _LATE}
    cls = type(name, (base,), {'__module__': names['__name__'], **late,
                               'extra_repr': lambda self: show(self, spec), **members})
    return cls


def _members(names, name, arguments, call, forward, keep):
    """What layer() compiles, in the names of the caller's module."""
    names.setdefault('Tensor', Tensor)
    if 'Optional' in forward:
        import typing
        names.update(List=typing.List, Optional=typing.Optional)
    kept = [part.partition('=')[0].strip(' *') for part in _split(arguments)]
    kept = {each: each for each in kept if each}
    kept.update(keep or {})
    body = ''.join(f'\n    self.{attribute} = {value}' for attribute, value in kept.items()
                   if value is not None)
    # Annotated as PyTorch's are: a trace shows them at the inputs.
    inputs = ', '.join(part if '=' in part else f'{part}: Tensor' for part in forward.split(', '))
    source = (f'def __init__(self{", " if arguments else ""}{arguments}):\n'
              f'    super({name}, self).__init__()' + body +
              f'\ndef forward(self, {inputs}) -> Tensor:\n    return {call}\n')
    space = {}
    exec(compile(source, f'<fxscope>/{names["__name__"]}', 'exec'), names, space)
    for function in space.values():
        function.__qualname__ = f'{name}.{function.__name__}'
    return {**space, '__constants__': list(kept)}


def _split(arguments):
    """At the commas that stand in no brackets."""
    depth, start = 0, 0
    for i, c in enumerate(arguments):
        depth += (c in '([{') - (c in ')]}')
        if c == ',' and not depth:
            yield arguments[start:i]
            start = i + 1
    yield arguments[start:]
