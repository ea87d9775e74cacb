"""torch.nn.init: fills tensors. A tensor whose values nobody has read keeps only the recipe."""
import math
import warnings

import torch

_GAINS = {'linear': 1, 'conv1d': 1, 'conv2d': 1, 'conv3d': 1, 'conv_transpose1d': 1,
          'conv_transpose2d': 1, 'conv_transpose3d': 1, 'sigmoid': 1, 'tanh': 5.0 / 3,
          'relu': math.sqrt(2.0), 'selu': 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == 'leaky_relu':
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f'negative_slope {param} not a valid number')
        return math.sqrt(2.0 / (1 + slope ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f'Unsupported nonlinearity {nonlinearity}')
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor):
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError('Fan in and fan out can not be computed for tensor with fewer than '
                         '2 dimensions')
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ('fan_in', 'fan_out'):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == 'fan_out']


def uniform_(tensor, a=0., b=1.):
    with torch.no_grad():
        return tensor.uniform_(a, b)


def normal_(tensor, mean=0., std=1.):
    with torch.no_grad():
        return tensor.normal_(mean, std)


def trunc_normal_(tensor, mean=0., std=1., a=-2., b=2.):
    with torch.no_grad():
        return tensor.trunc_normal_(mean, std, a, b)


_no_grad_trunc_normal_ = trunc_normal_
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_


def constant_(tensor, val):
    with torch.no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.)


def zeros_(tensor):
    with torch.no_grad():
        return tensor.zero_()


def eye_(tensor):
    if tensor.ndimension() != 2:
        raise ValueError('Only tensors with 2 dimensions are supported')
    with torch.no_grad():
        return tensor.copy_(torch.eye(*tensor.shape))


def dirac_(tensor, groups=1):
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError('Only tensors with 3, 4, or 5 dimensions are supported')
    if tensor.shape[0] % groups != 0:
        raise ValueError('dim 0 must be divisible by groups')
    per_group = tensor.shape[0] // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    with torch.no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, tensor.shape[1])):
                tensor[(g * per_group + d, d, *centre)] = 1
    return tensor


def xavier_uniform_(tensor, gain=1.):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0., gain * math.sqrt(2.0 / float(fan_in + fan_out)))


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'):
    if 0 in tensor.shape:
        warnings.warn('Initializing zero-element tensors is a no-op')
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'):
    if 0 in tensor.shape:
        warnings.warn('Initializing zero-element tensors is a no-op')
        return tensor
    return normal_(tensor, 0., _kaiming_std(tensor, a, mode, nonlinearity))


def orthogonal_(tensor, gain=1):
    if tensor.ndimension() < 2:
        raise ValueError('Only tensors with 2 or more dimensions are supported')
    rows = tensor.size(0)
    cols = tensor.numel() // rows if rows else 0
    if not cols:
        return tensor
    with torch.no_grad():
        q, r = torch.linalg.qr(torch.randn(max(rows, cols), min(rows, cols)))
        q *= torch.diag(r, 0).sign()  # else the distribution would not be uniform
        return tensor.copy_((q if rows >= cols else q.t()).reshape(tensor.shape) * gain)


def sparse_(tensor, sparsity, std=0.01):
    if tensor.ndimension() != 2:
        raise ValueError('Only tensors with 2 dimensions are supported')
    rows, cols = tensor.shape
    zeros = int(math.ceil(sparsity * rows))
    with torch.no_grad():
        tensor.normal_(0, std)
        for col in range(cols):
            for row in torch.randperm(rows)[:zeros].tolist():
                tensor[row, col] = 0
    return tensor


def _old_name(function):
    def call(*args, **kwargs):
        warnings.warn(f'nn.init.{call.__name__} is now deprecated in favor of '
                      f'nn.init.{function.__name__}.', stacklevel=2)
        return function(*args, **kwargs)
    call.__name__ = function.__name__[:-1]
    return call


for _function in (uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_,
                  kaiming_uniform_, kaiming_normal_, orthogonal_, sparse_):
    globals()[_function.__name__[:-1]] = _old_name(_function)
