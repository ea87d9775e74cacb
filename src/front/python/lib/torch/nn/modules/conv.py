"""torch.nn.modules.conv"""
import math

import torch
from torch import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module
from .utils import _pair, _reverse_repeat_tuple, _single, _triple


class _ConvNd(Module):
    __constants__ = ['stride', 'padding', 'dilation', 'groups', 'padding_mode', 'output_padding',
                     'in_channels', 'out_channels', 'kernel_size']

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation,
                 transposed, output_padding, groups, bias, padding_mode, device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError('groups must be a positive integer')
        if in_channels % groups != 0:
            raise ValueError('in_channels must be divisible by groups')
        if out_channels % groups != 0:
            raise ValueError('out_channels must be divisible by groups')
        if isinstance(padding, str):
            if padding not in ('same', 'valid'):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of "
                                 "{'same', 'valid'}")
            if padding == 'same' and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = ('zeros', 'reflect', 'replicate', 'circular')
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {set(modes)}, "
                             f"but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            self._reversed_padding_repeated_twice = [0, 0] * len(kernel_size)
            if padding == 'same':
                for i, (d, k) in enumerate(zip(dilation, kernel_size)):
                    total = d * (k - 1)
                    at = 2 * (len(kernel_size) - 1 - i)
                    self._reversed_padding_repeated_twice[at] = total // 2
                    self._reversed_padding_repeated_twice[at + 1] = total - total // 2
        else:
            self._reversed_padding_repeated_twice = _reverse_repeat_tuple(self.padding, 2)
        pair = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(torch.empty((pair[0], pair[1] // groups, *kernel_size),
                                            dtype=dtype))
        self.register_parameter(
            'bias', Parameter(torch.empty(out_channels, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        n = len(self.kernel_size)
        text = (f'{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, '
                f'stride={self.stride}')
        for name, default in (('padding', (0,) * n), ('dilation', (1,) * n),
                              ('output_padding', (0,) * n), ('groups', 1)):
            if getattr(self, name) != default:
                text += f', {name}={getattr(self, name)}'
        if self.bias is None:
            text += ', bias=False'
        if self.padding_mode != 'zeros':
            text += f', padding_mode={self.padding_mode}'
        return text

    def _pad_mode_forward(self, input):
        return F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)


def _convolution(n, sizes):
    """Conv1d, Conv2d, Conv3d: they differ in the number of dimensions alone."""
    zeros = sizes(0)
    function = f'conv{n}d'

    class Conv(_ConvNd):
        def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                     dilation=1, groups=1, bias=True, padding_mode='zeros', device=None,
                     dtype=None):
            super().__init__(in_channels, out_channels, sizes(kernel_size), sizes(stride),
                             padding if isinstance(padding, str) else sizes(padding),
                             sizes(dilation), False, zeros, groups, bias, padding_mode,
                             dtype=dtype)

        def _conv_forward(self, input: Tensor, weight: Tensor, bias: 'Optional[Tensor]'):
            if self.padding_mode != 'zeros':
                return getattr(F, function)(self._pad_mode_forward(input), weight, bias,
                                            self.stride, zeros, self.dilation, self.groups)
            return getattr(F, function)(input, weight, bias, self.stride, self.padding,
                                        self.dilation, self.groups)

        def forward(self, input: Tensor) -> Tensor:
            return self._conv_forward(input, self.weight, self.bias)

    return _named(Conv, f'Conv{n}d')


class _ConvTransposeNd(_ConvNd):
    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims,
                        dilation=None):
        """The output padding that makes an output of the size that is asked for."""
        if output_size is None:
            return _single(self.output_padding)
        batched = 1 if input.dim() == num_spatial_dims + 1 else 2
        if len(output_size) == batched + num_spatial_dims:
            output_size = output_size[batched:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(f'ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, '
                             f'output_size must have {num_spatial_dims} or '
                             f'{num_spatial_dims + batched} elements (got {len(output_size)})')
        padded = []
        for d, size in enumerate(output_size):
            least = ((input.size(d + batched) - 1) * stride[d] - 2 * padding[d] +
                     (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1) + 1)
            if size < least or size > least + stride[d] - 1:
                raise ValueError(f'requested an output size of {output_size}, but dimension {d} '
                                 f'must be from {least} to {least + stride[d] - 1} '
                                 f'(for an input of {input.size()[2:]})')
            padded.append(size - least)
        return padded


def _transposed(n, sizes):
    function = f'conv_transpose{n}d'

    class ConvTranspose(_ConvTransposeNd):
        def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0,
                     output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros',
                     device=None, dtype=None):
            if padding_mode != 'zeros':
                raise ValueError('Only "zeros" padding mode is supported for '
                                 f'{type(self).__name__}')
            super().__init__(in_channels, out_channels, sizes(kernel_size), sizes(stride),
                             sizes(padding), sizes(dilation), True, sizes(output_padding), groups,
                             bias, padding_mode, dtype=dtype)

        def forward(self, input, output_size=None):
            if self.padding_mode != 'zeros':
                raise ValueError('Only `zeros` padding mode is supported for '
                                 f'{type(self).__name__}')
            output_padding = self._output_padding(input, output_size, self.stride, self.padding,
                                                  self.kernel_size, n, self.dilation)
            return getattr(F, function)(input, self.weight, self.bias, self.stride, self.padding,
                                        output_padding, self.groups, self.dilation)

    return _named(ConvTranspose, f'ConvTranspose{n}d')


def _named(cls, name):
    for value in (cls, *(v for v in vars(cls).values() if callable(v))):
        value.__qualname__ = value.__qualname__.rpartition('<locals>.')[2].replace(
            cls.__name__, name, 1)
    cls.__name__ = name
    cls.__qualname__ = name
    return cls


Conv1d, Conv2d, Conv3d = (_convolution(1, _single), _convolution(2, _pair),
                          _convolution(3, _triple))
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = (
    _transposed(1, _single), _transposed(2, _pair), _transposed(3, _triple))


class _LazyConvXdMixin(LazyModuleMixin):
    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        n = len(self.kernel_size)
        self.in_channels = input.shape[-n - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError('in_channels must be divisible by groups')
        pair = ((self.in_channels, self.out_channels) if self.transposed else
                (self.out_channels, self.in_channels))
        self.weight.materialize((pair[0], pair[1] // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


def _lazy(base):
    class Lazy(_LazyConvXdMixin, base):
        cls_to_become = base

        def __init__(self, out_channels, kernel_size, *args, bias=True, dtype=None, **kwargs):
            super().__init__(0, 0, kernel_size, *args, bias=False, dtype=dtype, **kwargs)
            self.weight = UninitializedParameter(dtype=dtype)
            self.out_channels = out_channels
            if bias:
                self.bias = UninitializedParameter(dtype=dtype)

    return _named(Lazy, 'Lazy' + base.__name__)


LazyConv1d, LazyConv2d, LazyConv3d = map(_lazy, (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = map(
    _lazy, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
