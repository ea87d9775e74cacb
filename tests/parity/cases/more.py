"""Signals, losses with margins and of sequences, and what is composed of other functions."""
from source import dtype, tup

from . import case, layer

TYPES = ['float32', 'float64', 'complex64', 'complex128']


def norm_of(g):
    return g.pick(None, 'ortho', 'forward', 'backward', 'half' if g.chance(0.1) else None)


@case('fft_hfft', 'fft_ihfft', loose=2e-4)
def hfft(g):
    types = TYPES[:2] if 'ihfft' in g.spelling else TYPES
    return [g.tensor(g.full(1, 3), g.pick(*types))], {**g.some(n=g.int(1, 6)), **g.some(dim=-1), 'norm': norm_of(g)}


@case('fft_hfft2', 'fft_hfftn', 'fft_ihfft2', 'fft_ihfftn', loose=2e-4)
def hfftn(g):
    types = TYPES[:2] if 'ihfft' in g.spelling else TYPES
    return [g.tensor(g.full(2, 3), g.pick(*types))], {**g.some(s=[g.int(2, 5), g.int(2, 5)]), 'norm': norm_of(g)}


@case('fft_fftfreq', 'fft_rfftfreq', loose=2e-5)
def fftfreq(g):
    return [g.int(1, 9)] + ([g.pick(0.5, 2.0)] if g.chance(0.5) else []), g.some(dtype=dtype('float64'))


@case('fft_fftshift', 'fft_ifftshift')
def fftshift(g):
    t = g.tensor(g.shape(1, 3), g.any())
    return [t] + ([g.dims(t['t']['sizes']) or [0]] if g.chance(0.5) else []), {}


@case('stft', loose=5e-4)
def stft(g):
    n, type_ = g.int(2, 6), g.pick('float32', 'float64', 'complex64')
    kwargs = g.some(hop_length=g.int(1, 3), center=False, normalized=True)
    if g.chance(0.5):
        kwargs['win_length'] = g.int(1, n)
    if g.chance(0.6):
        kwargs['window'] = g.tensor([kwargs.get('win_length', n)], 'float64' if type_ == 'float64' else 'float32', grad=False)
    if type_.startswith('float') and g.chance(0.3):
        kwargs['onesided'] = g.chance(0.5)
    lead = [g.int(1, 2)] if g.chance(0.6) else []
    return [g.tensor(lead + [n + g.int(2, 8)], type_), n], {**kwargs, 'return_complex': type_ == 'complex64' or g.chance(0.6)}


@case('istft', loose=1e-3)
def istft(g):
    n = g.pick(4, 6)
    kwargs = {'hop_length': g.int(1, 2), **g.some(normalized=True)}
    return [g.tensor(([g.int(1, 2)] if g.chance(0.5) else []) + [n // 2 + 1, g.int(4, 6)], g.pick('complex64', 'complex128')), n], kwargs


def reduction(g):
    return g.some(reduction=g.pick('none', 'mean', 'sum', 'most' if g.chance(0.1) else 'none'))


def classes(g):
    n, c = g.int(1, 3), g.int(1, 4)
    return ([n, c], [n], c) if g.chance(0.8) else ([c], [] if g.chance(0.5) else [1], c)


@case('multi_margin_loss', loose=1e-4)
def multi_margin(g):
    sizes, target, c = classes(g)
    x = g.tensor(sizes, g.pick('float32', 'float64'))
    kwargs = {**g.some(p=g.pick(1, 2, 3), margin=g.pick(0.5, 2.0)), **reduction(g)}
    if g.chance(0.3):
        kwargs['weight'] = g.tensor([c], x['t']['dtype'], grad=False)
    return [x, g.indices(target, c)], kwargs


def labels_of(g, sizes):
    t = g.tensor(sizes, 'int64', plain=True)
    t['t']['data'] = [g.int(-1, sizes[-1] - 1) for _ in t['t']['data']]
    return t


@case('multilabel_margin_loss', loose=1e-4)
def multilabel_margin(g):
    sizes = g.full(1, 2)
    return [g.tensor(sizes, g.pick('float32', 'float64')), labels_of(g, sizes)], reduction(g)


@case('multilabel_soft_margin_loss', loose=1e-4)
def multilabel_soft_margin(g):
    sizes, type_ = g.full(1, 3), g.pick('float32', 'float64')
    kwargs = {'weight': g.tensor(sizes[-1:], type_, grad=False)} if g.chance(0.3) else {}
    return [g.tensor(sizes, type_), g.tensor(sizes, type_, 0, 1)], {**kwargs, **reduction(g)}


@case('triplet_margin_with_distance_loss', loose=1e-4)
def triplet_distance(g):
    sizes = g.full(1, 2)
    return [g.tensor(sizes) for _ in range(3)], {**g.some(margin=0.5, swap=True), **reduction(g)}


@layer('MultiMarginLoss')
def multi_margin_layer(g):
    args, kwargs = multi_margin(g)
    kwargs.pop('weight', None)
    return kwargs, args


@layer('MultiLabelMarginLoss')
def multilabel_margin_layer(g):
    args, kwargs = multilabel_margin(g)
    return kwargs, args


@layer('MultiLabelSoftMarginLoss')
def multilabel_soft_margin_layer(g):
    args, kwargs = multilabel_soft_margin(g)
    kwargs.pop('weight', None)
    return kwargs, args


@layer('TripletMarginWithDistanceLoss')
def triplet_distance_layer(g):
    args, kwargs = triplet_distance(g)
    return kwargs, args


def ctc_arguments(g):
    times, batch, c, most = g.int(2, 7), g.int(1, 3), g.int(2, 4), g.int(1, 3)
    lengths = [g.int(0 if g.chance(0.1) else 1, most) for _ in range(batch)]
    joined = g.chance(0.4)
    targets = g.tensor([sum(lengths)] if joined else [batch, most], 'int64', plain=True)
    targets['t']['data'] = [g.int(1, c - 1) for _ in targets['t']['data']]
    kind = g.int(0, 1)
    pair = [[g.int(1, times) for _ in range(batch)], lengths]
    if kind:
        pair = [dict(t=dict(dtype='int64', sizes=[batch], strides=[1], offset=0, data=x)) for x in pair]
    else:
        pair = [tup(*x) for x in pair]
    return [g.tensor([times, batch, c], g.pick('float32', 'float64'), -3, 0), targets] + pair


@case('ctc_loss', loose=1e-3)
def ctc(g):
    return ctc_arguments(g), {**reduction(g), **g.some(zero_infinity=g.chance(0.5))}


@case('torch_ctc_loss', loose=1e-3)
def torch_ctc(g):
    return ctc_arguments(g) + [0, g.int(0, 2)], g.some(zero_infinity=g.chance(0.5))


@layer('CTCLoss')
def ctc_layer(g):
    return {**reduction(g), **g.some(zero_infinity=True)}, ctc_arguments(g)


@case('ldexp', loose=1e-4)
def ldexp(g):
    sizes = g.shape()
    return [g.tensor(sizes, g.any()), g.tensor(g.broadcast_of(sizes), g.pick('int64', 'int32', 'float32'))], {}


@case('isreal', 'msort')
def one_tensor(g):
    return [g.tensor(g.shape(0 if 'msort' not in g.spelling else 1), g.any() if g.chance(0.8) or 'msort' in g.spelling else 'complex64')], {}


@case('isin')
def isin(g):
    type_ = g.numbers()
    a, b = g.tensor(g.shape(), type_), g.tensor(g.shape(0, 2), type_)
    return ([a, 1] if g.chance(0.2) else [1, b] if g.chance(0.2) else [a, b]), g.some(invert=True)


@case('trace')
def trace(g):
    return [g.tensor(g.shape(2, 2) if g.chance(0.9) else g.shape(), g.pick('float32', 'float64', 'int64', 'int32'))], {}


@case('narrow_copy')
def narrow_copy(g):
    t = g.tensor(g.shape(1), g.any())
    sizes = t['t']['sizes']
    d = g.dim(sizes)
    start = g.int(0, sizes[d])
    return [t, d, start, g.int(0, sizes[d] - start)], {}


@case('sum_to_size', loose=1e-4)
def sum_to_size(g):
    sizes = g.full(0, 4)
    return [g.tensor(sizes, g.pick('float32', 'int64')), g.broadcast_of(sizes)], {}


@case('renorm', loose=1e-4)
def renorm(g):
    t = g.tensor(g.full(2, 3), g.pick('float32', 'float64'))
    return [t, g.pick(1, 2, 3.0), g.dim(t['t']['sizes']), g.pick(0.5, 1.0, 3)], {}


@case('cumulative_trapezoid', loose=1e-4)
def cumulative_trapezoid(g):
    y = g.tensor(g.full(1, 3))
    sizes = y['t']['sizes']
    if g.chance(0.5):
        return [y], {**g.some(dx=g.pick(2, 0.5)), **g.some(dim=g.dim(sizes))}
    return [y, g.tensor(sizes)], {}


@case('addr', loose=1e-4)
def addr(g):
    n, m, type_ = g.int(1, 4), g.int(1, 4), g.pick('float32', 'float64', 'int64')
    return [g.tensor([n, m] if g.chance(0.6) else [m], type_), g.tensor([n], type_), g.tensor([m], type_)], g.some(
        beta=g.pick(0, 2), alpha=g.pick(2, 3))


@case('kron', loose=1e-4)
def kron(g):
    return [g.tensor(g.full(0, 2), g.pick('float32', 'int64')), g.tensor(g.full(0, 2), g.pick('float32', 'float64'))], {}


@case('tensordot', loose=1e-4)
def tensordot(g):
    n, m, type_ = g.int(1, 3), g.int(1, 3), g.pick('float32', 'float64')
    a = g.tensor([g.int(1, 3), n, m], type_)
    if g.chance(0.5):
        return [a, g.tensor([n, m, g.int(1, 3)], type_)], {} if g.chance(0.5) else {'dims': 2}
    return [a, g.tensor([m, g.int(1, 3), n], type_), [[1, 2], [2, 0]]], {}


@case('linalg_vander')
def linalg_vander(g):
    return [g.tensor(g.full(1, 3), g.pick('float32', 'float64', 'int64', 'int32'))], g.some(N=g.int(1, 4))


@case('vander')
def vander(g):
    return [g.tensor([g.int(0, 4)], g.pick('float32', 'float64', 'int64', 'int32'))], g.some(N=g.int(0, 4), increasing=g.chance(0.5))


@case('cross', 'linalg_cross', loose=1e-4)
def cross(g):
    sizes = g.full(1, 3)
    d = g.int(0, len(sizes) - 1)
    sizes[d] = 3 if g.chance(0.95) else 2
    type_ = g.numbers()
    return [g.tensor(sizes, type_), g.tensor(sizes, type_)], {'dim': d - len(sizes) if g.chance(0.3) else d}


@case('diagflat')
def diagflat(g):
    return [g.tensor(g.shape(0, 2), g.any())] + ([g.int(-2, 2)] if g.chance(0.5) else []), {}


@case('index_reduce', loose=1e-4)
def index_reduce(g):
    sizes = g.full(1, 3)
    d, n = g.int(0, len(sizes) - 1), g.int(1, 3)
    source = sizes[:d] + [n] + sizes[d + 1:]
    return [g.tensor(sizes, plain=True, grad=False), d, g.indices([n], sizes[d]), g.tensor(source, grad=False),
            g.pick('prod', 'mean', 'amax', 'amin', 'most' if g.chance(0.1) else 'amin')], g.some(include_self=g.chance(0.5))


@case('conv_tbc', loose=1e-4)
def conv_tbc(g):
    c, o = g.int(1, 3), g.int(1, 3)
    return [g.tensor([g.int(3, 5), g.int(1, 2), c]), g.tensor([g.int(1, 3), c, o]), g.tensor([o])] + ([g.int(0, 2)] if g.chance(0.5) else []), {}


@case('gumbel_softmax', random=True)
def gumbel_softmax(g):
    t = g.tensor(g.full(1, 3))
    return [t], g.some(tau=g.pick(0.5, 2), hard=g.chance(0.5), dim=g.dim(t['t']['sizes']))
