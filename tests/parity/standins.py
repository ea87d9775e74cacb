"""standins.py: the layers that PyTorch 1.13 lacks, or has for graphics cards alone, or that are torchvision's: each as its
own documentation defines it. layer(name) is the one place where a layer's class is looked up."""
import torch
from torch import nn
from torchvision.models.convnext import LayerNorm2d
from torchvision import ops


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


def pad_layer(name, mode):
    """A padding layer that came later: the function by the mode."""
    def __init__(self, padding):
        nn.Module.__init__(self)
        self.padding = padding

    def forward(self, x):
        return nn.functional.pad(x, self.padding, mode)
    return type(name, (nn.Module,), {'__init__': __init__, 'forward': forward})


def rms_norm(x, normalized_shape, weight=None, eps=None):
    layer = RMSNorm(normalized_shape, eps, False)
    if weight is not None and not isinstance(weight, torch.Tensor):
        raise TypeError('weight must be Tensor')
    return layer(x) if weight is None else layer(x) * weight


def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True):
    return DropPath(drop_prob, scale_by_keep).train(training)(x)


def check(cond, message=None):
    if not isinstance(cond, bool) or not cond:
        raise RuntimeError(message)


def unravel_index(indices, shape):
    shape, out = [shape] if isinstance(shape, int) else list(shape), []
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype is torch.bool:
        raise ValueError('expected integers')
    if any(s < 0 for s in shape) or any(isinstance(s, bool) for s in shape[:1]):
        raise ValueError('negative sizes')
    rest = indices.long().clone(memory_format=torch.contiguous_format)
    for s in reversed(shape):
        out.insert(0, rest % s if s else rest)
        rest = rest.div(s, rounding_mode='floor') if s else rest
    return tuple(out)


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """The formula that its documentation gives."""
    if len({query.dtype, key.dtype, value.dtype}) > 1 or not query.dtype.is_floating_point:
        raise RuntimeError('expected floats of one type')
    if attn_mask is not None and (is_causal or attn_mask.dtype not in (torch.bool, query.dtype)):
        raise RuntimeError('a mask that does not fit')
    if enable_gqa:
        if query.size(-3) % key.size(-3) or query.size(-3) % value.size(-3):
            raise RuntimeError('the heads do not fit')
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    weight = query @ key.transpose(-2, -1) * (max(query.size(-1), 1) ** -0.5 if scale is None else scale)
    if is_causal:
        weight = weight.masked_fill(torch.ones(weight.shape[-2:], dtype=torch.bool).tril().logical_not(), float('-inf'))
    if attn_mask is not None:  # added in place: it makes no scores larger
        away = torch.zeros(attn_mask.shape, dtype=weight.dtype).masked_fill(attn_mask.logical_not(), float('-inf')) if attn_mask.dtype is torch.bool else attn_mask
        weight = weight.clone().add_(away)
    return torch.softmax(weight, -1) @ value


FUNCTIONS = {'torch.unravel_index': unravel_index, 'torch._check': check, 'torch.rms_norm': rms_norm,
             'torch.nn.functional.rms_norm': rms_norm, 'timm.layers.drop.drop_path': drop_path,
             'torch.nn.functional.scaled_dot_product_attention': attention,
             'torch.sym_int': int, 'torch.sym_float': float, 'torch.sym_not': lambda a: not a,
             'torch.sym_max': lambda a, b: max(float(a), float(b)) if isinstance(a, float) or isinstance(b, float) else max(a, b),
             'torch.sym_min': lambda a, b: min(float(a), float(b)) if isinstance(a, float) or isinstance(b, float) else min(a, b),
             'torch.sym_ite': lambda b, t, f: t if b else f}

HERE = {**{f'CircularPad{n}d': pad_layer(f'CircularPad{n}d', 'circular') for n in (1, 2, 3)},
        **{f'ZeroPad{n}d': pad_layer(f'ZeroPad{n}d', 'constant') for n in (1, 3)},
        'RMSNorm': RMSNorm, 'DropPath': DropPath, 'SyncBatchNorm': SyncBatchNorm, 'LayerNorm2d': LayerNorm2d,
        **{name: getattr(ops, name) for name in ('StochasticDepth', 'DeformConv2d', 'RoIAlign', 'RoIPool', 'PSRoIAlign', 'PSRoIPool',
                                               'FrozenBatchNorm2d', 'DropBlock2d', 'DropBlock3d')}, 'NonDynamicallyQuantizableLinear': nn.modules.linear.NonDynamicallyQuantizableLinear}


def layer(name):
    return HERE.get(name) or getattr(nn, name)
