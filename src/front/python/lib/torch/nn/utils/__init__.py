"""torch.nn.utils"""
from . import parametrizations, parametrize, rnn  # noqa: F401
from .fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval  # noqa: F401
from .spectral_norm import remove_spectral_norm, spectral_norm  # noqa: F401
from .weight_norm import remove_weight_norm, weight_norm  # noqa: F401


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False):
    import torch
    return torch.tensor(0.)  # there are no gradients


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(parameters, clip_value):
    pass


def parameters_to_vector(parameters):
    import torch
    return torch.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    at = 0
    for p in parameters:
        p.data = vec[at:at + p.numel()].view_as(p).data
        at += p.numel()


def skip_init(module_cls, *args, **kwargs):
    kwargs.pop('device', None)
    return module_cls(*args, **kwargs)


def __getattr__(name):
    from torch import _inert
    return _inert.absent(__name__, name)
