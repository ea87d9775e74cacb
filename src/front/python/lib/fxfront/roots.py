"""What can be called and is no plain function, as something that a trace can begin with: torch.fx
takes functions, and modules whose class has a forward that is one."""
import types

from .later import Later

inspect = Later('inspect')


def _written(parameters, with_self):
    """The source of a function of these parameters that calls `_fxscope_call` with them."""
    head, call = ['self'] if with_self else [], []
    kinds = inspect.Parameter
    for p in parameters:
        default = '' if p.default is kinds.empty else '=None'
        if p.kind is kinds.VAR_POSITIONAL:
            head.append(f'*{p.name}')
        elif p.kind is kinds.VAR_KEYWORD:
            head.append(f'**{p.name}')
        else:
            if p.kind is kinds.KEYWORD_ONLY and not any(part.startswith('*') for part in head):
                head.append('*')
            head.append(p.name + default)
        keyword = f'{p.name}=' if p.kind is kinds.KEYWORD_ONLY else ''
        call.append(keyword + head[-1].partition('=')[0])
    return f'def forward({", ".join(head)}):\n    return _fxscope_call({", ".join(call)})\n'


def function_of(thing, with_self=False):
    """A plain function that calls `thing`: its parameters, defaults and annotations are that one's.
    with_self: has a first parameter that is not passed on. ValueError where they can't be told."""
    parameters = list(inspect.signature(thing).parameters.values())
    empty, space = inspect.Parameter.empty, {'_fxscope_call': thing}
    exec(compile(_written(parameters, with_self), '<fxscope>/call', 'exec'), space)
    made = space['forward']
    given = [p for p in parameters if p.default is not empty]
    made.__kwdefaults__ = {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY}
    made.__defaults__ = tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY)
    made.__annotations__ = {p.name: p.annotation for p in parameters if p.annotation is not empty}
    named = getattr(thing, 'func', thing)  # of functools.partial
    made.__name__ = made.__qualname__ = getattr(named, '__name__', type(thing).__name__)
    return made


def _of_class(cls, name):
    """The attribute as it stands in the class or one of its bases."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def begin(thing):
    """(the module or function that is traced, the function that stands for the module's forward or
    None) of anything that can be called; ValueError where its parameters can't be told."""
    from torch.nn import Module
    if isinstance(thing, types.FunctionType):
        return thing, None
    if isinstance(thing, types.MethodType) and isinstance(thing.__self__, Module):
        plain = isinstance(thing.__func__, types.FunctionType)
        return thing.__self__, thing.__func__ if plain else function_of(thing, with_self=True)
    if not isinstance(thing, Module):
        return function_of(thing), None
    own = vars(thing).get('forward')
    if isinstance(own, types.MethodType) and own.__self__ is thing:
        return begin(own)
    forward = _of_class(type(thing), 'forward')
    if own is not None or isinstance(forward, (staticmethod, classmethod)) or \
            not isinstance(getattr(type(thing), 'forward', None), types.FunctionType):
        return thing, function_of(thing.forward, with_self=True)
    return thing, None
