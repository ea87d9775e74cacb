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


def test_memory_is_shared():
    np = numpy()
    n = np.zeros((3, 4), np.float32)
    t = torch.from_numpy(n)
    t += 1
    assert n.sum() == 12
    n[0] = 5
    assert t[0].tolist() == [5] * 4
    turned = torch.as_tensor(n.T)
    turned[1, 2] = 9
    assert n[2, 1] == 9 and turned.stride() == (1, 4)
    copy = torch.tensor(n)
    copy.zero_()
    assert n[2, 1] == 9
    del n
    assert t.sum() == 36  # the tensor keeps the array's memory
    rows = np.arange(6.0).reshape(3, 2)
    every = torch.from_numpy(rows[::2])
    every.mul_(-1)
    assert rows.tolist() == [[0, -1], [2, 3], [-4, -5]]
    # results never take the memory of what they are computed from
    x = np.ones(4)
    torch.relu(torch.from_numpy(x) * 1).add_(1)
    (torch.from_numpy(x) + 1).mul_(2)
    assert x.tolist() == [1] * 4
    scalar = np.array(5)
    torch.from_numpy(scalar).add_(1)
    assert scalar == 6
    fixed = np.arange(3)
    fixed.flags.writeable = False
    torch.from_numpy(fixed).add_(1)
    assert fixed.tolist() == [0, 1, 2]  # PyTorch would write to it, and warn
    backwards = torch.from_numpy(np.arange(3)[::-1].copy())
    assert backwards.tolist() == [2, 1, 0]
    back = torch.ones(3).numpy()
    torch.from_numpy(back).add_(1)
    assert back.tolist() == [2] * 3
    assert torch.from_numpy(np.zeros((0, 3))).shape == (0, 3)


if __name__ == '__main__':
    sys.exit(main(globals()))
