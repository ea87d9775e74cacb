"""numpy.random"""
import torch


def seed(value=None):
    torch.manual_seed(value or 0)


def _size(size):
    return () if size is None else (size,) if isinstance(size, int) else tuple(size)


def _result(tensor):
    return tensor.item() if tensor.dim() == 0 else tensor


def rand(*shape):
    return _result(torch.rand(shape, dtype=torch.float64))


def randn(*shape):
    return _result(torch.randn(shape, dtype=torch.float64))


def random(size=None):
    return rand(*_size(size))


def uniform(low=0.0, high=1.0, size=None):
    return _result(torch.rand(_size(size), dtype=torch.float64) * (high - low) + low)


def normal(loc=0.0, scale=1.0, size=None):
    return _result(torch.randn(_size(size), dtype=torch.float64) * scale + loc)


def randint(low, high=None, size=None):
    low, high = (0, low) if high is None else (low, high)
    return _result(torch.randint(low, high, _size(size)))


def permutation(x):
    return torch.randperm(x) if isinstance(x, int) else x[torch.randperm(len(x))]


def choice(a, size=None, replace=True, p=None):
    a = torch.arange(a) if isinstance(a, int) else torch.as_tensor(a)
    return _result(a[torch.randint(0, len(a), _size(size))])
