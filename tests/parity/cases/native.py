"""Functions below the names that people use: torch.convolution, native_layer_norm and its kin; distributions; what takes
numbers and matrices apart; layers that few know."""
from source import dtype, tup

from . import case, layer

PAIR = ('float32', 'float32', 'float64')


# ---- networks

@case('convolution', loose=1e-4)
def convolution(g):
    rank, groups, transposed = g.int(1, 3), g.pick(1, 1, 2), g.chance(0.4)
    inner, outer = groups * g.int(1, 2), groups * g.int(1, 2)
    kernel, kind = [g.int(1, 2) for _ in range(rank)], g.pick(*PAIR)

    def each(low, high):
        return [g.int(low, high) for _ in range(1 if g.chance(0.3) else rank)]
    weight = [inner, outer // groups] if transposed else [outer, inner // groups]
    return [g.tensor([g.int(1, 2), inner] + [g.int(2, 5) for _ in range(rank)], kind), g.tensor(weight + kernel, kind),
            g.tensor([outer], kind) if g.chance(0.5) else None, each(1, 2), each(0, 1), each(1, 2), transposed,
            [0] * rank, groups], {}


def affine(g, n, kind):
    return [g.tensor(n, kind, plain=True) if g.chance(0.6) else None for _ in range(2)]


@case('native_layer_norm', loose=2e-4)
def native_layer_norm(g):
    x = g.tensor(g.full(1, 4), g.pick(*PAIR))
    shape = x['t']['sizes'][-g.int(1, len(x['t']['sizes'])):]
    return [x, shape] + affine(g, shape, x['t']['dtype']) + [1e-3], {}


@case('native_group_norm', loose=5e-4)
def native_group_norm(g):
    groups = g.int(1, 3)
    channels, n, area = groups * g.int(1, 2), g.int(1, 3), g.int(2, 4)
    x = g.tensor([n, channels, area] if g.chance(0.5) else [n, channels, area, 1], g.pick(*PAIR), plain=True)
    return [x] + affine(g, [channels], x['t']['dtype']) + [n, channels, area, groups, 1e-2], {}


@case('native_batch_norm', loose=5e-4)
def native_batch_norm(g):
    x = g.tensor([g.int(2, 3), g.int(1, 3)] + g.full(0, 2), g.pick(*PAIR), grad=False)
    kind, n = x['t']['dtype'], [x['t']['sizes'][1]]
    train = g.chance(0.5)
    running = [g.tensor(n, kind, plain=True, grad=False), g.tensor(n, kind, 0.5, 2, plain=True, grad=False)]
    if train and g.chance(0.5):
        running = [None, None]
    return [x] + affine(g, n, kind) + running + [train, 0.1, 1e-2], {}


@case('native_dropout', random=True)
def native_dropout(g):
    return [g.tensor(g.shape(), g.pick(*PAIR)), g.pick(0.5, 0.25, 0.0), g.pick(True, False)], {}


@case('grid_sampler', 'grid_sampler_2d', 'grid_sampler_3d', loose=1e-4)
def grid_sampler(g):
    rank = 2 if '2d' in g.spelling else 3 if '3d' in g.spelling else g.pick(2, 3)
    kind, n = g.pick(*PAIR), g.int(1, 2)
    x = g.tensor([n, g.int(1, 2)] + [g.int(1, 4) for _ in range(rank)], kind)
    grid = g.tensor([n] + [g.int(1, 3) for _ in range(rank)] + [rank], kind, -1.4, 1.4)
    return [x, grid, g.int(0, 1 if rank == 3 else 2), g.int(0, 2), g.chance(0.5)], {}


@case('affine_grid_generator', loose=1e-4)
def affine_grid_generator(g):
    rank, n = g.pick(2, 3), g.int(1, 2)
    return [g.tensor([n, rank, rank + 1], g.pick(*PAIR)), [n, 2] + [g.int(1, 4) for _ in range(rank)], g.chance(0.5)], {}


@case('fake_quantize_tensors', 'fake_quantize', loose=1e-5)
def fake_quantize(g):
    x, low = g.tensor(g.shape(), g.floats()), g.pick(0, -8)
    scale, zero = g.pick(0.25, 0.5, 0.1), low + g.int(0, 7)
    if g.chance(0.5):
        scale, zero = ({'t': {'dtype': d, 'sizes': [1], 'strides': [1], 'offset': 0, 'data': [v]}}
                       for d, v in (('float32', scale), ('int32', zero)))
    return [x, scale, zero, low, low + 15], {}


@case('fake_quantize_channels', loose=1e-5)
def fake_quantize_channels(g):
    x = g.tensor(g.full(1, 4), g.floats())
    axis = g.int(0, len(x['t']['sizes']) - 1)
    n = [x['t']['sizes'][axis]]
    return [x, g.tensor(n, 'float32', 0.1, 1, grad=False), g.tensor(n, 'int32', 0, 7, plain=True), axis, 0, 15], {}


@case('embedding_renorm_', loose=1e-4)
def embedding_renorm(g):
    rows = g.int(1, 4)
    return [g.tensor([rows, g.int(1, 4)], g.pick(*PAIR), plain=True, grad=False), g.indices(g.full(0, 2), rows),
            g.pick(0.5, 1.0), g.pick(1.0, 2.0)], {}


@case('nuclear_norm', loose=1e-4)
def nuclear_norm(g):
    if g.chance(0.5):
        return [g.tensor(g.full(2, 2), g.pick(*PAIR))], {'keepdim': g.chance(0.5)}
    x = g.tensor(g.full(2, 4), g.pick(*PAIR))
    return [x, g.r.sample(range(len(x['t']['sizes'])), 2), g.chance(0.5)], {}


@case('frobenius_norm', loose=1e-4)
def frobenius_norm(g):
    x = g.tensor(g.shape(0, 4), g.pick(*PAIR))
    return [x] + ([g.dims(x['t']['sizes'])[:2], g.chance(0.5)] if g.chance(0.6) else []), {}


@case('norm_except_dim', loose=1e-4)
def norm_except_dim(g):
    x = g.tensor(g.full(1, 4), g.pick(*PAIR))
    return [x] + ([g.int(1, 3), g.int(-1, len(x['t']['sizes']) - 1)] if g.chance(0.7) else []), {}


@case('special_softmax', 'special_log_softmax', loose=2e-5)
def special_softmax(g):
    t = g.tensor(g.shape(0, 4), g.floats() if g.chance(0.8) else g.any())
    return [t, g.dim(t['t']['sizes'])], g.some(dtype=dtype(g.pick('float32', 'float64')))


# ---- distributions

@case('binomial', random=True)
def binomial(g):
    sizes, kind = g.shape(), g.pick('float32', 'float64')
    return [g.tensor(sizes, kind, 0, 9), g.tensor(sizes, kind, 0, 1)], {}


@case('cauchy_', 'log_normal_', random=True)
def cauchy(g):
    return [g.f(grad=False)] + ([g.real(), g.real(0.5, 2)] if g.chance(0.6) else []), {}


@case('geometric_', random=True)
def geometric(g):
    return [g.tensor(g.shape(), g.numbers(), grad=False), g.pick(0.5, 0.2, 0.9)], {}


# ---- numbers and lines

@case('frexp')
def frexp(g):
    return [g.tensor(g.shape(), g.floats(), -9, 9)], {}


@case('gradient', loose=1e-4)
def gradient(g):
    x = g.tensor([g.int(1 if g.chance(0.1) else 3, 5) for _ in range(g.int(1, 3))], g.pick('float32', 'float64', 'int64'))
    sizes = x['t']['sizes']
    dims = sorted(g.r.sample(range(len(sizes)), g.int(1, len(sizes))))
    kwargs = g.some(edge_order=g.pick(1, 2, 2))
    if g.chance(0.5):
        kwargs['dim'] = dims if g.chance(0.7) else dims[0]
    else:
        dims = list(range(len(sizes)))
    if isinstance(kwargs.get('dim'), int):
        dims = dims[:1]
    kind = g.int(0, 3)
    if kind == 1:
        kwargs['spacing'] = g.pick(2, 0.5)
    elif kind == 2:
        kwargs['spacing'] = [g.pick(2.0, 0.5) for _ in dims]
    elif kind == 3:
        kwargs['spacing'] = []
        for d in dims:
            t = g.tensor([sizes[d]], 'float64' if x['t']['dtype'] == 'float64' else 'float32', plain=True, grad=False)
            t['t']['data'] = sorted(g.r.sample([i * 0.5 for i in range(12)], sizes[d]))
            kwargs['spacing'].append(t)
    return [x], kwargs


@case('pdist', loose=1e-4)
def pdist(g):
    return [g.tensor(g.shape(2, 2), g.pick(*PAIR))] + ([g.pick(0.0, 1.0, 2.0, 3.0, 0.5, {'float': 'inf'})] if g.chance(0.7) else []), {}


@case('histogram', loose=1e-5)
def histogram(g):
    x = g.tensor(g.shape(0, 3), g.pick(*PAIR))
    kind = x['t']['dtype']
    kwargs = {**g.some(density=g.chance(0.5)), **({'weight': g.tensor(x['t']['sizes'], kind, 0, 2)} if g.chance(0.3) else {})}
    if g.chance(0.4):
        edges = g.tensor([g.int(1, 5)], kind, plain=True)
        edges['t']['data'] = sorted(edges['t']['data'])
        return [x, edges], kwargs
    return [x, g.int(1, 5)], {**kwargs, **({'range': [g.pick(-1.5, 0.0), g.pick(0.5, 2.0)]} if g.chance(0.5) else {})}


@case('histogramdd', loose=1e-5)
def histogramdd(g):
    n, kind = g.int(1, 3), g.pick(*PAIR)
    x = g.tensor(g.shape(1, 2) + [n], kind)
    kwargs = {**g.some(density=g.chance(0.5)),
              **({'weight': g.tensor(x['t']['sizes'][:-1], kind, 0, 2, grad=False)} if g.chance(0.3) else {})}
    if g.chance(0.3):
        edges = [g.tensor([g.int(2, 4)], kind, plain=True, grad=False) for _ in range(n)]
        for e in edges:
            e['t']['data'] = sorted(e['t']['data'])
        return [x, edges], kwargs
    if g.chance(0.4):
        kwargs['range'] = [x for _ in range(n) for x in (g.pick(-1.5, 0.0), g.pick(0.5, 2.0))]
    return [x, g.int(1, 4) if g.chance(0.4) else [g.int(1, 4) for _ in range(n)]], kwargs


# ---- matrices

def batch(g, *sizes):
    return ([g.int(1, 2)] if g.chance(0.4) else []) + list(sizes)


MATRIX = ('float32', 'float64', 'complex64', 'complex128')


@case('matrix_exp', loose=5e-4)
def matrix_exp(g):
    n = g.int(0, 4)
    return [g.tensor(batch(g, n, n), g.pick(*MATRIX))], {}


@case('ormqr', loose=1e-3)
def ormqr(g):
    m, n, kind = g.int(1, 4), g.int(1, 3), g.pick(*MATRIX)
    k = g.int(1, m)
    lead = batch(g)
    left = g.chance(0.6)
    return [g.tensor(lead + [m, k], kind), g.tensor(lead + [k], kind), g.tensor(lead + ([m, n] if left else [n, m]), kind),
            left, g.chance(0.5)], {}


@case('linalg_ldl_factor', 'linalg_ldl_factor_ex', loose=1e-3)
def ldl_factor(g):
    n = g.int(0, 4)
    t = g.tensor(batch(g, n, n), g.pick('float64', 'complex128'), distinct=False)
    return [t], g.some(hermitian=g.chance(0.5))


@case('linalg_ldl_solve', loose=1e-3)
def ldl_solve(g):
    n, kind = g.int(1, 4), g.pick('float64', 'complex128')
    lead = batch(g)
    ld = g.tensor(lead + [n, n], kind, 0.5, 2, grad=False)
    pivots = g.tensor(lead + [n], 'int32', plain=True)
    pivots['t']['data'] = [i % n + 1 for i in range(len(pivots['t']['data']))]
    return [ld, pivots, g.tensor(lead + [n, g.int(1, 3)], kind)], g.some(hermitian=g.chance(0.5))


# ---- layers

@layer('CrossMapLRN2d')
def cross_map(g):
    return {'size': g.int(1, 5), **g.some(alpha=0.5, beta=0.5, k=2)}, [g.tensor([g.int(1, 2), g.int(1, 6), g.int(1, 3), g.int(1, 3)])]


@layer('GaussianNLLLoss')
def gaussian(g):
    sizes = g.full(1, 3)
    return g.some(full=True, eps=0.5, reduction=g.pick('none', 'mean', 'sum')), [
        g.tensor(sizes), g.tensor(sizes), g.tensor(g.pick(sizes, sizes[:-1] + [1]), 'float32', 0.1, 2)]


@layer('PoissonNLLLoss')
def poisson(g):
    sizes = g.full(0, 3)
    return g.some(log_input=False, full=True, eps=0.5, reduction=g.pick('none', 'mean', 'sum')), [
        g.tensor(sizes, 'float32', 0.1, 3), g.tensor(sizes, 'float32', 0, 4)]


@layer('RMSNorm')
def rms_norm(g):
    x = g.tensor(g.full(1, 4))
    return {'normalized_shape': tup(*x['t']['sizes'][-g.int(1, len(x['t']['sizes'])):]),
            **g.some(eps=0.01, elementwise_affine=g.chance(0.5))}, [x]


@layer('LayerNorm2d')
def layer_norm2d(g):
    sizes = g.full(4, 4)
    return {'normalized_shape': tup(sizes[1]), **g.some(eps=0.01, elementwise_affine=g.chance(0.5))}, [g.tensor(sizes)]


@layer('SyncBatchNorm')
def sync_batch_norm(g):
    sizes = [2] + g.full(1, 4)
    return {'num_features': sizes[1], **g.some(eps=0.01, affine=False)}, [g.tensor(sizes)]


@layer('NonDynamicallyQuantizableLinear')
def quiet_linear(g):
    sizes = g.full(1, 3)
    return {'in_features': sizes[-1], 'out_features': g.int(1, 4), **g.some(bias=False)}, [g.tensor(sizes)]


@layer('NLLLoss2d')
def nll2d(g):
    n, c, tail = g.int(1, 2), g.int(1, 3), [g.int(1, 3), g.int(1, 3)]
    return g.some(reduction=g.pick('none', 'mean', 'sum'), ignore_index=0), [g.tensor([n, c] + tail), g.indices([n] + tail, c)]


def training(g):
    """In training the numbers are drawn, and facts alone are compared."""
    return {'train': True, 'random': True} if g.chance(0.5) else {}


@layer('DropPath')
def drop_path(g):
    return g.some(drop_prob=g.pick(0.25, 0.5), scale_by_keep=g.chance(0.5)), [g.tensor(g.shape(1, 4))], training(g)


@layer('StochasticDepth')
def stochastic_depth(g):
    return {'p': g.pick(0.25, 0.0), 'mode': g.pick('row', 'batch')}, [g.tensor(g.shape(1, 4))], training(g)


def fractional(rank):
    @layer(f'FractionalMaxPool{rank}d')
    def fractional_layer(g):
        lead = [g.int(1, 2)] * g.chance(0.7) + [g.int(1, 2)]
        how = {'output_size': g.int(1, 3)} if g.chance(0.6) else {'output_ratio': g.pick(0.5, 0.4)}
        samples = g.tensor(([1] + lead)[-2:] + [rank], 'float32', 0, 0.99, plain=True, grad=False)
        return {'kernel_size': g.int(1, 2), **how, '_random_samples': samples}, [g.tensor(lead + [g.int(4, 6)] * rank)]


fractional(2)
fractional(3)
