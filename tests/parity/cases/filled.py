"""What replaces a part of a tensor, puts tensors together, makes windows and ranges, and looks into sorted lines."""
from source import FLOATS, dtype

from . import case


def any_tensor(g, low=0, high=4, **more):
    return g.tensor(g.shape(low, high), g.any(), **more)


def options(g, *kinds):
    return {**({'dtype': dtype(g.pick(*kinds))} if g.chance(0.5) else {}), **({'requires_grad': True} if g.chance(0.1) else {})}


# ---- parts that are replaced

@case('select_scatter')
def select_scatter(g):
    t = any_tensor(g, 1)
    sizes = t['t']['sizes']
    d = g.dim(sizes)
    n = sizes[d]
    rest = [s for i, s in enumerate(sizes) if i != d % len(sizes)]
    kind = t['t']['dtype'] if g.chance(0.7) else g.any()
    return [t, g.tensor(rest, kind), d, g.int(-n, max(n - 1, 0))], {}


@case('slice_scatter')
def slice_scatter(g):
    t = any_tensor(g, 1)
    sizes = list(t['t']['sizes'])
    d = g.dim(sizes)
    n = sizes[d]
    # None: PyTorch 1.13 reads an end that nobody wrote
    start, end, step = g.int(-n, n), g.pick(g.int(-n, n), 99), g.pick(1, 1, 2, 3)
    sizes[d] = len(range(n)[slice(start, end, step)])
    return [t, g.tensor(sizes, t['t']['dtype'] if g.chance(0.7) else g.any()), d, start, end, step], {}


@case('diagonal_scatter')
def diagonal_scatter(g):
    t = any_tensor(g, 2)
    sizes = t['t']['sizes']
    a, b = g.r.sample(range(len(sizes)), 2)
    offset = g.int(-2, 2)
    n = max(0, min(sizes[a] + min(offset, 0), sizes[b] - max(offset, 0)))
    rest = [s for i, s in enumerate(sizes) if i not in (a, b)] + [n]
    minus = len(sizes) if g.chance(0.3) else 0
    return [t, g.tensor(rest, t['t']['dtype']), offset, a - minus, b], {}


@case('as_strided_scatter')
def as_strided_scatter(g):
    t = g.tensor([4, 5], g.any(), plain=g.chance(0.7))
    sizes = [g.int(1, 2), g.int(1, 3)]
    return [t, g.tensor(sizes, t['t']['dtype']), sizes, [5, g.int(1, 2)]] + ([g.int(0, 4)] if g.chance(0.5) else []), {}


@case('diag_embed')
def diag_embed(g):
    t = any_tensor(g, 1, 3)
    n = len(t['t']['sizes']) + 1
    a, b = g.r.sample(range(n), 2)
    return [t] + ([g.int(-2, 2), a - n if g.chance(0.5) else a, b] if g.chance(0.6) else []), {}


@case('fill_diagonal_')
def fill_diagonal(g):
    n = g.int(0, 3)
    sizes = g.shape(2, 2) if g.chance(0.6) else [n] * 3 if g.chance(0.9) else [2, 3, 2]
    if g.chance(0.3):
        sizes = [g.int(3, 9), g.int(1, 3)]
    return [g.tensor(sizes, g.any(), grad=False), g.scalar()], g.some(wrap=g.chance(0.7))


@case('put')
def put(g):
    t = any_tensor(g, grad=False if g.spelling.endswith('_') else None)
    n = 1
    for s in t['t']['sizes']:
        n *= s
    sizes = g.shape(0, 2) if n else [0]
    if g.chance(0.7):  # which of two for one place stays, nobody says
        at = g.r.sample(range(n), g.int(0, min(n, 4)))
        index = g.tensor([len(at)], 'int64', plain=True, grad=False)
        index['t']['data'] = [a - n if g.chance(0.3) else a for a in at]
        return [t, index, g.tensor([len(at)], t['t']['dtype'])], g.some(accumulate=g.chance(0.5))
    return [t, g.indices(sizes, n, negative=True), g.tensor(sizes, t['t']['dtype']), True], {}


@case('fill')
def fill(g):
    value = g.tensor([], g.any()) if g.chance(0.3) else g.scalar()
    return [any_tensor(g), value], {}


# ---- put together

@case('atleast_1d', 'atleast_2d', 'atleast_3d')
def atleast(g):
    many = [any_tensor(g, 0, 4) for _ in range(g.int(1, 3))]
    return (many if g.chance(0.7) else [many]), {}


@case('column_stack')
def column_stack(g):
    n, kind = g.size(), g.any()
    return [[g.tensor([n, g.size()] if g.chance(0.5) else [n], kind if g.chance(0.8) else g.any()) for _ in range(g.int(1, 3))]], {}


@case('block_diag')
def block_diag(g):
    kind = g.any()
    return [g.tensor(g.shape(0, 2), kind if g.chance(0.8) else g.any()) for _ in range(g.int(1, 3))], {}


@case('cartesian_prod')
def cartesian_prod(g):
    kind = g.any()
    return [g.tensor(g.shape(1, 1) if g.chance(0.95) else g.shape(0, 2), kind) for _ in range(g.int(1, 3))], {}


@case('combinations')
def combinations(g):
    return [g.tensor(g.shape(1, 1), g.any())] + ([g.int(0, 4)] if g.chance(0.7) else []), g.some(with_replacement=g.chance(0.6))


@case('argwhere')
def argwhere(g):
    return [any_tensor(g) if g.chance(0.8) else g.tensor(g.shape(0, 2), 'complex64')], {}


@case('hsplit', 'vsplit', 'dsplit')
def hsplit(g):
    t = any_tensor(g, 1)
    return [t, g.int(1, 3) if g.chance(0.5) else [g.int(-1, 4) for _ in range(g.int(0, 3))]], {}


@case('unsafe_chunk')
def unsafe_chunk(g):
    t = any_tensor(g, 1)
    return [t, g.int(1, 4), g.dim(t['t']['sizes'])], {}


@case('unsafe_split')
def unsafe_split(g):
    t = any_tensor(g, 1)
    d = g.dim(t['t']['sizes'])
    return [t, g.int(1, t['t']['sizes'][d] + 2), d], {}


@case('unsafe_split_with_sizes')
def unsafe_split_with_sizes(g):
    t = any_tensor(g, 1)
    n = t['t']['sizes'][0]
    a = g.int(0, n)
    return [t, [a, n - a]], {}


# ---- windows, ranges, indices

@case('logspace', loose=1e-4)
def logspace(g):
    args = [g.pick(0, 1, -1.5), g.pick(2, 3.5, -1), g.int(0, 6)]
    return args + ([g.pick(2, 10.0, 0.5)] if g.chance(0.5) else []), options(g, *FLOATS, 'int64', 'int32')


@case('range')
def range_(g):
    return [g.pick(0, 1, -2, 0.5), g.pick(3, 5, 2.5)] + ([g.pick(1, 2, 0.5, -1)] if g.chance(0.6) else []), options(
        g, 'float32', 'float64', 'int64', 'int32')


@case('hann_window', 'blackman_window', 'bartlett_window', 'hamming_window', 'kaiser_window', loose=2e-5)
def window(g):
    args = [g.int(0, 9)]
    if g.chance(0.6):
        args.append(g.chance(0.5))
        if 'hamming' in g.spelling and g.chance(0.5):
            args += [g.pick(0.5, 0.6)] + ([0.25] if g.chance(0.5) else [])
        if 'kaiser' in g.spelling and g.chance(0.5):
            args.append(g.pick(0.0, 5.0, 14))
    return args, options(g, 'float32', 'float64')


@case('tril_indices', 'triu_indices')
def tril_indices(g):
    return [g.int(0, 5), g.int(0, 5)] + ([g.int(-6, 6)] if g.chance(0.7) else []), options(g, 'int64', 'int32')


@case('empty_strided', random=True)
def empty_strided(g):
    sizes = g.shape(0, 3)
    return [sizes, [g.int(0, 4) for _ in sizes]], options(g, *FLOATS, 'int64')


@case('new_empty_strided', random=True)
def new_empty_strided(g):
    sizes = g.shape(0, 3)
    return [any_tensor(g), sizes, [g.int(0, 4) for _ in sizes]], options(g, *FLOATS, 'int64')


# ---- sorted lines

@case('mode')
def mode(g):
    t = g.tensor(g.full(0, 3), g.any(), -1, 1)
    return [t] + ([g.dim(t['t']['sizes'])] if g.chance(0.7) else []), g.some(keepdim=g.chance(0.7))


@case('nanmedian')
def nanmedian(g):
    t = g.tensor(g.full(0, 3), g.numbers(), distinct=True)
    if t['t']['dtype'] in FLOATS:
        t['t']['data'] = [x if g.chance(0.8) else 'nan' for x in t['t']['data']]
    return [t] + ([g.dim(t['t']['sizes']), g.chance(0.5)] if g.chance(0.6) else []), {}


@case('quantile', 'nanquantile', loose=1e-5)
def quantile(g):
    t = g.tensor(g.full(0, 3), g.pick('float32', 'float64'))
    t['t']['data'] = [x if g.chance(0.95) else 'nan' for x in t['t']['data']]
    q = g.real(0, 1) if g.chance(0.5) else g.tensor(g.pick([], [1], [3]), t['t']['dtype'], 0, 1)
    return [t, q] + ([g.dim(t['t']['sizes'])] if g.chance(0.6) else []), {
        **g.some(keepdim=g.chance(0.7)), **g.some(interpolation=g.pick('linear', 'lower', 'higher', 'midpoint', 'nearest', 'odd'))}
