"""torch.nn.modules.normalization"""
import numbers

import torch
from torch import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._define import layer
from .module import Module

LocalResponseNorm = layer(
    'LocalResponseNorm(size, alpha=1e-4, beta=0.75, k=1.)', 'size alpha= beta= k=',
    'F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)')
CrossMapLRN2d = layer(
    'CrossMapLRN2d(size, alpha=1e-4, beta=0.75, k=1)', 'size alpha= beta= k=',
    'F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)')


def _shape_of(normalized_shape):
    """One number is a shape of one dimension."""
    if isinstance(normalized_shape, numbers.Integral):
        return (normalized_shape,)
    return tuple(normalized_shape)


class LayerNorm(Module):
    __constants__ = ['normalized_shape', 'eps', 'elementwise_affine']

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None,
                 dtype=None):
        super().__init__()
        self.normalized_shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, there in (('weight', True), ('bias', bias)):
            self.register_parameter(
                name, Parameter(torch.empty(self.normalized_shape, dtype=dtype))
                if elementwise_affine and there else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f'{self.normalized_shape}, eps={self.eps}, '
                f'elementwise_affine={self.elementwise_affine}')


class RMSNorm(Module):
    """A layer of PyTorch 2.4."""
    __constants__ = ['normalized_shape', 'eps', 'elementwise_affine']

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None,
                 dtype=None):
        super().__init__()
        self.normalized_shape = _shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter('weight', Parameter(torch.empty(
            self.normalized_shape, dtype=dtype)) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    extra_repr = LayerNorm.extra_repr


class GroupNorm(Module):
    __constants__ = ['num_groups', 'num_channels', 'eps', 'affine']

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError('num_channels must be divisible by num_groups')
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name in ('weight', 'bias'):
            self.register_parameter(
                name, Parameter(torch.empty(num_channels, dtype=dtype)) if affine else None)
        self.reset_parameters()

    def reset_parameters(self):
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f'{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}'
