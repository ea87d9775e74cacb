"""Tensors that nobody has read: filling, sharing, copying and scaling them takes no memory, and gives
the values that reading at once gives."""
import copy
import sys

import torch
from tap import main, raises


def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * 4096


def grown(make):
    """Bytes of memory that stay in use while what make() gives is alive."""
    before = resident()
    kept = make()
    return resident() - before, kept


def test_a_network_of_632_million_parameters_costs_its_shapes():
    def build():
        tensors = []
        for _ in range(32):
            for shape in ((3840, 1280), (1280, 1280), (5120, 1280), (1280, 5120)):
                w = torch.empty(*shape)
                w.data.normal_(0, 0.02)
                tensors.append(torch.Tensor._make_subclass(torch.Tensor, w, True))
        return tensors
    size, kept = grown(build)
    assert sum(t.numel() for t in kept) > 620_000_000
    assert size < 8_000_000, size


def test_an_alias_sees_what_the_other_is_filled_with():
    w = torch.empty(3, 4)
    d = w.data
    d.fill_(2)
    assert torch.equal(w, torch.full((3, 4), 2.0))
    v = torch.zeros(2, 2)
    u = v.detach()
    assert float(v.sum()) == 0
    u.add_(1)
    assert float(v.sum()) == 4


def test_a_view_fills_its_part():
    w = torch.ones(4, 3)
    w[0].zero_()
    w[:, 1].fill_(5)
    w.t()[2, 1:3].fill_(-1)
    assert w.tolist() == [[0, 5, 0], [1, 5, -1], [1, 5, -1], [1, 5, 1]]


def test_a_row_of_a_large_embedding_is_zeroed_without_reading_it():
    size, w = grown(lambda: torch.randn(200000, 768))
    more, _ = grown(lambda: w[1].fill_(0))
    assert size + more < 4_000_000
    small = torch.randn(20, 8)
    small[1].fill_(0)
    assert float(small[1].abs().sum()) == 0 and float(small[0].abs().sum()) > 0


def test_values_do_not_depend_on_when_they_are_read():
    torch.manual_seed(7)
    a, b = torch.randn(5), torch.rand(5)
    late = b.tolist(), a.tolist()
    torch.manual_seed(7)
    a = torch.randn(5)
    early = a.tolist()
    b = torch.rand(5)
    assert (b.tolist(), early) == late
    torch.manual_seed(8)
    assert torch.randn(5).tolist() != early


def test_random_values_lie_where_they_should():
    u = torch.empty(10000).uniform_(-3, 5)
    n = torch.empty(10000).normal_(2, 3)
    assert -3 <= float(u.min()) < -2.9 and 4.9 < float(u.max()) <= 5
    assert abs(float(n.mean()) - 2) < 0.1 and abs(float(n.std()) - 3) < 0.1
    t = torch.empty(10000).trunc_normal_(0, 1, -1, 1.5)
    assert -1 <= float(t.min()) and float(t.max()) <= 1.5
    read = torch.zeros(1000)
    read.tolist()
    t = read.trunc_normal_(0, 1, -1, 1.5)
    assert t is read and -1 <= float(t.min()) < 0 < float(t.max()) <= 1.5


def test_scaling_keeps_it_unread():
    size, w = grown(lambda: torch.empty(10000, 1000).uniform_(0, 1).mul_(2).sub_(1).div_(4))
    assert size < 1_000_000
    small = torch.empty(10000).uniform_(0, 1).mul_(2).sub_(1).div_(4)
    assert -0.25 <= float(small.min()) < -0.24 and 0.24 < float(small.max()) <= 0.25
    assert torch.ones(3).mul_(-2).add_(1).tolist() == [-1, -1, -1]


def test_clones_and_copies_have_the_same_values_and_memory_of_their_own():
    w = torch.randn(4, 4)
    c, d = w.clone(), copy.deepcopy(w)
    w.fill_(0)
    assert torch.equal(c, d) and float(c.abs().sum()) > 0
    c.zero_()
    assert float(d.abs().sum()) > 0


def test_shapes_are_told_without_reading():
    def look():
        w = torch.empty(100000, 1000)
        assert w.shape == (100000, 1000) and w.dim() == 2 and w.numel() == 10**8
        assert w.view(1000, 100000).stride() == (100000, 1)
        assert w.t().size(0) == 1000 and w[5].shape == (1000,)
        assert [p.shape[0] for p in w.chunk(2)] == [50000, 50000]
        assert w.is_floating_point() and w.is_contiguous() and w.element_size() == 4
        return w
    size, _ = grown(look)
    assert size < 1_000_000


def test_assigning_data_shares_it():
    a, b = torch.zeros(3), torch.ones(5, 5)
    a.data = b
    assert a.shape == (5, 5)
    b.fill_(3)
    assert float(a.sum()) == 75


def test_there_is_no_such_memory():
    w = torch.empty(1 << 40)
    raises(RuntimeError, w.sum, text='out of memory')
    assert w.shape == (1 << 40,)


def test_the_meta_device_has_no_values():
    m = torch.ones(3, 4, device='meta')
    assert m.is_meta and str(m.device) == 'meta'
    r = m @ torch.ones(4, 2, device='meta')
    assert r.is_meta and r.shape == (3, 2)
    raises(NotImplementedError, m.tolist, text='no data')
    assert m.uniform_() is m


if __name__ == '__main__':
    sys.exit(main(globals()))
