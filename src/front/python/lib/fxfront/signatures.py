"""What a class or function of the user's takes. Ordinary ones are answered from their code; the
module inspect, which is slow to read, is asked about all others."""
import types

from .later import Later

inspect = Later('inspect')


def is_plain(function):
    """A function in Python that says nothing else about itself."""
    return isinstance(function, types.FunctionType) and not (
        function.__dict__ and {'__wrapped__', '__signature__'} & function.__dict__.keys())


def unwrapped(function):
    return function if is_plain(function) else inspect.unwrap(function)


def defaults(function):
    """Parameter -> default, of those that have one."""
    if not is_plain(function):
        return {name: p.default for name, p in inspect.signature(function).parameters.items()
                if p.default is not inspect.Parameter.empty}
    code, given = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given):code.co_argcount]
    return {**dict(zip(names, given)), **(function.__kwdefaults__ or {})}


def _needs_nothing(cls):
    """Can an ordinary class be called without arguments? False where that is not sure."""
    init = cls.__init__
    if type(cls).__call__ is not type.__call__ or cls.__new__ is not object.__new__ or \
            hasattr(cls, '__signature__') or not is_plain(init):
        return False
    code = init.__code__
    return code.co_argcount > 0 and \
        len(init.__defaults__ or ()) >= code.co_argcount - 1 and \
        len(init.__kwdefaults__ or ()) == code.co_kwonlyargcount


def lacking(thing, kwargs):
    """What is wrong with calling it so, or None."""
    if not kwargs and isinstance(thing, type) and _needs_nothing(thing):
        return None
    try:
        inspect.signature(thing).bind(**kwargs)
    except TypeError as error:
        return str(error)
    except ValueError:
        pass
    return None


def text(thing):
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return '(...)'


def exists(thing):
    try:
        inspect.signature(thing)
    except (TypeError, ValueError):
        return False
    return True
