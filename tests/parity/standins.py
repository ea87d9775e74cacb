"""standins.py: the layers that PyTorch 1.13 lacks, or has for graphics cards alone, or that are torchvision's: each as its
own documentation defines it. layer(name) is the one place where a layer's class is looked up."""
import torch
from torch import nn
from torchvision.models.convnext import LayerNorm2d
from torchvision.ops import StochasticDepth


class RMSNorm(nn.Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True):
        super().__init__()
        self.shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(self.shape)) if elementwise_affine else None

    def forward(self, x):
        if x.shape[len(x.shape) - len(self.shape):] != self.shape:
            raise RuntimeError('normalized_shape does not fit the input')
        eps = torch.finfo(x.dtype).eps if self.eps is None else self.eps
        y = x * torch.rsqrt((x * x).mean([-1 - i for i in range(len(self.shape))], keepdim=True) + eps)
        return y if self.weight is None else y * self.weight


class DropPath(nn.Module):
    """timm's: leaves out whole examples."""

    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        super().__init__()
        self.p, self.scale = drop_prob, scale_by_keep

    def forward(self, x):
        if self.p == 0 or not self.training:
            return x
        kept = x.new_empty((x.shape[0],) + (1,) * (x.dim() - 1)).bernoulli_(1 - self.p)
        return x * (kept.div_(1 - self.p) if self.scale and self.p < 1 else kept)


class SyncBatchNorm(nn.modules.batchnorm._BatchNorm):
    """Of one process: a batch norm for any number of dimensions."""

    def _check_input_dim(self, x):
        if x.dim() < 2:
            raise ValueError(f'expected at least 2D input (got {x.dim()}D input)')


HERE = {'RMSNorm': RMSNorm, 'DropPath': DropPath, 'SyncBatchNorm': SyncBatchNorm, 'LayerNorm2d': LayerNorm2d,
        'StochasticDepth': StochasticDepth, 'NonDynamicallyQuantizableLinear': nn.modules.linear.NonDynamicallyQuantizableLinear}


def layer(name):
    return HERE.get(name) or getattr(nn, name)
