"""Tensors as Python objects: identity, attributes, classes of users, buffers, gradients' flags."""
import array
import copy
import gc
import pickle
import sys

import torch
from tap import main, raises


def test_in_place_calls_give_the_object_itself():
    a = torch.ones(2, 3)
    assert a.add_(1) is a and a.zero_() is a and a.contiguous() is a and a.relu_() is a
    b = a
    b += 1
    assert b is a
    assert a.squeeze_() is a and a.unsqueeze_(0) is a and a.shape == (1, 2, 3)


def test_attributes_can_be_set():
    t = torch.zeros(2)
    t.label = 'x'
    assert t.label == 'x' and copy.copy(t).label == 'x' and copy.deepcopy(t).label == 'x'
    torch.Tensor.twice = lambda self: self * 2
    assert torch.ones(1).twice().item() == 2
    del torch.Tensor.twice
    raises(AttributeError, getattr, t, 'twice')


def test_classes_of_users():
    class Mine(torch.Tensor):
        pass
    t = torch.ones(2).as_subclass(Mine)
    assert type(t) is Mine and isinstance(t, torch.Tensor)
    assert type(copy.deepcopy(t)) is Mine
    p = torch.Tensor._make_subclass(Mine, torch.ones(3), True)
    assert p.requires_grad and type(p) is Mine and p.is_leaf
    assert Mine([1.0, 2.0]).tolist() == [1, 2]


def test_deepcopy_keeps_what_is_shared():
    t = torch.ones(2)
    a, b = copy.deepcopy([t, t])
    assert a is b and a is not t
    raises(RuntimeError, copy.deepcopy, torch.ones(2, requires_grad=True) * 2, text='graph leaves')


def test_pickling_keeps_values():
    for t in (torch.arange(6.0).reshape(2, 3), torch.ones(0, 3), torch.tensor(True),
              torch.ones(2, requires_grad=True)):
        back = pickle.loads(pickle.dumps(t))
        assert back.equal(t) and back.shape == t.shape and back.dtype == t.dtype
        assert back.requires_grad == t.requires_grad


def test_buffers():
    t = torch.arange(6.0).reshape(2, 3)
    view = memoryview(t)
    assert view.shape == (2, 3) and view.format == 'f' and view.tolist() == t.tolist()
    view[0, 0] = 7
    assert t[0, 0] == 7
    assert memoryview(t.t()).strides == (4, 12)
    raises(BufferError, memoryview, t.bfloat16())
    assert torch.tensor(array.array('d', [1, 2])).dtype == torch.float64
    assert torch.from_numpy(array.array('i', [1, 2])).tolist() == [1, 2]
    assert torch.tensor(memoryview(t)).tolist() == t.tolist()


def test_gradients_are_flags():
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    assert y.requires_grad and not y.is_leaf and w.is_leaf
    assert not y.detach().requires_grad and not w.data.requires_grad
    before = __import__('_fxscope').set_grad_enabled(False)
    assert not (w * 2).requires_grad and w.requires_grad
    b = torch.zeros(2)
    assert b.copy_(w) is b and not b.requires_grad
    __import__('_fxscope').set_grad_enabled(before)
    assert w.requires_grad_(False) is w and not w.requires_grad
    raises(RuntimeError, torch.ones(2, dtype=torch.int64).requires_grad_, text='floating')
    raises(NotImplementedError, y.backward, text='gradients')
    w.grad = torch.ones(2)
    assert w.grad.tolist() == [1, 1]
    w.grad = None
    assert w.grad is None


def test_isinstance_and_types():
    assert isinstance(torch.ones(1), torch.Tensor) and not isinstance(3, torch.Tensor)
    assert torch.Tensor.__module__ == 'torch' and torch.Tensor.__qualname__ == 'Tensor'
    assert torch.relu.__name__ == 'relu' and torch.Tensor.add.__name__ == 'add'
    assert torch.nn.functional.linear is torch._C._nn.linear
    assert torch.nn.functional.linear.__module__ == 'torch._C._nn'
    assert torch.split is torch.functional.split and torch.split.__module__ == 'torch.functional'
    assert copy.deepcopy(torch.relu) is torch.relu


def test_functions_bind_no_self():
    class Layer:
        act = torch.relu
    assert Layer().act(torch.tensor(-1.0)) == 0


def test_out_and_generators():
    o = torch.empty(3)
    assert torch.add(torch.ones(3), 1, out=o) is o and o.tolist() == [2, 2, 2]
    g = torch.Generator().manual_seed(3)
    a = torch.randn(4, generator=g)
    b = torch.randn(4, generator=torch.Generator().manual_seed(3))
    assert torch.equal(a, b)
    state = g.get_state()
    c = torch.rand(2, generator=g)
    g.set_state(state)
    assert torch.equal(c, torch.rand(2, generator=g))
    torch.manual_seed(5)
    p = torch.randperm(100)
    assert sorted(p.tolist()) == list(range(100)) and p.tolist() != list(range(100))


def test_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.zeros(2).dtype == torch.rand(2).dtype == torch.tensor(1.5).dtype \
            == torch.full((2,), 1.5).dtype == torch.float64
        assert torch.full((2,), 1).dtype == torch.int64
        assert repr(torch.ones(1, dtype=torch.float32)) == 'tensor([1.], dtype=torch.float32)'
    finally:
        torch.set_default_dtype(torch.float32)
    raises(TypeError, torch.set_default_dtype, torch.int8, text='floating-point')


def test_named_results_have_all_their_fields():
    a = torch.tensor([[2., 0.], [0., 4.], [0., 0.]])
    got = torch.linalg.lstsq(a, torch.tensor([[2.], [8.], [0.]]))
    assert got.solution.flatten().tolist() == [1, 2] and len(got) == 4
    assert type(got).__name__ == 'linalg_lstsq' and got.rank.item() == 2
    p, lower, upper = torch.linalg.lu(a[:2])
    assert (p @ lower @ upper).equal(a[:2])
    assert torch.linalg.eigh(a[:2]).eigenvalues.tolist() == [2, 4]


def test_complex_tensors_take_items():
    c = torch.zeros(2, 3, dtype=torch.complex64)
    c[:, 1] = torch.tensor([1 + 2j, 3j])
    c[0, 0], c[1] = 5, torch.tensor([1., 2., 3.])
    c[0][torch.tensor([2])] = 1j
    assert c.tolist() == [[5, 1 + 2j, 1j], [1, 2, 3]]
    c[c.real > 2] = 0
    assert c.tolist() == [[0, 1 + 2j, 1j], [1, 2, 0]]
    c[:, :2] = c[:, 1:].clone() * 1j
    assert c[0, 0] == -2 + 1j

    x = torch.ones(2)
    x[0] = torch.tensor(3 + 1j)  # the real part, as PyTorch takes it of a tensor, but of no number
    assert x.tolist() == [3, 1]

    def number():
        torch.zeros(2)[0] = 1j
    raises(RuntimeError, number, text="can't be converted")

    def places():
        torch.zeros(2)[torch.tensor([0])] = torch.tensor(1j)
    raises(TypeError, places, text='float32')


def test_packed_sequences_run_at_their_own_length():
    from torch.nn.utils.rnn import (pack_padded_sequence, pack_sequence, pad_packed_sequence,
                                    PackedSequence)
    for layer in (torch.nn.LSTM(3, 4, 2, bidirectional=True), torch.nn.GRU(3, 4),
                  torch.nn.RNN(3, 4, bidirectional=True)):
        x, lengths = torch.randn(5, 3, 3), [2, 5, 1]
        packed = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=False)
        y, state = layer(packed)
        assert isinstance(y, PackedSequence)
        out, n = pad_packed_sequence(y)
        assert n.tolist() == lengths and out.shape[:2] == (5, 3)
        h = state[0] if isinstance(state, tuple) else state
        for i, length in enumerate(lengths):
            alone, last = layer(x[:length, i:i + 1])
            last = last[0] if isinstance(last, tuple) else last
            assert torch.allclose(out[:length, i], alone[:, 0], atol=1e-6)
            assert torch.allclose(h[:, i], last[:, 0], atol=1e-6) and not out[length:, i].any()
    y, _ = layer(pack_sequence([torch.randn(3, 3), torch.randn(2, 3)]))
    assert y.data.shape == (5, 8)


def test_weights_by_parametrizations():
    from torch.nn.utils import parametrizations, parametrize

    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).t()
    layer = torch.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, 'weight', Symmetric())
    assert layer.weight.equal(layer.weight.t()) and type(layer).__name__ == 'ParametrizedLinear'
    assert isinstance(layer, torch.nn.Linear) and parametrize.is_parametrized(layer, 'weight')
    assert list(layer.state_dict()) == ['bias', 'parametrizations.weight.original']
    x = torch.randn(2, 3)
    assert layer(x).allclose(x @ layer.weight.t() + layer.bias)
    weight = layer.weight
    parametrize.remove_parametrizations(layer, 'weight')
    assert type(layer) is torch.nn.Linear and layer.weight.equal(weight)
    raises(ValueError, parametrize.register_parametrization, layer, 'none', Symmetric(),
           text='does not have a parameter')
    normed = parametrizations.spectral_norm(torch.nn.Linear(4, 4))
    for _ in range(100):
        normed.weight
    assert abs(torch.linalg.svd(normed.eval().weight).S.max() - 1) < 1e-3


def test_references_are_counted_right():
    def work():
        a = torch.randn(4, 4)
        b = [x + 1 for x in a]
        c = torch.stack(b)[1:, ::2]
        c[c > 0] = 1
        copy.deepcopy(c)
        repr(c), c.max(0), c.tolist(), torch.tensor([[1, 2], [3, 4]])
        for bad in (lambda: a + torch.ones(3), lambda: a[9], lambda: a.view(3),
                    lambda: torch.tensor([[1], [2, 3]]), lambda: torch.relu(1)):
            try:
                bad()
            except Exception:
                pass

    def counts():
        gc.collect()
        watched = (True, Ellipsis, torch.float32, torch.Tensor, torch.relu)
        # Python's own caches give up their references to None one by one.
        return sum(map(sys.getrefcount, watched)), len(gc.get_objects()), \
            sys.getrefcount(None) // 300
    for _ in range(20):
        work()
    before = counts()
    for _ in range(600):
        work()
    after = counts()
    assert abs(after[0] - before[0]) <= 20 and after[1] - before[1] <= 20, (before, after)
    assert abs(before[2] - after[2]) <= 1, (before, after)


def test_memory_is_stable_over_a_thousand_programs():
    def program():
        x = torch.randn(1, 3, 8, 8)
        w = torch.randn(4, 3, 3, 3)
        y = torch.relu(torch.nn.functional.conv2d(x, w, padding=1))
        return torch.nn.functional.max_pool2d(y, 2).flatten(1).softmax(1).sum().item()

    def resident():
        with open('/proc/self/statm') as f:
            return int(f.read().split()[1]) * 4096
    for _ in range(200):
        program()
    before = resident()
    for _ in range(1000):
        program()
    assert resident() - before < 4_000_000, resident() - before


if __name__ == '__main__':
    sys.exit(main(globals()))
