"""A front of the names of PyTorch that model files use. Not PyTorch: tensors, functions and graphs
are fxscope's own; there are no gradients and no devices but the CPU."""
import gc as _gc
_collects = _gc.isenabled()
_gc.disable()  # nothing of what is made here is garbage

import builtins as _builtins  # noqa: E402
import math as _math  # noqa: E402
import sys as _sys

import _fxscope
from _fxscope import Generator, Size, Tensor, device, dtype, layout, memory_format

from . import _install

__version__ = '1.13.0'
__fxscope__ = True  # this is not PyTorch
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
for _name, _value in _fxscope.constants().items():  # dtypes, memory formats, layouts
    globals()[_name] = _value

_install.fill(__name__, globals())
for _name in ('functional', '_C', '_C._nn', '_C._fft', '_C._linalg', '_C._special', '_VF', 'fft',
              'linalg', 'special'):
    _install.module(f'torch.{_name}')
from ._grad import enable_grad, inert as autocast, inference_mode, no_grad  # noqa: E402,F401
from ._grad import set_grad_enabled  # noqa: E402,F401


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_storage(obj):
    return False


def is_grad_enabled():
    return _fxscope.is_grad_enabled()


def is_inference_mode_enabled():
    return False


def get_default_dtype():
    return _fxscope.get_default_dtype()


def set_default_dtype(d):
    _fxscope.set_default_dtype(d)


def set_default_tensor_type(t):
    kind = getattr(t, 'dtype', None) or globals()[str(t).rpartition('.')[2]].dtype
    _fxscope.set_default_dtype(kind)


def manual_seed(seed):
    return _fxscope.manual_seed(_builtins.int(seed))


def seed():
    return manual_seed(0).initial_seed()


def initial_seed():
    return _fxscope.initial_seed()


def typename(o):
    """What an error message calls the type of o, or o itself when it is a class or function."""
    if isinstance(o, Tensor):
        return o.type()
    name = getattr(o, '__qualname__', None) or getattr(o, '__name__', None) or type(o).__name__
    module = getattr(o, '__module__', None)
    return name if module in (None, 'builtins') else f'{module}.{name}'


class qscheme:
    """How numbers are quantized: a name."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f'torch.{self._name}'


for _name in ('per_tensor_affine', 'per_channel_affine', 'per_tensor_symmetric',
              'per_channel_symmetric', 'per_channel_affine_float_qparams'):
    globals()[_name] = qscheme(_name)


class finfo:
    _facts = {'float32': (32, 2.0 ** -23, 2.0 ** -126, (2 - 2.0 ** -23) * 2.0 ** 127),
              'float64': (64, 2.0 ** -52, 2.0 ** -1022, _sys.float_info.max),
              'float16': (16, 2.0 ** -10, 2.0 ** -14, 65504.0),
              'bfloat16': (16, 2.0 ** -7, 2.0 ** -126, (2 - 2.0 ** -7) * 2.0 ** 127)}
    _of = {'complex64': 'float32', 'complex128': 'float64', 'complex32': 'float16'}

    def __init__(self, type=None):
        type = get_default_dtype() if type is None else type
        name = str(type).rpartition('.')[2]
        name = self._of.get(name, name)
        if name not in self._facts:
            raise TypeError(f'torch.finfo() requires a floating point input type. '
                            f'Use torch.iinfo to handle {name!r}')
        self.dtype = name
        self.bits, self.eps, self.tiny, self.max = self._facts[name]
        self.smallest_normal = self.tiny
        self.resolution = {32: 1e-06, 64: 1e-15}.get(self.bits, 0.001 if name == 'float16'
                                                     else 0.01)
        self.min = -self.max

    def __repr__(self):
        return (f'finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, '
                f'eps={self.eps:g}, smallest_normal={self.tiny:g}, tiny={self.tiny:g}, '
                f'dtype={self.dtype})')


class iinfo:
    def __init__(self, type):
        name = str(type).rpartition('.')[2]
        bits = {'uint8': 8, 'int8': 8, 'int16': 16, 'int32': 32, 'int64': 64}.get(name)
        if bits is None:
            raise TypeError('torch.iinfo() requires an integer input type. '
                            f'Use torch.finfo to handle {name!r}')
        self.bits, self.dtype = bits, name
        self.min = 0 if name == 'uint8' else -2 ** (bits - 1)
        self.max = 255 if name == 'uint8' else 2 ** (bits - 1) - 1

    def __repr__(self):
        return f'iinfo(min={self.min}, max={self.max}, dtype={self.dtype})'


class _TypedTensor(type):
    """torch.FloatTensor and its like: makes tensors of one dtype, and recognises them."""
    def __instancecheck__(cls, obj):
        return isinstance(obj, Tensor) and obj.dtype == cls.dtype

    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not isinstance(args[0], (_builtins.int, Size)):
            return tensor(args[0], dtype=cls.dtype)  # noqa: F821
        return empty(*args, dtype=cls.dtype)  # noqa: F821


for _name, _kind in (('Float', 'float32'), ('Double', 'float64'), ('Half', 'float16'),
                     ('BFloat16', 'bfloat16'), ('Long', 'int64'), ('Int', 'int32'),
                     ('Short', 'int16'), ('Char', 'int8'), ('Byte', 'uint8'), ('Bool', 'bool')):
    globals()[_name + 'Tensor'] = _TypedTensor(_name + 'Tensor', (), {
        'dtype': globals()[_kind], '__module__': 'torch'})


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes have together."""
    shapes = [(s,) if isinstance(s, _builtins.int) else tuple(s) for s in shapes]
    rank = _builtins.max((len(s) for s in shapes), default=0)
    sizes = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1 and sizes[i] not in (1, size):
                raise RuntimeError('Shape mismatch: objects cannot be broadcast to a single shape')
            sizes[i] = sizes[i] if size == 1 else size
    return Size(sizes)


def compile(model=None, **kwargs):
    return model if model is not None else lambda function: function


def set_printoptions(**options):
    _fxscope.set_printoptions(**options)


def _says_nothing(name, value=None):
    def function(*args, **kwargs):
        return value
    function.__name__ = function.__qualname__ = name
    return function


for _name, _value in (('set_num_threads', None), ('get_num_threads', 1),
                      ('set_num_interop_threads', None), ('get_num_interop_threads', 1),
                      ('use_deterministic_algorithms', None), ('is_autocast_enabled', False),
                      ('are_deterministic_algorithms_enabled', False),
                      ('is_vulkan_available', False),
                      ('set_float32_matmul_precision', None), ('set_flush_denormal', False),
                      ('get_float32_matmul_precision', 'highest'), ('set_warn_always', None),
                      ('is_autocast_cpu_enabled', False), ('get_rng_state', None),
                      ('set_rng_state', None), ('set_deterministic_debug_mode', None)):
    globals().setdefault(_name, _says_nothing(_name, _value))
_install.module('torch._C', _get_tracing_state=_says_nothing('_get_tracing_state'))


def load(f, *args, **kwargs):
    from .serialization import load  # only who needs it waits for pickle
    return load(f)


def save(obj, f, *args, **kwargs):
    from .serialization import save
    save(obj, f)


from . import _inert  # noqa: E402
from ._ops import ops  # noqa: E402
from . import nn, fx, jit, autograd, utils, hub  # noqa: E402,F401

_inert.install()
_inert.refuse_methods(Tensor)
if _collects:
    _gc.enable()


def __getattr__(name):
    return _inert.absent('torch', name)
