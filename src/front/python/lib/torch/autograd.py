"""torch.autograd: forward passes only."""
import torch
from torch import _install
from torch._grad import enable_grad, inert, no_grad, set_grad_enabled  # noqa: F401

__path__ = []  # its submodules are found like a package's


class _Context:
    """What a custom function's forward may keep for a backward pass that never comes."""
    needs_input_grad = (False,) * 64
    saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *args):
        pass

    mark_non_differentiable = set_materialize_grads = save_for_forward = mark_dirty


class _FunctionMeta(type):
    pass


class Function(metaclass=_FunctionMeta):
    @classmethod
    def apply(cls, *args, **kwargs):
        return cls.forward(_Context(), *args, **kwargs)

    @staticmethod
    def forward(ctx, *args, **kwargs):
        raise NotImplementedError('You must implement the forward function for custom '
                                  'autograd.Function.')

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError


def Variable(data, requires_grad=False, volatile=False):
    return data.requires_grad_() if requires_grad and isinstance(data, torch.Tensor) else data


def grad(*args, **kwargs):
    from fxfront.missing import Unsupported
    raise Unsupported('torch.autograd.grad is not supported (since fxscope has no backward pass)')


backward = grad
_install.module('torch.autograd.function', Function=Function, once_differentiable=lambda f: f,
                InplaceFunction=Function)
_install.module('torch.autograd.profiler', record_function=inert, profile=inert)
_install.module('torch.autograd.variable', Variable=Variable)


def __getattr__(name):
    from torch import _inert
    return _inert.absent(__name__, name)
