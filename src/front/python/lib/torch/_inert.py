"""Modules of torch that must be importable and have nothing to do here: devices, compilation,
distribution, training. A table says what each name does; all others are placeholders that can be
imported and not called."""
import collections.abc
import math
import sys

from fxfront.later import Later
from fxfront.missing import Missing, Unsupported
from fxfront import known
from . import _install
from ._grad import inert


def _gives(value):
    return lambda *args, **kwargs: value


def _same(first=None, *args, **kwargs):
    """Gives its first argument back, as function and as decorator with or without arguments."""
    return first if first is not None else (lambda function: function)


class _Optimizer:
    """Holds parameters; never steps."""
    def __init__(self, params=(), *args, **kwargs):
        self.param_groups = [{'params': params, **kwargs}]
        self.defaults, self.state = kwargs, {}

    def step(self, closure=None):
        raise Unsupported('an optimiser step is not supported (since fxscope trains nothing)')

    def zero_grad(self, *args, **kwargs):
        pass

    def state_dict(self):
        return {}

    load_state_dict = add_param_group = zero_grad


class _Scheduler:
    def __init__(self, optimizer=None, *args, **kwargs):
        self.optimizer, self.last_epoch = optimizer, -1

    def step(self, *args, **kwargs):
        pass

    def get_last_lr(self):
        return []


class _GradScaler:
    def __init__(self, *args, **kwargs):
        pass

    def scale(self, loss):
        return loss

    def step(self, optimizer):
        optimizer.step()

    def update(self, *args):
        pass


def _classes(base, names):
    return {name: type(name, (base,), {}) for name in names.split()}


class _Backend:
    """Which kernel computes attention: here there is one."""
    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION = -1, 0, 1, 2, 3


_Backend.__name__ = _Backend.__qualname__ = 'SDPBackend'


def _tables():
    yield 'cuda', dict(
        is_available=_gives(False), device_count=_gives(0), current_device=_gives(0),
        set_device=_gives(None), synchronize=_gives(None), empty_cache=_gives(None),
        manual_seed=_gives(None), manual_seed_all=_gives(None), is_bf16_supported=_gives(False),
        max_memory_allocated=_gives(0), memory_allocated=_gives(0), device=inert, stream=inert,
        Stream=inert, Event=inert, reset_peak_memory_stats=_gives(None),
        get_device_capability=_gives((0, 0)), is_initialized=_gives(False),
        get_device_name=_gives('cpu'))
    yield 'cuda.amp', dict(autocast=inert, GradScaler=_GradScaler, custom_fwd=_same,
                           custom_bwd=_same)
    yield 'cuda.nvtx', dict(range_push=_gives(None), range_pop=_gives(None))
    yield 'amp', dict(autocast=inert, GradScaler=_GradScaler, custom_fwd=_same, custom_bwd=_same)
    yield 'cpu', {}
    yield 'cpu.amp', dict(autocast=inert)
    yield 'nn.attention', dict(sdpa_kernel=inert, SDPBackend=_Backend)
    yield 'backends', {}
    yield 'backends.cudnn', dict(enabled=False, benchmark=False, deterministic=False,
                                 allow_tf32=False, is_available=_gives(False), flags=inert,
                                 version=_gives(None))
    yield 'backends.cuda', dict(sdp_kernel=inert, is_built=_gives(False))
    yield 'backends.cuda.matmul', dict(allow_tf32=False)
    yield 'backends.mps', dict(is_available=_gives(False), is_built=_gives(False))
    yield 'backends.mkldnn', dict(is_available=_gives(False), enabled=False)
    yield 'backends.quantized', dict(engine='none', supported_engines=['none'])
    yield 'distributed', dict(
        is_available=_gives(False), is_initialized=_gives(False), get_rank=_gives(0),
        get_world_size=_gives(1), barrier=_gives(None), all_reduce=_gives(None),
        broadcast=_gives(None), ReduceOp=type('ReduceOp', (), {'SUM': 0, 'MAX': 1, 'AVG': 2}))
    yield 'optim', dict(Optimizer=_Optimizer, **_classes(
        _Optimizer, 'SGD Adam AdamW RMSprop Adagrad Adadelta Adamax ASGD LBFGS NAdam RAdam Rprop '
                    'SparseAdam'))
    yield 'optim.optimizer', dict(Optimizer=_Optimizer, required=object())
    yield 'optim.lr_scheduler', _classes(
        _Scheduler, 'LambdaLR StepLR MultiStepLR ExponentialLR CosineAnnealingLR CyclicLR '
                    'ReduceLROnPlateau OneCycleLR CosineAnnealingWarmRestarts LinearLR '
                    'ConstantLR PolynomialLR SequentialLR ChainedScheduler _LRScheduler '
                    'LRScheduler MultiplicativeLR')
    yield 'optim.swa_utils', dict(AveragedModel=_same, SWALR=_Scheduler)
    yield '_six', dict(inf=math.inf, nan=math.nan, string_classes=(str, bytes), int_classes=int,
                       container_abcs=collections.abc)
    yield 'version', dict(cuda=None, hip=None, git_version='', __version__='1.13.0')
    yield 'profiler', dict(profile=inert, record_function=inert, schedule=_gives(None),
                           ProfilerActivity=type('ProfilerActivity', (), {'CPU': 0, 'CUDA': 1}))
    yield 'overrides', dict(has_torch_function=_gives(False), is_tensor_like=_is_tensor_like,
                            has_torch_function_unary=_gives(False),
                            has_torch_function_variadic=_gives(False))
    yield 'multiprocessing', dict(set_start_method=_gives(None), set_sharing_strategy=_gives(None))
    yield 'random', dict(manual_seed=_seed, fork_rng=inert)
    yield 'types', dict(Device=object, Number=(int, float, bool), _device=object, _dtype=object,
                        _int=int, _float=float, _bool=bool, _size=tuple)
    yield '_jit_internal', dict(
        boolean_dispatch=_boolean_dispatch, _copy_to_script_wrapper=_same, export=_same,
        ignore=_same, unused=_same, is_scripting=_gives(False))
    yield 'nn.common_types', {}
    yield 'utils.tensorboard', dict(SummaryWriter=inert)
    yield 'utils.hooks', dict(RemovableHandle=object)
    yield 'utils.benchmark', {}
    yield 'testing', dict(assert_close=_gives(None), assert_allclose=_gives(None))
    yield 'storage', {}
    yield 'onnx', dict(is_in_onnx_export=_gives(False), register_custom_op_symbolic=_gives(None))
    yield 'onnx.symbolic_helper', dict(parse_args=_decorator)
    yield 'quantization', dict(QuantStub=_stub_module('QuantStub'), DeQuantStub=_stub_module(
        'DeQuantStub'), QuantWrapper=_wrap_module)
    yield 'ao', {}
    yield 'ao.quantization', dict(QuantStub=_stub_module('QuantStub'), DeQuantStub=_stub_module(
        'DeQuantStub'))
    yield 'ao.nn', {}
    for path in ('ao.nn.quantized', 'nn.quantized'):
        yield path, dict(FloatFunctional=_float_functional(), FXFloatFunctional=_float_functional())
    yield '_dynamo', dict(disable=_same, optimize=_decorator, is_compiling=_gives(False))
    yield 'compiler', dict(disable=_same, is_compiling=_gives(False), allow_in_graph=_same)
    yield 'library', {}
    yield 'distributions', {}


# Names that are typing's, which takes long to read and is asked for by few.
_TYPING = {
    'torch._jit_internal': {name: name for name in ('Final', 'List', 'Dict', 'Tuple', 'Optional')},
    'torch.nn.common_types': dict.fromkeys(
        ('_size_1_t', '_size_2_t', '_size_3_t', '_size_any_t', '_size_any_opt_t', '_size_2_opt_t',
         '_ratio_2_t', '_ratio_3_t', '_ratio_any_t', '_maybe_indices_t', '_scalar_or_tuple_any_t'),
        'Any'),
}


def _decorator(*args, **kwargs):
    return lambda function: function


def _seed(seed):
    import torch
    return torch.manual_seed(seed)


def _is_tensor_like(obj):
    import torch
    return isinstance(obj, torch.Tensor)


def _boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name=None,
                      func_name=None):
    def function(*args, **kwargs):
        chosen = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if chosen else if_false)(*args, **kwargs)
    return function


def _stub_module(name):
    from .nn import Module

    def forward(self, x):
        return x
    return type(name, (Module,), {'forward': forward, '__module__': 'torch.ao.quantization.stubs',
                                  '__init__': lambda self, qconfig=None: Module.__init__(self)})


def _float_functional():
    """Arithmetic as methods, so that observers can be put behind each."""
    global _FloatFunctional
    if _FloatFunctional is not None:
        return _FloatFunctional
    import torch
    from .nn import Identity, Module

    class FloatFunctional(Module):
        __module__ = 'torch.ao.nn.quantized.modules.functional_modules'

        def __init__(self):
            super().__init__()
            self.activation_post_process = Identity()

        def forward(self, x):
            raise RuntimeError('FloatFunctional is not intended to use the forward. Please use '
                               'the corresponding operation')

        def add(self, x, y):
            return self.activation_post_process(torch.add(x, y))

        def mul(self, x, y):
            return self.activation_post_process(torch.mul(x, y))

        def cat(self, x, dim=0):
            return self.activation_post_process(torch.cat(x, dim=dim))

        def add_relu(self, x, y):
            return self.activation_post_process(torch.nn.functional.relu(torch.add(x, y)))

        add_scalar, mul_scalar = add, mul

    _FloatFunctional = FloatFunctional
    return FloatFunctional


_FloatFunctional = None


def _wrap_module(module):
    return module


typing = Later('typing')


def _getter(place):
    types = _TYPING.get(place, {})
    return lambda name: getattr(typing, types[name]) if name in types else absent(place, name)


def install():
    """Makes the modules of the table, and the finder for all other modules of torch."""
    for name, names in _tables():
        place = f'torch.{name}'
        for key, value in names.items():
            if getattr(value, '__name__', '') == '<lambda>':
                value.__name__ = value.__qualname__ = key
                value.__module__ = place
        made = _install.module(place, **names)
        made.__getattr__ = _getter(place)
    sys.meta_path.append(_Finder())


def absent(place, name):
    """A name that a module of torch does not have here: a placeholder when PyTorch has it."""
    if name.startswith('__'):
        raise AttributeError(f'module {place!r} has no attribute {name!r}')
    inner = sys.modules.get(f'{place}.{name}')
    if inner is not None:
        return inner
    if known.is_known(place, name):
        return Missing(f'{place}.{name}', Unsupported,
                       'fxscope knows no kernel or shape rule for it')
    raise AttributeError(f'module {place!r} has no attribute {name!r}')


def _refusing(name):
    def method(self, *args, **kwargs):
        raise Unsupported(f'Tensor.{name} is not supported (since fxscope knows no kernel or shape '
                          'rule for it)')
    method.__name__ = name
    method.__qualname__ = f'Tensor.{name}'
    return method


def refuse_methods(tensor):
    """Methods that PyTorch's tensors have and these have not say so when they are called."""
    for name in known.names_of('torch.Tensor'):
        if not hasattr(tensor, name):
            setattr(tensor, name, _refusing(name))


_MODULES = set('quantized qat intrinsic quantizable backends attention grad _reduction sdp export '
               'func masked monitor sparse futures rpc ao _C _VF _dynamo _inductor _prims '
               '_refs _decomp _subclasses nested signal'.split())


class _Finder:
    """torch.X.Y that is not here: a module of placeholders."""
    def find_spec(self, name, path=None, target=None):
        import importlib.machinery
        place, _, last = name.rpartition('.')
        # `from torch.nn import X` asks for a module X last: modules have names in lower case.
        if not name.startswith('torch.') or not last.isidentifier() or last != last.lower():
            return None
        if place in ('torch', 'torch.nn', 'torch.nn.functional', 'torch.utils') and \
                not known.is_known(place, last) and last not in _MODULES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        place = module.__name__
        module.__path__ = []

        def get(name):
            if name.startswith('__'):
                raise AttributeError(name)
            return Missing(f'{place}.{name}', Unsupported, f'fxscope has nothing of {place}')
        module.__getattr__ = get
