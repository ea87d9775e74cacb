"""Operators and layers of networks: convolution, pooling, normalisation, linear algebra, attention, resampling."""
from source import prod, tup

from . import case, layer

REAL = ('float32', 'float32', 'float32', 'float64')


def one_or_each(g, rank, low, high):
    """An int, or one for each dimension."""
    return g.int(low, high) if g.chance(0.6) else [g.int(low, high) for _ in range(rank)]


def each(value, rank):
    return value if isinstance(value, list) else [value] * rank


def image(g, rank, channels, low=3, high=7, batch=True, **more):
    sizes = [channels] + [g.int(low, high if rank < 3 else min(high, 4)) for _ in range(rank)]
    if batch and g.chance(0.8):
        sizes.insert(0, g.pick(1, 2, 2, 0))
    return g.tensor(sizes, more.pop('dtype', g.pick(*REAL)), **more)


def conv(name, rank):
    def template(g):
        groups = g.pick(1, 1, 1, 2, 3)
        inner, outer = groups * g.int(1, 2), groups * g.int(1, 3)
        kernel = each(one_or_each(g, rank, 1, 3 if rank < 3 else 2), rank)
        x = image(g, rank, inner)
        kind = x['t']['dtype']
        args = [x, g.tensor([outer, inner // groups] + kernel, kind)]
        args.append(g.tensor([outer], kind) if g.chance(0.6) else None)
        kwargs = {'stride': one_or_each(g, rank, 1, 2), 'dilation': one_or_each(g, rank, 1, 2), 'groups': groups,
                  'padding': g.pick(one_or_each(g, rank, 0, 2), one_or_each(g, rank, 0, 2), 'same', 'valid')}
        return args, {k: v for k, v in kwargs.items() if g.chance(0.6) or k == 'groups'}
    case(name, loose=1e-4)(template)


def conv_transpose(name, rank):
    def template(g):
        groups = g.pick(1, 1, 2)
        inner, outer = groups * g.int(1, 2), groups * g.int(1, 2)
        x = image(g, rank, inner, 2, 4)
        kind = x['t']['dtype']
        kernel = each(one_or_each(g, rank, 1, 3 if rank < 3 else 2), rank)
        args = [x, g.tensor([inner, outer // groups] + kernel, kind)]
        args.append(g.tensor([outer], kind) if g.chance(0.6) else None)
        kwargs = {'stride': one_or_each(g, rank, 1, 2), 'dilation': one_or_each(g, rank, 1, 2), 'groups': groups,
                  'padding': one_or_each(g, rank, 0, 1)}
        if 0 not in x['t']['sizes']:
            kwargs['output_padding'] = one_or_each(g, rank, 0, 1)
        return args, {k: v for k, v in kwargs.items() if g.chance(0.6) or k == 'groups'}
    case(name, loose=1e-4)(template)


def conv_layer(name, rank, transposed):
    def template(g):
        groups = g.pick(1, 1, 2)
        inner, outer = groups * g.int(1, 2), groups * g.int(1, 2)
        hyper = {'in_channels': inner, 'out_channels': outer, 'kernel_size': g.int(1, 2 if rank == 3 else 3),
                 'groups': groups, **g.some(stride=2, bias=False, padding=1)}
        if not transposed and g.chance(0.3):
            hyper['padding_mode'] = g.pick('reflect', 'replicate', 'circular')
            return hyper, [g.tensor([g.int(1, 2), inner] + [g.int(3, 4)] * rank)]
        return hyper, [image(g, rank, inner, 3, 5, dtype='float32')]
    layer(name)(template)


def pool(name, rank, kind):
    def template(g):
        x = image(g, rank, g.int(1, 3), 3, 7, dtype=g.pick('float32', 'float32', 'float64'))
        kernel = one_or_each(g, rank, 1, 3) if kind != 'lp' or rank > 1 else g.int(1, 3)
        kwargs = {**g.some(stride=one_or_each(g, rank, 1, 3), ceil_mode=True)}
        if kind != 'lp':
            kwargs.update(g.some(padding=one_or_each(g, rank, 0, 1)))
        if kind == 'max':
            kwargs.update(g.some(dilation=one_or_each(g, rank, 1, 2)))
            if 'functional.max_pool' in g.spelling and 'indices' not in g.spelling:
                kwargs.update(g.some(return_indices=True) if g.chance(0.4) else {})
        if kind == 'avg':
            kwargs.update(g.some(count_include_pad=False))
            if rank > 1:
                kwargs.update(g.some(divisor_override=g.int(1, 5)) if g.chance(0.3) else {})
        return ([x, g.pick(1, 2, 3.0), kernel] if kind == 'lp' else [x, kernel]), kwargs
    case(name)(template)


def pool_layer(name, rank, kind):
    def template(g):
        hyper = {'kernel_size': g.int(1, 3), **g.some(stride=g.int(1, 3), ceil_mode=True)}
        if kind == 'lp':
            hyper['norm_type'] = g.pick(1, 2)
        else:
            hyper.update(g.some(padding=1) if hyper['kernel_size'] > 1 else {})
        return hyper, [image(g, rank, 2, 4, 6, dtype='float32')]
    layer(name)(template)


def adaptive(name, rank):
    def template(g):
        x = image(g, rank, g.int(1, 3), 1, 6)
        size = g.int(1, 4) if g.chance(0.5) else [g.pick(None, g.int(1, 4)) if rank > 1 and 'functional' in g.spelling else g.int(1, 4)
                                                  for _ in range(rank)]
        return [x, size], (g.some(return_indices=True) if 'functional.adaptive_max' in g.spelling
                           and 'indices' not in g.spelling and g.chance(0.4) else {})
    case(name)(template)


for _rank in (1, 2, 3):
    conv(f'conv{_rank}d', _rank)
    conv_transpose(f'conv_transpose{_rank}d', _rank)
    conv_layer(f'Conv{_rank}d', _rank, False)
    conv_layer(f'ConvTranspose{_rank}d', _rank, True)
    for _kind, _names in (('max', (f'max_pool{_rank}d', f'max_pool{_rank}d_with_indices')), ('avg', (f'avg_pool{_rank}d',)),
                          ('lp', (f'lp_pool{_rank}d',) if _rank < 3 else ())):
        for _name in _names:
            pool(_name, _rank, _kind)
        if _names:
            pool_layer({'max': 'MaxPool', 'avg': 'AvgPool', 'lp': 'LPPool'}[_kind] + f'{_rank}d', _rank, _kind)
    for _name in (f'adaptive_avg_pool{_rank}d', f'adaptive_max_pool{_rank}d', f'adaptive_max_pool{_rank}d_with_indices'):
        adaptive(_name, _rank)


def adaptive_layer(name, rank):
    layer(name)(lambda g: ({'output_size': g.int(1, 4)}, [image(g, rank, 2, 1, 6, dtype='float32')]))


for _rank in (1, 2, 3):
    adaptive_layer(f'AdaptiveAvgPool{_rank}d', _rank)
    adaptive_layer(f'AdaptiveMaxPool{_rank}d', _rank)


# ---- normalisation

@case('batch_norm', 'instance_norm', loose=1e-4)
def batch_norm(g):
    n, kind = g.int(1, 3), g.pick(*REAL)
    sizes = [g.int(1, 3), n] + g.full(1 if 'instance' in g.spelling else 0, 3)
    x = g.tensor(sizes, kind)
    state = [g.tensor([n], kind, low, 2, plain=True, grad=False) for low in (-1, 0.5)]
    affine = [g.tensor([n], kind), g.tensor([n], kind)] if g.chance(0.7) else [None, None]
    if g.spelling == 'torch.batch_norm':
        return [x] + affine + state + [g.chance(0.3), 0.1, 1e-5, False], {}
    if 'instance' in g.spelling:
        return [x] + state + affine, g.some(use_input_stats=True, eps=0.01)
    return [x] + state + affine, g.some(training=g.chance(0.4), eps=0.01)


def batch_norm_layer(name, rank, instance):
    def template(g):
        n = g.int(1, 3)
        sizes = [2, n] + [g.int(2, 3) for _ in range(rank)]
        return {'num_features': n, **g.some(affine=g.chance(0.5), track_running_stats=g.chance(0.5), eps=0.01)}, [
            g.tensor(sizes, grad=False)]
    layer(name)(template)


for _rank in (1, 2, 3):
    batch_norm_layer(f'BatchNorm{_rank}d', _rank, False)
    batch_norm_layer(f'InstanceNorm{_rank}d', _rank, True)


@case('layer_norm', loose=1e-4)
def layer_norm(g):
    sizes, kind = g.full(1, 4), g.pick(*REAL)
    tail = sizes[-g.int(1, len(sizes)):]
    affine = [g.tensor(tail, kind) if g.chance(0.7) else None, g.tensor(tail, kind) if g.chance(0.7) else None]
    return [g.tensor(sizes, kind), tail] + affine, g.some(eps=0.01)


@case('group_norm', loose=1e-4)
def group_norm(g):
    groups, kind = g.int(1, 3), g.pick(*REAL)
    n = groups * g.int(1, 2)
    affine = [g.tensor([n], kind), g.tensor([n], kind)] if g.chance(0.7) else []
    return [g.tensor([g.int(1, 2), n] + g.full(0, 2), kind), groups] + affine, g.some(eps=0.01)


@case('local_response_norm', loose=1e-4)
def local_response_norm(g):
    return [image(g, g.int(1, 2), 5, 2, 3, batch=True), g.int(1, 4)], g.some(alpha=0.1, beta=0.5, k=2.0)


@layer('LayerNorm')
def layer_norm_layer(g):
    sizes = g.full(2, 4)
    return {'normalized_shape': tup(*sizes[-g.int(1, 2):]), **g.some(elementwise_affine=False)}, [g.tensor(sizes)]


@layer('GroupNorm')
def group_norm_layer(g):
    return {'num_groups': 2, 'num_channels': 4, **g.some(affine=False)}, [g.tensor([2, 4] + g.full(1, 2))]


@layer('LocalResponseNorm')
def local_response_norm_layer(g):
    return {'size': g.int(1, 3), **g.some(alpha=0.1)}, [g.tensor([2, 4, 3])]


# ---- linear algebra

def kind_of(g):
    return g.pick('float32', 'float32', 'float64', 'int64')


@case('linear', loose=1e-4)
def linear(g):
    kind, n, m = g.pick(*REAL), g.int(1, 4), g.int(1, 4)
    bias = [g.tensor([m], kind)] if g.chance(0.6) else []
    return [g.tensor(g.shape(0, 3) + [n], kind), g.tensor([m, n] if g.chance(0.9) or bias else [n], kind)] + bias, {}


@case('bilinear', loose=1e-4)
def bilinear(g):
    lead, a, b, m = g.full(1, 2), g.int(1, 3), g.int(1, 3), g.int(1, 3)
    return [g.tensor(lead + [a]), g.tensor(lead + [b]), g.tensor([m, a, b])] + [g.tensor([m])] * g.chance(0.5), {}


@case('matmul', 'rmatmul', loose=1e-4)
def matmul(g):
    kind, n, k, m = kind_of(g), g.int(0, 3), g.int(0, 4), g.int(1, 3)
    lead = g.shape(0, 2)
    a = g.pick([k], [n, k], g.broadcast_of(lead) + [n, k])
    b = g.pick([k], [k, m], g.broadcast_of(lead) + [k, m])
    pair = [g.tensor(a, kind), g.tensor(b, kind if g.chance(0.93) or prod(a) * prod(b) == 0 else kind_of(g))]
    return (pair[::-1] if 'rmatmul' in g.spelling else pair), {}


@case('mm', loose=1e-4)
def mm(g):
    kind, k = kind_of(g), g.int(0, 4)
    return [g.tensor([g.int(0, 3), k], kind), g.tensor([k, g.int(0, 3)], kind)], {}


@case('bmm', loose=1e-4)
def bmm(g):
    kind, b, k = kind_of(g), g.int(0, 3), g.int(1, 4)
    return [g.tensor([b, g.int(1, 3), k], kind), g.tensor([b, k, g.int(1, 3)], kind)], {}


@case('mv', loose=1e-4)
def mv(g):
    kind, k = kind_of(g), g.int(1, 4)
    return [g.tensor([g.int(1, 3), k], kind), g.tensor([k], kind)], {}


@case('dot', loose=1e-4)
def dot(g):
    kind, k = kind_of(g), g.int(0, 4)
    return [g.tensor([k], kind), g.tensor([k], kind)], {}


@case('outer', 'inner', 'kron', loose=1e-4)
def outer(g):
    kind = kind_of(g)
    if 'inner' in g.spelling:
        k = g.int(1, 3)
        return [g.tensor([2, k], kind), g.tensor([3, k], kind)], {}
    return [g.tensor([g.int(0, 4)], kind), g.tensor([g.int(0, 4)], kind)], {}


def scaled(g, args):
    return args, g.some(beta=g.pick(0, 1, 2), alpha=g.pick(1, 2, -1))


@case('addmm', loose=1e-4)
def addmm(g):
    kind, n, k, m = g.pick(*REAL), g.int(1, 3), g.int(1, 3), g.int(1, 3)
    return scaled(g, [g.tensor(g.broadcast_of([n, m]), kind), g.tensor([n, k], kind), g.tensor([k, m], kind)])


@case('addmv', loose=1e-4)
def addmv(g):
    kind, n, k = g.pick(*REAL), g.int(1, 3), g.int(1, 3)
    return scaled(g, [g.tensor(g.broadcast_of([n]), kind), g.tensor([n, k], kind), g.tensor([k], kind)])


@case('baddbmm', 'addbmm', loose=1e-4)
def baddbmm(g):
    kind, b, n, k, m = g.pick(*REAL), g.int(1, 2), g.int(1, 3), g.int(1, 3), g.int(1, 3)
    lead = [b] if 'baddbmm' in g.spelling else []
    return scaled(g, [g.tensor(lead + [n, m] if g.spelling.endswith('_') else g.broadcast_of(lead + [n, m]), kind), g.tensor([b, n, k], kind), g.tensor([b, k, m], kind)])


EQUATIONS = ['ij,jk->ik', 'bij,bjk->bik', 'i,j->ij', 'ii->i', 'ii', 'ij->ji', 'ij->', 'bhqd,bhkd->bhqk', 'ij,kj',
             '...ij,...jk->...ik', 'bn,anm,bm->ba', 'ijk,ilm,njm,nlk,abc->', 'b i , b i -> b', 'nchw,cd->ndhw', 'ij,jk,kl']


@case('einsum', loose=1e-4)
def einsum(g):
    eq = g.pick(*EQUATIONS)
    size = {c: g.int(1, 3) for c in 'abcdefghijklmnopqrstuvwxyz'}
    kind, many = g.pick(*REAL), []
    for term in eq.split('->')[0].split(','):
        lead = [2] * g.chance(0.6) if '...' in term else []
        many.append(g.tensor(lead + [size[c] for c in term.replace('...', '').replace(' ', '')], kind))
    return [eq] + many, {}


@layer('Linear')
def linear_layer(g):
    n = g.int(1, 4)
    return {'in_features': n, 'out_features': g.int(1, 4), **g.some(bias=False)}, [g.tensor(g.shape(0, 3) + [n])]


@layer('Bilinear')
def bilinear_layer(g):
    return {'in1_features': 2, 'in2_features': 3, 'out_features': 2}, [g.tensor([3, 2]), g.tensor([3, 3])]


@layer('Embedding')
def embedding_layer(g):
    return {'num_embeddings': 5, 'embedding_dim': 3, **g.some(padding_idx=1)}, [g.indices(g.shape(0, 3), 5)]


# ---- recurrent layers and attention

def recurrent(name):
    def template(g):
        n, hidden, layers = g.int(1, 3), g.int(2, 3), g.int(1, 3)
        hyper = {'input_size': n, 'hidden_size': hidden, 'num_layers': layers,
                 **g.some(bidirectional=True, batch_first=True, bias=False)}
        if name == 'LSTM' and g.chance(0.25):
            hyper['proj_size'] = 1
        lead = [g.int(1, 3), 2] if g.chance(0.8) else [g.int(1, 3)]
        x = g.tensor(lead + [n], plain=True)
        if g.chance(0.6):
            return hyper, [x]
        ways = layers * (2 if hyper.get('bidirectional') else 1)
        batch = [] if len(lead) == 1 else [lead[0] if hyper.get('batch_first') else lead[1]]
        h = g.tensor([ways] + batch + [hyper.get('proj_size', hidden)], plain=True)
        return hyper, [x, tup(h, g.tensor([ways] + batch + [hidden], plain=True)) if name == 'LSTM' else h]
    layer(name)(template)


for _name in ('LSTM', 'GRU', 'RNN'):
    recurrent(_name)


@layer('RNNCell', 'GRUCell', 'LSTMCell')
def cell(g):
    lead = [2] * g.chance(0.7)
    x = g.tensor(lead + [3])
    return {'input_size': 3, 'hidden_size': 2, **g.some(bias=False)}, [x]


# ---- resampling and shuffling

@case('interpolate', loose=1e-4)
def interpolate(g):
    mode = g.pick('nearest', 'linear', 'bilinear', 'bicubic', 'trilinear', 'area', 'nearest-exact')
    rank = {'linear': 1, 'bilinear': 2, 'bicubic': 2, 'trilinear': 3}.get(mode, g.int(1, 3))
    old = 'upsample' in g.spelling
    x = g.tensor([g.int(1, 2), g.int(1, 2)] + [g.int(1, 4) for _ in range(rank)], g.pick(*REAL))
    kwargs = {'mode': mode}
    if g.chance(0.5):
        kwargs['size'] = g.int(1, 6) if g.chance(0.4) else [g.int(1, 6) for _ in range(rank)]
    else:
        kwargs['scale_factor'] = g.pick(2, 1.5, 0.5, 2.0)
        kwargs.update(g.some(recompute_scale_factor=g.chance(0.5)) if g.chance(0.4) and not old else {})
    if mode in ('linear', 'bilinear', 'bicubic', 'trilinear'):
        kwargs.update(g.some(align_corners=g.chance(0.5)))
    if mode in ('bilinear', 'bicubic') and g.chance(0.3) and not old:
        kwargs['antialias'] = True
    return [x], kwargs


@layer('Upsample')
def upsample_layer(g):
    return {'scale_factor': g.pick(2, 2.0, 1.5), 'mode': g.pick('nearest', 'bilinear')}, [image(g, 2, 2, 2, 4)]\
        if False else [g.tensor([1, 2, 3, 4])]


@layer('UpsamplingNearest2d', 'UpsamplingBilinear2d')
def upsampling_layer(g):
    return {'scale_factor': 2}, [g.tensor([1, 2, 3, 4])]


@case('pixel_shuffle', 'pixel_unshuffle')
def pixel_shuffle(g):
    r = g.int(1, 2)
    if 'unshuffle' in g.spelling:
        return [g.tensor(g.full(0, 1) + [2, 2 * r, r], g.any()), r], {}
    return [g.tensor(g.full(0, 1) + [2 * r * r, 2, 3], g.any()), r], {}


@case('channel_shuffle')
def channel_shuffle(g):
    n = g.int(1, 3)
    return [g.tensor([2, n * 2] + g.full(1, 2), g.floats()), n], {}


@case('unfold_image')
def unfold_image(g):
    return [image(g, 2, 2, 3, 5, dtype='float32'), one_or_each(g, 2, 1, 3)], g.some(
        dilation=one_or_each(g, 2, 1, 2), padding=one_or_each(g, 2, 0, 1), stride=one_or_each(g, 2, 1, 2)) if (
            'functional' in g.spelling) else dict(dilation=[1, 1], padding=[0, 0], stride=[1, 1])


@case('fold')
def fold(g):
    k, size = each(one_or_each(g, 2, 1, 2), 2), [4, 5]
    stride, padding = g.int(1, 2), g.int(0, 1)
    blocks = prod([(s + 2 * padding - b) // stride + 1 for s, b in zip(size, k)])
    rest = dict(dilation=[1, 1], padding=[padding] * 2, stride=[stride] * 2)
    return [g.tensor([2, 2 * prod(k), blocks]), size, k], rest


@layer('PixelShuffle')
def pixel_shuffle_layer(g):
    return {'upscale_factor': 2}, [g.tensor([1, 4, 2, 3])]


@layer('PixelUnshuffle')
def pixel_unshuffle_layer(g):
    return {'downscale_factor': 2}, [g.tensor([1, 2, 2, 4])]


@layer('ChannelShuffle')
def channel_shuffle_layer(g):
    return {'groups': 2}, [g.tensor([1, 4, 2, 3], grad=False)]


@layer('Unfold')
def unfold_layer(g):
    return {'kernel_size': g.int(1, 3), **g.some(stride=2, padding=1)}, [g.tensor([2, 2, 4, 5])]


@layer('Fold')
def fold_layer(g):
    return {'output_size': tup(4, 5), 'kernel_size': tup(2, 2)}, [g.tensor([1, 8, 12])]


# ---- dropout

@case('dropout', 'dropout1d', 'dropout2d', 'dropout3d', 'alpha_dropout', 'feature_alpha_dropout', 'torch_dropout',
      'feature_dropout', 'torch_alpha_dropout', 'torch_feature_alpha_dropout', random=True)
def dropout(g):
    rank = {'1d': 3, '2d': 4, '3d': 5}.get(g.spelling[-2:])
    sizes = g.shape(rank, rank) if rank else g.shape(2, 4)
    return [g.tensor(sizes, g.pick('float32', 'float64')), g.pick(0.5, 0.0, 0.3), g.chance(0.5)], {}


@case('rrelu')
def rrelu(g):
    return [g.f(1), 0.1, 0.3, False], {}


@case('stochastic_depth', random=True)
def stochastic_depth(g):
    return [g.tensor(g.shape(2, 4)), 0.5, g.pick('row', 'batch'), g.chance(0.5)], {}


@layer('Dropout', 'Dropout1d', 'Dropout2d', 'Dropout3d', 'AlphaDropout', 'FeatureAlphaDropout')
def dropout_layer(g):
    return g.some(p=0.3), [g.tensor(g.full(3, 3))]


@layer('RReLU')
def rrelu_layer(g):
    return {}, [g.f(1)]


@case('grid_sample', loose=1e-4)
def grid_sample(g):
    rank = g.pick(2, 2, 3)
    kind, n = g.pick(*REAL), g.int(1, 2)
    x = g.tensor([n, g.int(1, 2)] + [g.int(1, 4) for _ in range(rank)], kind)
    grid = g.tensor([n] + [g.int(1, 3) for _ in range(rank)] + [rank], kind, -1.4, 1.4)
    mode = g.pick('bilinear', 'nearest', 'bicubic')
    return [x, grid], {**g.some(mode=mode), **g.some(padding_mode=g.pick('zeros', 'border', 'reflection')),
                       **g.some(align_corners=g.chance(0.5))}


@case('affine_grid', loose=1e-4)
def affine_grid(g):
    rank = g.pick(2, 3)
    n = g.int(1, 2)
    return [g.tensor([n, rank, rank + 1], g.pick(*REAL)), [n, 2] + [g.int(1, 4) for _ in range(rank)]], g.some(
        align_corners=g.chance(0.5))


def bag_input(g):
    if g.chance(0.5):
        return [g.indices(g.full(2, 2), 4)], {}
    n = g.int(1, 6)
    offsets = sorted(g.int(0, n) for _ in range(g.int(1, 3)))
    offsets[0] = 0
    t = g.indices([len(offsets)], 1)
    t['t'].update(data=offsets, strides=[1], offset=0)
    return [g.indices([n], 4)], {'offsets': t}


@case('embedding_bag', loose=1e-4)
def embedding_bag(g):
    args, kwargs = bag_input(g)
    kwargs.update(g.some(mode=g.pick('sum', 'mean', 'max')))
    if kwargs.get('mode') == 'sum':
        kwargs.update(g.some(per_sample_weights=g.tensor(args[0]['t']['sizes'])))
    return args + [g.tensor([4, g.int(1, 3)])], {**kwargs, **g.some(padding_idx=g.int(0, 3))}


@layer('EmbeddingBag')
def embedding_bag_layer(g):
    args, kwargs = bag_input(g)
    return {'num_embeddings': 4, 'embedding_dim': 3, **g.some(mode=g.pick('sum', 'mean', 'max'))}, (
        args + [kwargs['offsets']] if kwargs else args)


@layer('MultiheadAttention')
def multihead_attention(g):
    heads, first = g.int(1, 2), g.chance(0.5)
    batch, targets, sources = g.int(1, 2), g.int(1, 3), g.int(1, 3)
    one = g.chance(0.2)
    hyper = {'embed_dim': 4, 'num_heads': heads, 'batch_first': first, **g.some(bias=False)}
    if g.chance(0.4):
        hyper.update(g.some(kdim=g.int(1, 5), vdim=g.int(1, 5), add_bias_kv=True, add_zero_attn=True))
    q, k, v = ([n, e] if one else [batch, n, e] if first else [n, batch, e] for n, e in (
        (targets, 4), (sources, hyper.get('kdim', 4)), (sources, hyper.get('vdim', 4))))
    return hyper, [g.tensor(q), g.tensor(k), g.tensor(v)]


@case('cdist', loose=1e-3)
def cdist(g):
    lead, n = g.full(0, 1), g.int(1, 4)
    return [g.tensor(lead + [g.int(1, 3), n]), g.tensor(lead + [g.int(1, 3), n])], g.some(p=g.pick(1.0, 2.0, 3.0, 0.0))


def unpool_arguments(g, rank):
    sizes = [g.int(1, 2)] * g.chance(0.6) + [g.int(1, 2)] + [g.int(1, 3) for _ in range(rank)]
    kernel, kwargs = g.int(1, 3), {}
    stride = g.int(1, 3) if g.chance(0.4) else kernel
    if stride != kernel:
        kwargs['stride'] = stride
    out = [(n - 1) * stride + kernel for n in sizes[-rank:]]
    if g.chance(0.3):
        out = [o + g.int(0, stride - 1) for o in out]
        kwargs['output_size'] = out
    index = g.tensor(sizes, 'int64', plain=True, grad=False)
    each = prod(sizes[-rank:])
    if prod(out) < each:
        return unpool_arguments(g, rank)
    index['t']['data'] = [i for _ in range(prod(sizes) // each) for i in g.r.sample(range(prod(out)), each)]
    return [g.tensor(sizes), index, kernel], kwargs


def unpool(rank):
    case(f'max_unpool{rank}d')(lambda g: unpool_arguments(g, rank))

    @layer(f'MaxUnpool{rank}d')
    def unpool_layer(g):
        args, kwargs = unpool_arguments(g, rank)
        kwargs.pop('output_size', None)
        return {'kernel_size': args[2], **kwargs}, args[:2]


def fractional(rank):
    @case(f'fractional_max_pool{rank}d', f'fractional_max_pool{rank}d_with_indices')
    def template(g):
        lead = [g.int(1, 2)] * g.chance(0.7) + [g.int(1, 2)]
        x = g.tensor(lead + [g.int(4, 6)] * rank, g.pick('float32', 'float64'))
        many = ([1] + lead)[-2:] + [rank]
        how = {'output_size': g.int(1, 3)} if g.chance(0.6) else {'output_ratio': g.pick(0.5, 0.4)}
        return [x, g.int(1, 2)], {**how, '_random_samples': g.tensor(many, x['t']['dtype'], 0, 0.99, plain=True, grad=False)}


for _rank in (1, 2, 3):
    unpool(_rank)
fractional(2)
fractional(3)
