"""Reductions, order, scans, softmax."""
from source import dtype

from . import case, layer


def dims_of(g, sizes, many=True):
    """A dim argument: one, several, or none."""
    if many and g.chance(0.4):
        return g.dims(sizes)
    return g.dim(sizes)


def keep(g):
    return g.some(keepdim=g.chance(0.6))


@case('sum', 'mean', 'nansum', 'nanmean', loose=1e-4)
def sums(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any() if 'mean' not in g.spelling or g.chance(0.1) else g.floats())
    kwargs = {'dtype': dtype(g.pick('float64', 'float32', *(['int64'] if 'nan' not in g.spelling else [])))} if g.chance(0.15) else {}
    if g.chance(0.3):
        return [t], kwargs
    return [t, dims_of(g, sizes)] + ([True] if g.chance(0.3) else []), kwargs


@case('prod')
def product(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any())
    return ([t], {}) if g.chance(0.4) else ([t, g.dim(sizes)], keep(g))


@case('any', 'all', 'argmax', 'argmin')
def one_dim(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any(), distinct='arg' in g.spelling)
    return ([t], {}) if g.chance(0.4) else ([t, g.dim(sizes)], keep(g))


@case('count_nonzero')
def count_nonzero(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any())
    return ([t] if g.chance(0.4) else [t, dims_of(g, sizes)]), {}


@case('amax', 'amin', 'logsumexp')
def extremes(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.floats() if 'log' in g.spelling else g.any())
    return ([t], {}) if g.chance(0.2) and 'log' not in g.spelling else ([t, dims_of(g, sizes)], keep(g))


@case('aminmax')
def aminmax(g):
    sizes = g.shape(1)
    t = g.tensor(sizes, g.any())
    return [t], ({'dim': g.dim(sizes), **keep(g)} if g.chance(0.6) else {})


@case('max', 'min')
def maximum(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any(), distinct=True)
    kind = g.int(0, 2)
    if kind == 0:
        return [t], {}
    if kind == 1:
        return [t, g.dim(sizes)], keep(g)
    return [t, g.tensor(g.broadcast_of(sizes), t['t']['dtype'])], {}


@case('median')
def median(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any(), distinct=True)
    return ([t], {}) if g.chance(0.4) else ([t, g.dim(sizes)], keep(g))


@case('norm')
def norm(g):
    sizes = g.full(0, 3)
    t = g.tensor(sizes, g.pick('float32', 'float64'))
    p = g.pick(1, 2, 3, 0, 2.0, 'fro', {'float': 'inf'}, {'float': '-inf'}, 0.5)
    if g.chance(0.3):
        return [t] + ([p] if g.chance(0.6) else []), {}
    return [t], {'p': p, 'dim': dims_of(g, sizes), **keep(g)}


@case('linalg_norm', 'linalg_vector_norm')
def linalg_norm(g):
    sizes = g.full(1, 2 if 'vector' not in g.spelling else 3)
    t = g.tensor(sizes, g.pick('float32', 'float64'))
    p = g.pick(1, 2, 0, 2.0, {'float': 'inf'}, 3)
    return [t] + ([p] if g.chance(0.7) and (len(sizes) == 1 or 'vector' in g.spelling) else []), (
        {'dim': g.dim(sizes), **keep(g)} if g.chance(0.5) else {})


@case('var', 'std', 'var_mean', 'std_mean', loose=1e-4)
def deviation(g):
    sizes = g.full(1, 4)
    t = g.tensor(sizes, g.floats())
    kind = g.int(0, 3)
    if kind == 0:
        return [t] + ([g.chance(0.5)] if g.chance(0.5) else []), {}
    if kind == 1:
        return [t, dims_of(g, sizes)] + ([g.chance(0.5)] if g.chance(0.5) else []), {}
    if kind == 2:
        return [t, dims_of(g, sizes)], {'unbiased': g.chance(0.5), **keep(g)}
    return [t], {'dim': dims_of(g, sizes), 'correction': g.int(0, 2), **keep(g)}


@case('sort', 'argsort', 'msort')
def sort(g):
    t = g.tensor(g.shape(), g.any() if g.chance(0.9) else 'bool', distinct=True)
    if 'msort' in g.spelling:
        return [t], {}
    return [t] + ([g.dim(t['t']['sizes'])] if g.chance(0.7) else []), (
        {'descending': g.chance(0.5)} if g.chance(0.5) else {'dim': 0, 'stable': True} if False else {})


@case('topk')
def topk(g):
    t = g.tensor(g.shape(1), g.numbers(), distinct=True)
    d = g.dim(t['t']['sizes'])
    return [t, g.int(0, t['t']['sizes'][d] + g.chance(0.1)), d], g.some(largest=g.chance(0.5))


@case('kthvalue')
def kthvalue(g):
    t = g.tensor(g.shape(1), g.numbers(), distinct=True)
    d = g.dim(t['t']['sizes'])
    return [t, g.int(1, max(t['t']['sizes'][d], 1)), d], keep(g)


@case('cumsum', 'cumprod', loose=1e-4)
def scan(g):
    t = g.tensor(g.shape(), g.any())
    return [t, g.dim(t['t']['sizes'])], ({'dtype': dtype(g.pick('float64', 'int64'))} if g.chance(0.2) else {})


@case('logcumsumexp', 'cummax', 'cummin')
def scan_plain(g):
    t = g.tensor(g.shape(), g.floats() if 'log' in g.spelling else g.any(), distinct='log' not in g.spelling)
    return [t, g.dim(t['t']['sizes'])], {}


@case('diff')
def diff(g):
    t = g.tensor(g.shape(1), g.any())
    return [t], {**g.some(n=g.int(0, 2)), **g.some(dim=g.dim(t['t']['sizes']))}


@case('softmax', 'log_softmax', 'softmin')
def softmax(g):
    t = g.tensor(g.shape(), g.floats() if g.chance(0.95) else g.any())
    return [t, g.dim(t['t']['sizes'])], ({'dtype': dtype(g.pick('float64', 'float32'))} if g.chance(0.2) else {})


@layer('Softmax', 'LogSoftmax', 'Softmin')
def softmax_layer(g):
    t = g.tensor(g.shape(1))
    return {'dim': g.dim(t['t']['sizes'])}, [t]


@layer('Softmax2d')
def softmax2d_layer(g):
    return {}, [g.tensor(g.full(3, 4))]


@case('normalize')
def normalize(g):
    t = g.tensor(g.full(1, 4), g.pick('float32', 'float64'))
    return [t], {**g.some(p=g.pick(1.0, 2.0, 3.0)), 'dim': g.dim(t['t']['sizes'])}


@case('bincount')
def bincount(g):
    n = g.int(0, 6)
    weights = [g.tensor([n])] if g.chance(0.4) else []
    return [g.indices([n], 5)] + weights, g.some(minlength=g.int(0, 8)) if g.chance(0.4) else {}


@case('histc')
def histc(g):
    return [g.tensor(g.full(0, 3), 'float32', grad=False)], {'bins': g.int(1, 6), 'min': g.pick(0, -2), 'max': g.pick(0, 2, 3)}


@case('searchsorted', 'bucketize')
def searchsorted(g):
    n = g.int(1, 6)
    edges = g.tensor([n], 'float32', plain=True, grad=False)
    edges['t']['data'].sort()
    values = g.tensor(g.shape(0, 3), 'float32', grad=False) if g.chance(0.9) else g.real()
    args = [values, edges] if 'bucketize' in g.spelling else [edges, values]
    return args, g.some(right=g.chance(0.5), out_int32=g.chance(0.5))


@case('cov', 'corrcoef')
def cov(g):
    return [g.tensor([g.int(1, 3), g.int(2, 5)], 'float32')], {}


@case('segment_reduce', loose=1e-4)
def segment_reduce(g):
    outer, n = g.full(0, 1), g.int(0, 4)
    rows, size = 1, 0
    for s in outer:
        rows *= s
    parts = [g.int(0, 3) for _ in range(n)]
    size, lengths = sum(parts), []
    for _ in range(rows):
        g.r.shuffle(parts)
        lengths += parts
    if g.chance(0.1) and lengths:
        lengths[-1] += g.pick(1, -1)
    t = g.tensor(outer + [n], g.pick('int64', 'int32'), plain=True, grad=False)
    t['t']['data'] = lengths
    kwargs = {'lengths': t, **g.some(initial=g.pick(0, 2, -1.5)), **g.some(unsafe=g.chance(0.3))}
    if outer or g.chance(0.3):
        kwargs['axis'] = len(outer)
    return [g.tensor(outer + [size] + g.full(0, 2), g.pick('float32', 'float64'), plain=True),
            g.pick('sum', 'mean', 'max', 'min', 'prod', 'odd' if g.chance(0.1) else 'sum')], kwargs
