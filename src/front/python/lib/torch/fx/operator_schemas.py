"""Arguments by their parameters: normalizing calls, and what torch's own parser would refuse."""
import types
import warnings
from collections import namedtuple

import _fxscope
import torch
from fxfront.later import Later
from torch.fx._compatibility import compatibility
from torch.fx.proxy import Attribute, Proxy

inspect = Later('inspect')
__all__ = ['ArgsKwargsPair', 'check_for_mutable_operation', 'get_signature_for_torch_op',
           'normalize_function', 'normalize_module']

ArgsKwargsPair = namedtuple('ArgsKwargsPair', ('args', 'kwargs'))
ArgsKwargsPair.__doc__ = 'Arguments of a call: a tuple and a dict.'

_Param = namedtuple('_Param', 'name types has_default default keyword_only variadic')


def _overloads(function):
    return [[_Param(*p) for p in overload] for overload in _fxscope.schemas(function)]


# ---- signatures

def _signature(overload):
    """One overload as an inspect.Signature."""
    params = []
    for p in overload:
        kind = inspect.Parameter.KEYWORD_ONLY if p.keyword_only else \
            inspect.Parameter.POSITIONAL_OR_KEYWORD
        if p.variadic:
            kind = inspect.Parameter.VAR_POSITIONAL
        elif params and params[-1].kind >= inspect.Parameter.VAR_POSITIONAL:
            kind = inspect.Parameter.KEYWORD_ONLY
        empty = inspect.Parameter.empty
        needs = empty if not p.has_default or p.variadic else p.default
        if needs is empty and kind == inspect.Parameter.POSITIONAL_OR_KEYWORD and params and \
                params[-1].default is not empty:
            kind = inspect.Parameter.KEYWORD_ONLY
        name = 'input' if p.name == 'self' else p.name  # as functions, not methods, call it
        params.append(inspect.Parameter(name, kind, default=needs))
    return inspect.Signature(params)


def get_signature_for_torch_op(op, return_schemas=False):
    """The signatures of a function of torch, one for each overload; None when it is not known."""
    if not isinstance(op, _fxscope.Function):
        return (None, None) if return_schemas else None
    overloads = _overloads(op)
    signatures = [_signature(o) for o in overloads] or None
    return (signatures, overloads) if return_schemas else signatures


def _pair(signature, args, kwargs, only_kwargs):
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional, named = [], {}
    for i, (name, value) in enumerate(bound.arguments.items()):
        if not only_kwargs and i < len(args):
            positional.append(value)
        else:
            named[name] = value
    return ArgsKwargsPair(tuple(positional), named)


def _is_named(parameter):
    return parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD,
                              inspect.Parameter.KEYWORD_ONLY)


def _args_kwargs_to_normalized_args_kwargs(sig, args, kwargs, normalize_to_only_use_kwargs):
    """By an inspect.Signature; None when one of its parameters can't be given by name."""
    params = list(sig.parameters.values())
    if not all(map(_is_named, params)):
        # only `input`, as a builtin has it, may be
        if [p.name for p in params] != ['input', 'from', 'to', 'generator']:
            return None
    return _pair(sig, args, kwargs, normalize_to_only_use_kwargs)


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None,
                       normalize_to_only_use_kwargs=False):
    """The arguments of target(*args, **kwargs) with defaults filled in; None when its parameters
    are not known or can't be given by name. Where torch has overloads, the first that fits."""
    kwargs = {} if kwargs is None else kwargs
    if isinstance(target, _fxscope.Function):
        for signature in get_signature_for_torch_op(target) or ():
            if not all(map(_is_named, signature.parameters.values())):
                continue
            try:
                return _pair(signature, args, kwargs, normalize_to_only_use_kwargs)
            except TypeError:
                continue
        return None
    if isinstance(target, (types.BuiltinFunctionType, type)):
        return None
    assert callable(target)
    try:
        signature = inspect.signature(inspect.unwrap(target))
    except ValueError:
        return None
    return _args_kwargs_to_normalized_args_kwargs(signature, args, kwargs,
                                                  normalize_to_only_use_kwargs)


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """The same for a call of the submodule target of root, when its class is torch.nn's."""
    try:
        module = root.get_submodule(target)
    except AttributeError:
        raise RuntimeError(f'Tried to normalize node with target {target} but root did not have '
                           'that target!')
    if getattr(torch.nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _args_kwargs_to_normalized_args_kwargs(signature, args, kwargs or {},
                                                  normalize_to_only_use_kwargs)


# ---- in-place operations

def _is_in_place(target):
    return isinstance(target, _fxscope.Function) and _fxscope.is_in_place(target)


def check_for_mutable_operation(target, args, kwargs):
    """Raises where the function writes into one of its arguments."""
    if not _is_in_place(target):
        return
    name = target.__name__
    raise RuntimeError(
        f'Tried to trace mutable operation aten::{name}(Tensor(a!) self) -> Tensor(a!). FX only '
        'supports functional code, so operations that mutate operands in-place (e.g. via `out` '
        'arguments) are not supported')


# ---- what torch's argument parser would say (strict mode)

def _has_proxy(a):
    if isinstance(a, (list, tuple)):
        return any(map(_has_proxy, a))
    if isinstance(a, slice):
        return any(map(_has_proxy, (a.start, a.stop, a.step)))
    return isinstance(a, Proxy)


def _fits(value, types):
    """Would torch's parser take the value, proxies only where a tensor may stand?"""
    if 'any' in types:
        return True
    if isinstance(value, Proxy):
        return 'Tensor' in types
    if _has_proxy(value):
        return 'Tensor[]' in types
    if 'Tensor' in types and 'Tensor[]' not in types:
        return value is None or isinstance(value, (torch.Tensor, int, float, complex))
    return True


def _expected(p):
    if 'Tensor[]' in p.types:
        return 'tuple of Tensors'
    if 'Tensor' in p.types:
        return 'Tensor'
    if 'int[]' in p.types:
        return 'tuple of SymInts' if p.name == 'size' else 'tuple of ints'
    return 'int' if p.types == ['int'] else 'Number' if p.types[0] in ('Scalar', 'number', 'float') \
        else p.types[0]


def _wrong(overload, args, kwargs):
    """(parameter, position, value) of the first argument that does not fit."""
    variadic = False
    for i, p in enumerate(overload):
        if i < len(args) and not p.keyword_only and not variadic:
            variadic = p.variadic
            values = args[i:] if variadic else args[i:i + 1]
        else:
            values = [kwargs[p.name]] if p.name in kwargs else []
        for value in values:
            if not _fits(value, p.types):
                return p, i + 1, value
    return None


def _complete(overload, args, kwargs):
    """Has every parameter that needs one a value?"""
    return all(p.has_default or p.name in kwargs or i < len(args) for i, p in enumerate(overload))


def _check_strict(function, args, kwargs):
    kwargs = kwargs or {}
    method = isinstance(function, str)
    name = function if method else function.__name__
    if method and isinstance(args[0], Proxy):
        raise TypeError(f"descriptor '{name}' for 'torch._C._TensorBase' objects doesn't apply to "
                        f"a '{type(args[0]).__name__}' object")
    if method and name in ('__getitem__', '__setitem__'):
        if any(isinstance(i, slice) and _has_proxy(i) for i in
               (args[1] if isinstance(args[1], tuple) else args[1:2])):
            raise TypeError('slice indices must be integers or None or have an __index__ method')
        return
    if name in ('tensor', 'as_tensor'):
        raise TypeError('`__cuda_array_interface__` must be a dict')
    overloads = _overloads(f'Tensor.{name}' if method else function)
    overloads = [o for o in overloads if _complete(o, args, kwargs)] or overloads
    wrong = [_wrong(o, args, kwargs) for o in overloads]
    if not wrong or None in wrong:
        return
    p, position, value = wrong[0]
    position -= method
    if p.name in kwargs or len(wrong) > 1 and method:
        got = [type(a).__name__ for a in args[method:]] + \
            [f'{k}={type(v).__name__}' for k, v in kwargs.items()]
        raise TypeError(f"{name}() received an invalid combination of arguments - got "
                        f"({', '.join(got)}), but expected one of:")
    raise TypeError(f"{name}(): argument '{p.name}' (position {position}) must be {_expected(p)}, "
                    f'not {type(value).__name__}')


_fxscope.fx_register(check_strict=_check_strict)
