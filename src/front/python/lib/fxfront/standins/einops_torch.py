"""einops.layers.torch: the operations as layers."""
import torch

from .einops import rearrange, reduce


class Rearrange(torch.nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern, self.axes_lengths = pattern, axes_lengths

    def forward(self, input):
        return rearrange(input, self.pattern, **self.axes_lengths)

    def extra_repr(self):
        return ', '.join([repr(self.pattern)] + [f'{k}={v}' for k, v in self.axes_lengths.items()])


class Reduce(torch.nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern, self.reduction, self.axes_lengths = pattern, reduction, axes_lengths

    def forward(self, input):
        return reduce(input, self.pattern, self.reduction, **self.axes_lengths)

    def extra_repr(self):
        return ', '.join([repr(self.pattern), repr(self.reduction)] +
                         [f'{k}={v}' for k, v in self.axes_lengths.items()])


for _layer in (Rearrange, Reduce):
    _layer.__module__ = 'einops.layers.torch'
