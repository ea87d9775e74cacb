"""torch.nn.utils.parametrize: a parameter that modules compute from another one whenever it is
asked for."""
import contextlib

import torch

from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

_cache_enabled = 0
_cache = {}


@contextlib.contextmanager
def cached():
    """Each parametrized tensor is computed once while this lasts."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The modules that make a tensor from `original`, one after the other."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        value, kept = original, original
        with torch.no_grad():
            for module in reversed(self):
                if hasattr(module, 'right_inverse'):
                    with contextlib.suppress(NotImplementedError):
                        value = module.right_inverse(value)
        self.ntensors = 0 if isinstance(value, torch.Tensor) else len(value)
        self.is_tensor = self.ntensors == 0
        values = [value] if self.is_tensor else list(value)
        for name, each in zip(self._names(), values):
            if isinstance(kept, Parameter):
                each = each if isinstance(each, Parameter) else \
                    Parameter(each.detach(), requires_grad=kept.requires_grad)
                self.register_parameter(name, each)
            else:
                self.register_buffer(name, each)

    def _names(self):
        return ['original'] if self.is_tensor else [f'original{i}' for i in range(self.ntensors)]

    def forward(self):
        first, *rest = self
        value = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            value = module(value)
        return value


def _property(name):
    def get(self):
        made = self.parametrizations[name]
        if not _cache_enabled:
            return made()
        key = id(self), name
        if key not in _cache:
            _cache[key] = made()
        return _cache[key]

    def put(self, value):
        self.parametrizations[name].original.data = value
    return property(get, put)


def is_parametrized(module, tensor_name=None):
    made = getattr(module, 'parametrizations', None)
    if not isinstance(made, ModuleDict):
        return False
    return len(made) > 0 if tensor_name is None else tensor_name in made


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name in module._parameters:
        original = module._parameters.pop(tensor_name)
    elif tensor_name in module._buffers:
        original = module._buffers.pop(tensor_name)
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a "
                         f"parametrized element with name '{tensor_name}'")
    if not is_parametrized(module):
        cls = type(module)
        module.__class__ = type(f'Parametrized{cls.__name__}', (cls,), {})
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = ParametrizationList([parametrization], original, unsafe)
    return module


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    made = module.parametrizations[tensor_name]
    value = made() if leave_parametrized else made.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    module.register_parameter(tensor_name, Parameter(value.detach()))
    return module


def type_before_parametrizations(module):
    return type(module).__bases__[0] if is_parametrized(module) else type(module)
