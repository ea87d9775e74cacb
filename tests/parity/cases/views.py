"""Views and rearrangements."""
from source import prod, tup

from . import case, layer


def any_tensor(g, low=0, high=4, **more):
    return g.tensor(g.shape(low, high), g.any(), **more)


def regroup(g, sizes):
    """Another shape with as many elements, perhaps with a -1."""
    n, out = prod(sizes), []
    if g.chance(0.05):
        return [n + 1]
    while n > 1 and len(out) < 4:
        d = g.pick(*[k for k in range(1, n + 1) if n % k == 0])
        out.append(d)
        n //= d
    out = (out + [n]) if n != 1 or not out else out
    if out and g.chance(0.4) and prod(sizes):
        out[g.int(0, len(out) - 1)] = -1
    return out


def spread(g, items):
    """x.view(2, 3) or x.view([2, 3])."""
    return list(items) if g.chance(0.6) and items else [list(items)] if g.chance(0.5) else [tup(*items)]


@case('view')
def view(g):
    t = any_tensor(g, plain=g.chance(0.6))
    if g.chance(0.1):
        return [t, {'dtype': g.pick('float32', 'int32', 'int64', 'uint8')}], {}
    return [t] + spread(g, regroup(g, t['t']['sizes'])), {}


@case('reshape')
def reshape(g):
    t = any_tensor(g)
    new = regroup(g, t['t']['sizes'])
    return [t] + (spread(g, new) if g.method else [new]), {}


@case('view_as', 'reshape_as')
def view_as(g):
    t = any_tensor(g, plain=g.chance(0.7))
    other = [abs(s) if s != -1 else 1 for s in regroup(g, t['t']['sizes'])]
    return [t, g.tensor(other)], {}


@case('flatten')
def flatten(g):
    t = any_tensor(g)
    d = sorted((g.dim(t['t']['sizes']), g.dim(t['t']['sizes'])))
    if t['t']['sizes'] and g.chance(0.3):
        return [t] + sorted(i % len(t['t']['sizes']) for i in d) + [None], {}
    return [t] + d[:g.int(0, 2)], {}


@case('ravel', 't', 'adjoint', 'fliplr', 'flipud')
def plain(g):
    return [any_tensor(g, 0, 3)], {}


@case('unflatten')
def unflatten(g):
    t = any_tensor(g, 1, 3)
    d = g.dim(t['t']['sizes'])
    return [t, d, regroup(g, [t['t']['sizes'][d]])], {}


@case('expand')
def expand(g):
    sizes = g.shape()
    t = g.tensor(g.broadcast_of(sizes), g.any())
    return [t] + spread(g, [-1 if g.chance(0.1) else s for s in sizes]), {}


@case('broadcast_to')
def broadcast_to(g):
    sizes = g.shape()
    return [g.tensor(g.broadcast_of(sizes), g.any()), sizes], {}


@case('expand_as')
def expand_as(g):
    sizes = g.shape()
    return [g.tensor(g.broadcast_of(sizes), g.any()), g.tensor(sizes)], {}


@case('permute')
def permute(g):
    t = any_tensor(g)
    n = len(t['t']['sizes'])
    order = list(range(n))
    g.r.shuffle(order)
    order = [o - n if g.chance(0.3) else o for o in order]
    return [t] + (spread(g, order) if g.method else [order]), {}


@case('transpose')
def transpose(g):
    t = any_tensor(g)
    return [t, g.dim(t['t']['sizes']), g.dim(t['t']['sizes'])], {}


@case('movedim')
def movedim(g):
    t = any_tensor(g, 1)
    n = len(t['t']['sizes'])
    if g.chance(0.5):
        return [t, g.int(-n, n - 1), g.int(-n, n - 1)], {}
    k = g.int(0, n)
    return [t, g.r.sample(range(n), k), g.r.sample(range(n), k)], {}


@case('squeeze')
def squeeze(g):
    t = any_tensor(g)
    return [t] + ([g.dim(t['t']['sizes'])] if g.chance(0.6) else []), {}


@case('unsqueeze')
def unsqueeze(g):
    t = any_tensor(g)
    n = len(t['t']['sizes']) + 1
    return [t, g.int(-n, n - 1)], {}


@case('select')
def select(g):
    t = any_tensor(g, 1)
    d = g.dim(t['t']['sizes'])
    n = t['t']['sizes'][d]
    return [t, d, g.int(-n, max(n - 1, 0))], {}


@case('narrow')
def narrow(g):
    t = any_tensor(g, 1)
    d = g.dim(t['t']['sizes'])
    n = t['t']['sizes'][d]
    start = g.int(0, n)
    return [t, d, start, g.int(0, n - start + (g.chance(0.1)))], {}


@case('diagonal', 'linalg_diagonal')
def diagonal(g):
    t = any_tensor(g, 2)
    if g.spelling.startswith('torch._C._linalg'):
        return [t], g.some(offset=g.int(-2, 2), dim1=0)
    dims = g.r.sample(range(len(t['t']['sizes'])), 2)
    return [t] + [g.int(-2, 2)] + dims * g.chance(0.6), {}


@case('unfold')
def unfold(g):
    t = any_tensor(g, 1)
    d = g.dim(t['t']['sizes'])
    return [t, d, g.int(0, t['t']['sizes'][d]), g.int(1, 3)], {}


@case('as_strided')
def as_strided(g):
    t = g.tensor([4, 5], g.any(), plain=True)
    return [t, [g.int(1, 2), g.int(1, 3)], [g.int(0, 5), g.int(0, 3)]] + ([g.int(0, 4)] if g.chance(0.5) else []), {}


@case('split')
def split(g):
    t = any_tensor(g, 1)
    d = g.dim(t['t']['sizes'])
    n = t['t']['sizes'][d]
    if g.chance(0.6):
        return [t, g.int(1, n + 2)] + [d], {}
    a = g.int(0, n)
    return [t, [a, n - a + g.chance(0.1)], d], {}


@case('split_with_sizes')
def split_with_sizes(g):
    t = any_tensor(g, 1)
    n = t['t']['sizes'][0]
    a = g.int(0, n)
    return [t, [a, n - a]], {}


@case('chunk', 'tensor_split')
def chunk(g):
    t = any_tensor(g, 1)
    d = g.dim(t['t']['sizes'])
    many = sorted(g.int(0, 4) for _ in range(2)) if 'tensor_split' in g.spelling and g.chance(0.4) else g.int(1, 4)
    return [t, many] + ([d] if g.chance(0.7) else []), {}


@case('unbind')
def unbind(g):
    t = any_tensor(g, 1)
    return [t] + ([g.dim(t['t']['sizes'])] if g.chance(0.7) else []), {}


@case('flip')
def flip(g):
    t = any_tensor(g)
    return [t, g.dims(t['t']['sizes'])], {}


@case('rot90')
def rot90(g):
    t = any_tensor(g, 2)
    return [t] + [g.int(-2, 5)] * g.chance(0.7), {}


@case('roll')
def roll(g):
    t = any_tensor(g)
    d = g.dims(t['t']['sizes'])
    if not d or g.chance(0.3):
        return [t, g.int(-3, 3)], {}
    return [t, [g.int(-3, 3) for _ in d], d], {}


@case('repeat')
def repeat(g):
    t = any_tensor(g, 0, 3)
    many = [g.int(0, 3) for _ in range(len(t['t']['sizes']) + g.int(0, 1))]
    return [t] + spread(g, many), {}


@case('tile')
def tile(g):
    t = any_tensor(g, 0, 3)
    many = [g.int(1, 3) for _ in range(g.int(1, 3))]
    return [t] + (spread(g, many) if g.method else [many]), {}


@case('repeat_interleave')
def repeat_interleave(g):
    t = any_tensor(g, 1)
    if g.chance(0.3):
        return [t, g.int(0, 3)], {}
    d = g.dim(t['t']['sizes'])
    n = t['t']['sizes'][d]
    return [t, g.int(0, 3) if g.chance(0.5) else g.indices([n], 4)], {'dim': d}


@case('tril', 'triu')
def triangle(g):
    return [any_tensor(g, 2)] + ([g.int(-3, 3)] if g.chance(0.6) else []), {}


@case('diag', 'diagflat')
def diag(g):
    return [any_tensor(g, 1, 2)] + ([g.int(-2, 2)] if g.chance(0.6) else []), {}


@case('meshgrid')
def meshgrid(g):
    kind = g.any()
    many = [g.tensor(g.full(0, 1) if g.chance(0.9) else [2, 2], kind) for _ in range(g.int(1, 3))]
    return (many if g.chance(0.6) else [many]), g.some(indexing=g.pick('ij', 'xy'))


@case('broadcast_tensors')
def broadcast_tensors(g):
    sizes = g.shape()
    return [g.tensor(g.broadcast_of(sizes), g.any()) for _ in range(g.int(1, 3))], {}


@case('cat')
def cat(g):
    sizes, kind = g.shape(1), g.any()
    d = g.dim(sizes)
    many = []
    for _ in range(g.int(1, 3)):
        other = list(sizes)
        other[d] = g.size()
        many.append(g.tensor(other if g.chance(0.95) else [0], kind if g.chance(0.85) else g.any()))
    return [many] + ([d] if g.chance(0.8) else []), {}


@case('stack')
def stack(g):
    sizes, kind = g.shape(0, 3), g.any()
    n = len(sizes) + 1
    many = [g.tensor(sizes, kind if g.chance(0.85) else g.any()) for _ in range(g.int(1, 3))]
    return [many] + ([g.int(-n, n - 1)] if g.chance(0.7) else []), {}


@case('hstack', 'vstack', 'dstack')
def hstack(g):
    sizes, kind = g.shape(0, 3), g.any()
    return [[g.tensor(sizes, kind) for _ in range(g.int(1, 3))]], {}


@case('pad')
def pad(g):
    mode = g.pick('constant', 'constant', 'reflect', 'replicate', 'circular')
    sizes = g.full(1, 4) if mode == 'constant' else [g.int(1, 2)] + [g.int(2, 5) for _ in range(g.int(1, 3))]
    n = g.int(1, len(sizes)) if mode == 'constant' else max(1, len(sizes) - 1 - g.chance(0.5))
    low = -1 if mode == 'constant' else 0
    amounts = [g.int(low, 2) for _ in range(2 * n)]
    args = [g.tensor(sizes, g.floats() if g.chance(0.8) else g.any()), amounts]
    if mode != 'constant' or g.chance(0.5):
        args.append(mode)
    if mode == 'constant' and g.chance(0.4):
        return args, {'value': g.pick(1, 0.5, -2.0)}
    return args, {}


@case('constant_pad_nd')
def constant_pad(g):
    sizes = g.full(1, 4)
    return [g.tensor(sizes, g.any()), [g.int(-1, 2) for _ in range(2 * g.int(1, len(sizes)))]] + (
        [g.pick(1, 2)] if g.chance(0.5) else []), {}


def padding_layer(name, rank, more):
    def template(g):
        one = tup(*[g.int(0, 1) for _ in range(2 * rank)])
        sizes = [g.int(1, 2)] * g.chance(0.6) + [g.int(1, 3)] + [g.int(2, 4) for _ in range(rank)]
        return {'padding': one, **more}, [g.tensor(sizes)]
    layer(name)(template)


for _kind, _more, _ranks in (('ConstantPad', {'value': 1.5}, (1, 2, 3)), ('ReflectionPad', {}, (1, 2, 3)),
                             ('ReplicationPad', {}, (1, 2, 3)), ('ZeroPad', {}, (1, 2, 3)), ('CircularPad', {}, (1, 2, 3))):
    for _rank in _ranks:
        padding_layer(f'{_kind}{_rank}d', _rank, _more)


@layer('Flatten')
def flatten_layer(g):
    return g.some(start_dim=0, end_dim=2), [g.tensor(g.shape(3, 4))]


@layer('Unflatten')
def unflatten_layer(g):
    return {'dim': 1, 'unflattened_size': tup(2, -1)}, [g.tensor([2, 6])]


@layer('Identity')
def identity_layer(g):
    return {}, [g.f()]


@case('view_as_real')
def view_as_real(g):
    return [any_complex(g)], {}


@case('view_as_complex')
def view_as_complex(g):
    return [g.tensor(g.shape(0, 3) + [2], g.pick('float32', 'float64'), plain=True)], {}


def any_complex(g):
    return g.tensor(g.shape(0, 3), g.pick('complex64', 'complex128'))
