"""numpy: the functions that model files use to count and to fill, over tensors and numbers."""
import builtins
import math

import torch

from . import numpy_random as random  # noqa: F401

__version__ = '1.24.0'
pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None
ndarray = torch.Tensor
if not hasattr(torch.Tensor, 'astype'):  # what numpy's arrays have and tensors have not
    torch.Tensor.astype = lambda self, dtype, copy=True: self.to(_dtype(dtype))
float32, float64, float16 = torch.float32, torch.float64, torch.float16
int64, int32, int16, int8, uint8 = (torch.int64, torch.int32, torch.int16, torch.int8,
                                    torch.uint8)
bool_ = torch.bool
floating, integer, number = float, int, (int, float)
float_, int_ = float, int
_PYTHON = {float: torch.float64, int: torch.int64, bool: torch.bool}


def _dtype(dtype, default=None):
    return _PYTHON.get(dtype, dtype) if dtype is not None else default


def array(values, dtype=None, copy=True):
    """Floating numbers are float64, as numpy has it."""
    if isinstance(values, torch.Tensor):
        return values.clone() if dtype is None else values.to(_dtype(dtype))
    made = torch.tensor(values)
    if dtype is not None:
        return made.to(_dtype(dtype))
    return made.to(torch.float64) if made.is_floating_point() else made


def asarray(values, dtype=None):
    return values if isinstance(values, torch.Tensor) and dtype is None else array(values, dtype)


def _shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def zeros(shape, dtype=None):
    return torch.zeros(_shape(shape), dtype=_dtype(dtype, torch.float64))


def ones(shape, dtype=None):
    return torch.ones(_shape(shape), dtype=_dtype(dtype, torch.float64))


def full(shape, value, dtype=None):
    return torch.full(_shape(shape), value, dtype=_dtype(dtype, array(value).dtype))


empty = zeros


def eye(n, m=None, dtype=None):
    return torch.eye(n, n if m is None else m, dtype=_dtype(dtype, torch.float64))


identity = eye


def arange(*args, dtype=None):
    default = torch.int64 if all(isinstance(a, int) for a in args) else torch.float64
    return torch.arange(*args, dtype=_dtype(dtype, default))


def linspace(start, stop, num=50, endpoint=True, dtype=None):
    if not endpoint:
        stop = start + (stop - start) * (num - 1) / num
    return torch.linspace(start, stop, num, dtype=_dtype(dtype, torch.float64))


def meshgrid(*arrays, indexing='xy'):
    return list(torch.meshgrid(*map(asarray, arrays), indexing=indexing))


def _result(tensor):
    return tensor.item() if tensor.dim() == 0 else tensor


def prod(values, axis=None, dtype=None):
    if not isinstance(values, torch.Tensor) and axis is None and \
            all(isinstance(v, (int, float)) for v in values):
        return math.prod(values)
    values = asarray(values)
    return _result(values.prod() if axis is None else values.prod(axis))


def sum(values, axis=None, keepdims=False):
    if not isinstance(values, torch.Tensor) and axis is None and \
            all(isinstance(v, (int, float)) for v in values):
        return builtins.sum(values)
    values = asarray(values)
    return _result(values.sum() if axis is None else values.sum(axis, keepdim=keepdims))


def _reduction(name):
    def function(values, axis=None, keepdims=False):
        values = asarray(values)
        if name in ('mean', 'std', 'var'):
            values = values.to(torch.float64)
        more = {'unbiased': False} if name in ('std', 'var') else {}
        method = getattr(values, name)
        return _result(method(**more) if axis is None else method(axis, keepdim=keepdims, **more))
    function.__name__ = name
    return function


mean, std, var = _reduction('mean'), _reduction('std'), _reduction('var')


def max(values, axis=None):
    values = asarray(values)
    return _result(values.max() if axis is None else values.amax(axis))


def min(values, axis=None):
    values = asarray(values)
    return _result(values.min() if axis is None else values.amin(axis))


amax, amin = max, min


def argmax(values, axis=None):
    return _result(asarray(values).argmax() if axis is None else asarray(values).argmax(axis))


def cumsum(values, axis=0):
    return asarray(values).cumsum(axis)


def _pointwise(name, scalar):
    def function(value, *args):
        if isinstance(value, (int, float)):
            return scalar(value, *args)
        return getattr(torch, name)(asarray(value).to(torch.float64), *args)
    function.__name__ = name
    return function


def _log(value):
    return math.log(value) if value > 0 else (-inf if value == 0 else nan)


sqrt = _pointwise('sqrt', math.sqrt)
exp, log = _pointwise('exp', math.exp), _pointwise('log', _log)
log2, log10 = _pointwise('log2', math.log2), _pointwise('log10', math.log10)
sin, cos, tanh = (_pointwise('sin', math.sin), _pointwise('cos', math.cos),
                  _pointwise('tanh', math.tanh))
ceil = _pointwise('ceil', lambda v: float(math.ceil(v)))
floor = _pointwise('floor', lambda v: float(math.floor(v)))


def round(value, decimals=0):
    return float(builtins.round(value, decimals)) if isinstance(value, (int, float)) else \
        torch.round(asarray(value), decimals=decimals)


around = round


def abs(value):
    return builtins.abs(value)


absolute = abs


def power(base, exponent):
    return asarray(base) ** exponent if not isinstance(base, (int, float)) else base ** exponent


def clip(value, low, high):
    if isinstance(value, (int, float)):
        return builtins.min(builtins.max(value, low), high)
    return asarray(value).clamp(low, high)


def maximum(a, b):
    return builtins.max(a, b) if isinstance(a, (int, float)) and isinstance(b, (int, float)) \
        else torch.maximum(asarray(a), asarray(b))


def minimum(a, b):
    return builtins.min(a, b) if isinstance(a, (int, float)) and isinstance(b, (int, float)) \
        else torch.minimum(asarray(a), asarray(b))


def concatenate(arrays, axis=0):
    return torch.cat([asarray(a) for a in arrays], axis)


def stack(arrays, axis=0):
    return torch.stack([asarray(a) for a in arrays], axis)


def reshape(a, shape):
    return asarray(a).reshape(_shape(shape))


def transpose(a, axes=None):
    a = asarray(a)
    return a.permute(axes if axes is not None else tuple(reversed(range(a.dim()))))


def expand_dims(a, axis):
    return asarray(a).unsqueeze(axis)


def where(condition, a, b):
    return torch.where(asarray(condition), asarray(a), asarray(b))


def outer(a, b):
    return torch.outer(asarray(a).reshape(-1), asarray(b).reshape(-1))


def einsum(pattern, *arrays):
    return torch.einsum(pattern, *map(asarray, arrays))


def dot(a, b):
    return torch.matmul(asarray(a), asarray(b))


matmul = dot


def triu(a, k=0):
    return torch.triu(asarray(a), k)


def tril(a, k=0):
    return torch.tril(asarray(a), k)


def tile(a, reps):
    return asarray(a).repeat(_shape(reps))


def isscalar(value):
    return isinstance(value, (int, float, complex, str, bytes))


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    from fxfront.missing import Missing, MissingPackage
    return Missing(f'numpy.{name}', MissingPackage,
                   'numpy is not installed, and its stand-in has no such function')
