"""Indexing, gathering, scattering, finding."""
from source import prod, tup

from . import case


def one_index(g, n):
    kind = g.r.random()
    if kind < 0.3:
        return g.int(-n, n - 1)
    if kind < 0.75:
        a, b = g.pick(None, g.int(-n, n)), g.pick(None, g.int(-n - 1, n + 1))
        return {'slice': [a, b, g.pick(None, None, 1, 2)]}
    if kind < 0.9:
        return g.indices(g.full(1, 2) if g.chance(0.7) else [], n, negative=True)
    return [g.int(0, n - 1) for _ in range(g.int(1, 3))]


def index_for(g, sizes):
    out = [one_index(g, n) for n in sizes[:g.int(0, len(sizes))]]
    if g.chance(0.25):
        out.insert(g.int(0, len(out)), None)
    if g.chance(0.2):
        out = out[:1] + [{'ellipsis': 1}]
    elif g.chance(0.1):
        out = [{'ellipsis': 1}] + out[-1:]
    if g.chance(0.1):
        return g.tensor(sizes[:g.int(1, len(sizes))], 'bool', plain=True)
    if len(out) == 1 and g.chance(0.6):
        return out[0]
    return tup(*out)


@case('getitem')
def getitem(g):
    sizes = g.full(1, 4)
    return [g.tensor(sizes, g.any()), index_for(g, sizes)], {}


@case('setitem')
def setitem(g):
    sizes = g.full(1, 3)
    t = g.tensor(sizes, g.any(), plain=True, grad=False)
    value = g.scalar() if g.chance(0.7) else g.tensor(g.pick([], [1], [sizes[-1]]), t['t']['dtype'], grad=False)
    return [t, index_for(g, sizes), value], {}


def gather_index(g, sizes, d, bound):
    other = [g.int(0, s) if g.chance(0.3) else s for s in sizes]
    if other:
        other[d] = g.size()
    return g.indices(other, bound)


def along(g, low=0):
    sizes = g.full(low, 3)
    d = g.dim(sizes)
    return sizes, d, sizes[d] if sizes else 1


@case('gather')
def gather(g):
    sizes, d, n = along(g)
    return [g.tensor(sizes, g.any()), d, gather_index(g, sizes, d, n)], {}


@case('take_along_dim')
def take_along_dim(g):
    sizes, d, n = along(g, 1)
    return [g.tensor(sizes, g.any()), g.indices(sizes, n), d], {}


@case('scatter', 'scatter_add', 'scatter_reduce')
def scatter(g):
    sizes, d, n = along(g)
    kind = g.any()
    index = gather_index(g, sizes, d, n)
    if sizes:  # each place once, so that the order of writing does not matter
        index['t']['sizes'][d] = min(index['t']['sizes'][d], n)
        index = g.indices(index['t']['sizes'], n)
        index['t']['strides'] = [0] * len(sizes)
        index['t']['strides'][d] = 1
        index['t']['offset'] = 0
        index['t']['data'] = g.r.sample(range(n), n)
    t, src = g.tensor(sizes, kind, grad=False), g.tensor(sizes, kind if g.chance(0.9) else g.any(), grad=False)
    if 'scatter_reduce' in g.spelling:
        return [t, d, index, src, g.pick('sum', 'prod', 'mean', 'amax', 'amin')], g.some(include_self=g.chance(0.5))
    if g.spelling.rstrip('_').endswith('scatter') and g.chance(0.4):
        return [t, d, index, g.scalar()], {}
    if g.spelling.rstrip('_').endswith('scatter') and g.chance(0.3):
        return [t, d, index, src], {'reduce': g.pick('add', 'multiply')}
    return [t, d, index, src], {}


@case('index_select')
def index_select(g):
    sizes, d, n = along(g)
    return [g.tensor(sizes, g.any()), d, g.indices([g.size()] if g.chance(0.9) else [], n,
                                                   dtype=g.pick('int64', 'int32'))], {}


@case('index_add', 'index_copy')
def index_add(g):
    sizes, d, n = along(g, 1)
    kind = g.any()
    k = g.int(0, n)
    other = list(sizes)
    other[d] = k
    index = g.indices([k], n)
    index['t'].update(data=g.r.sample(range(n), k), strides=[1], offset=0)
    return [g.tensor(sizes, kind), d, index, g.tensor(other, kind)], (
        g.some(alpha=2) if 'add' in g.spelling else {})


@case('index_fill')
def index_fill(g):
    sizes, d, n = along(g)
    kind = g.any()
    return [g.tensor(sizes, kind), d, g.indices([g.size()], n), g.scalar() if g.chance(0.8) else g.tensor([], kind)], {}


@case('index_put')
def index_put(g):
    sizes = g.full(1, 3)
    kind = g.any()
    index = tup(*[g.indices([2], n, negative=True) for n in sizes[:g.int(1, len(sizes))]])
    return [g.tensor(sizes, kind, plain=True), index, g.tensor([], kind)], g.some(accumulate=g.chance(0.5))


@case('take')
def take(g):
    sizes = g.full(0, 3)
    return [g.tensor(sizes, g.any()), g.indices(g.shape(0, 2), prod(sizes), negative=True)], {}


@case('nonzero', 'argwhere')
def nonzero(g):
    t = g.tensor(g.shape(), g.any())
    return [t], g.some(as_tuple=g.chance(0.7)) if 'nonzero' in g.spelling else {}


@case('where_nonzero')
def where_nonzero(g):
    return [g.tensor(g.shape(), g.any())], {}


@case('masked_select')
def masked_select(g):
    sizes = g.shape()
    return [g.tensor(g.broadcast_of(sizes), g.any()), g.tensor(g.broadcast_of(sizes), 'bool')], {}


@case('masked_scatter')
def masked_scatter(g):
    sizes, kind = g.shape(), g.any()
    # In place PyTorch goes through a permuted tensor in the order of its memory.
    return [g.tensor(sizes, kind, plain=True), g.tensor(g.broadcast_of(sizes), 'bool'), g.tensor([130], kind, plain=True)], {}


@case('unique', 'unique_consecutive')
def unique(g):
    t = g.tensor(g.full(0, 3), g.numbers(), 0, 3, grad=False)
    kwargs = {**g.some(return_inverse=True), **g.some(return_counts=True)}
    if t['t']['sizes'] and g.chance(0.3):
        kwargs['dim'] = g.dim(t['t']['sizes'])
    return [t], kwargs


@case('embedding')
def embedding(g):
    n = g.int(2, 6)
    return [g.indices(g.shape(0, 3), n, dtype=g.pick('int64', 'int64', 'int32')),
            g.tensor([n, g.int(1, 4)], g.floats())], g.some(padding_idx=g.int(-1, 1))


@case('one_hot')
def one_hot(g):
    return [g.indices(g.full(0, 2), 4)] + ([g.pick(4, 6, -1, 2)] if g.chance(0.7) else []), {}


@case('isin')
def isin(g):
    return [g.tensor(g.full(0, 3), 'int64', 0, 5), g.tensor([3], 'int64', 0, 5)], g.some(invert=True)
