"""numpy's arrays and scalars, where numpy is installed."""
import sys

import torch
from tap import Skip, main, raises


def numpy():
    try:
        import numpy as np
    except ImportError:
        np = None
    if not hasattr(np, 'ufunc'):  # there is a stand-in
        raise Skip('numpy is not installed')
    return np


def test_arrays_and_scalars():
    np = numpy()
    a, n = torch.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3)
    assert torch.from_numpy(n).dtype == torch.int64 and torch.tensor(n.T).shape == (3, 2)
    assert (a.numpy() == n).all() and np.asarray(a).dtype == np.float32
    assert isinstance(np.float64(2) * a, torch.Tensor) and (a * np.float32(2))[1, 2] == 10
    assert torch.zeros(np.int64(2), 3).shape == a.reshape(np.prod(a.shape) // 3, 3).shape
    assert a[np.array([1, 0])][0, 0] == 3 and a[np.int64(1), 0] == 3
    assert torch.tensor([np.float64(1), 2]).dtype == torch.float64
    assert isinstance(np.sqrt(torch.tensor([4.0])), torch.Tensor)
    assert torch.full((2,), np.float32(3)).tolist() == [3, 3]
    raises(TypeError, torch.tensor, np.array(['a']), text="can't convert np.ndarray")
    raises(RuntimeError, torch.ones(2, requires_grad=True).numpy, text='requires grad')


if __name__ == '__main__':
    sys.exit(main(globals()))
