"""Tensors from nothing: creation, data, random numbers; and facts of tensors."""
from source import ALL, dtype, tup

from . import case

NEW = 'rand randn'


def options(g, kinds=ALL):
    out = {'dtype': dtype(g.pick(*kinds))} if g.chance(0.5) else {}
    out.update(g.some(device={'device': 'cpu'}) if g.chance(0.3) else {})
    if g.chance(0.1):
        out['requires_grad'] = True
    return out


def sizes_of(g, sizes):
    return list(sizes) if g.chance(0.5) and sizes else [list(sizes)] if g.chance(0.5) else [tup(*sizes)]


@case('zeros', 'ones')
def filled(g):
    return sizes_of(g, g.shape()), options(g)


@case('empty', 'rand', 'randn', random=True)
def unfilled(g):
    return sizes_of(g, g.shape()), options(g, ['float32', 'float64'])


@case('full')
def full(g):
    return [g.shape(), g.scalar()], options(g)


@case('zeros_like', 'ones_like')
def like(g):
    return [g.tensor(g.shape(0, 5), g.any())], options(g)


@case('empty_like', 'rand_like', 'randn_like', random=True)
def like_random(g):
    return [g.tensor(g.shape(0, 5), g.pick('float32', 'float64'))], options(g, ['float32', 'float64'])


@case('full_like')
def full_like(g):
    return [g.tensor(g.shape(0, 5), g.any()), g.scalar()], options(g)


@case('new_zeros', 'new_ones')
def new(g):
    return [g.tensor(g.shape(), g.any())] + sizes_of(g, g.shape()), options(g)


@case('new_empty', random=True)
def new_empty(g):
    if g.spelling == 'Tensor.new':  # a list would be data
        return [g.tensor(g.shape(), g.any())] + g.full(), {}
    return [g.tensor(g.shape(), g.any())] + sizes_of(g, g.full()), options(g)


@case('new_full')
def new_full(g):
    return [g.tensor(g.shape(), g.any()), g.shape(), g.scalar()], options(g)


@case('arange')
def arange(g):
    kind = g.int(0, 2)
    if kind == 0:
        return [g.pick(0, 3, 5, 2.5, 7)], options(g)
    if kind == 1:
        return [g.pick(0, 1, -2, 0.5), g.pick(3, 5, 2.5)], options(g)
    return [g.pick(0, 1, 0.5, 6), g.pick(3, 5, 2.5, -1), g.pick(1, 2, 0.5, -1, 0)], options(g)


@case('linspace')
def linspace(g):
    return [g.pick(0, 1, -1.5), g.pick(2, 3.5), g.int(0, 6)], options(g, ['float32', 'float64', 'int64'])


@case('eye')
def eye(g):
    return [g.int(0, 4)] + ([g.int(0, 4)] if g.chance(0.5) else []), options(g)


def nested(g, depth=0):
    if depth == 2 or g.chance(0.3):
        return g.pick(1, 2, -3, 0.5, True)
    inner = nested(g, depth + 1)
    return [inner for _ in range(g.int(1, 3))]


@case('tensor', 'as_tensor')
def tensor(g):
    return [nested(g)], {k: v for k, v in options(g).items() if k != 'requires_grad'}


@case('new_tensor')
def new_tensor(g):
    return [g.tensor(g.shape(), g.any()), nested(g)], {k: v for k, v in options(g).items() if k == 'dtype'}


@case('scalar_tensor')
def scalar_tensor(g):
    return [g.scalar()], options(g)


@case('randint', random=True)
def randint(g):
    return ([g.int(1, 9), g.shape()] if g.chance(0.5) else [g.int(-3, 0), g.int(1, 9), g.shape()]), (
        {'dtype': dtype(g.pick('int64', 'int32', 'float32'))} if g.chance(0.3) else {})


@case('randperm', random=True)
def randperm(g):
    return [g.int(0, 6)], {}


@case('bernoulli', random=True)
def bernoulli(g):
    t = g.tensor(g.shape(), g.pick('float32', 'float64'), 0, 1)
    return [t] + ([0.5] if g.chance(0.4) else []), {}


@case('uniform_', 'normal_', random=True)
def uniform(g):
    return [g.f(grad=False)] + ([0.0, 1.0] if g.chance(0.5) else []), {}


@case('multinomial', random=True)
def multinomial(g):
    return [g.tensor(g.pick([4], [2, 4]), 'float32', 0.1, 1), g.int(1, 4)], {}


@case('normal', random=True)
def normal(g):
    if g.chance(0.4):
        return [0.0, 1.0, g.shape()], {}
    sizes = g.shape()
    return [g.tensor(sizes, 'float32', grad=False), g.tensor(sizes, 'float32', 0.1, 1, grad=False)], {}


@case('poisson', random=True)
def poisson(g):
    return [g.tensor(g.shape(), 'float32', 0, 4)], {}


@case('random_', random=True)
def random_(g):
    t = g.tensor(g.shape(), g.numbers(), grad=False)
    return [t] + g.pick([], [5], [1, 6]), {}


@case('exponential_', random=True)
def exponential(g):
    return [g.f(grad=False)], {}


@case('randint_like', random=True)
def randint_like(g):
    return [g.tensor(g.shape(), g.numbers()), g.int(1, 9)], {}


# ---- facts

@case('size', 'stride')
def size(g):
    t = g.tensor(g.shape(), g.any())
    return [t] + ([g.dim(t['t']['sizes'])] if g.chance(0.5) else []), {}


@case('dim', 'numel', 'element_size', 'storage_offset', 'is_floating_point', 'is_complex', 'is_signed', 'is_tensor',
      'tolist')
def fact(g):
    return [g.tensor(g.shape(), g.any())], {}


@case('get_device')
def get_device(g):
    return [g.f()], {}


@case('is_contiguous')
def is_contiguous(g):
    return [g.tensor(g.shape(0, 5), g.any())], {} if g.chance(0.5) else {
        'memory_format': {'format': g.pick('contiguous_format', 'channels_last')}}


@case('item', 'index', 'int_item', 'float_item')
def item(g):
    kind = 'int64' if 'index' in g.spelling else g.any()
    return [g.tensor(g.pick([], [1], [1, 1], [2]), kind)], {}


@case('getattr')
def getattr_(g):
    t = g.tensor(g.shape(), g.any() if g.chance(0.7) else g.pick('complex64', 'complex128'))
    return [t, g.pick('shape', 'dtype', 'device', 'ndim', 'T', 'mT', 'H', 'is_cuda', 'requires_grad', 'data',
                      'is_leaf', 'real', 'imag', 'retains_grad', 'is_xpu', 'is_sparse', 'is_quantized', 'nothing')], {}


@case('hasattr')
def hasattr_(g):
    return [g.f(), g.pick('shape', 'nothing')], {}


@case('isinstance')
def isinstance_(g):
    return [g.pick(g.f(), 3, 0.5, True, 'a', [1], tup(1)), {'function': g.pick('torch.Tensor', 'builtins.int',
                                                                              'builtins.float', 'builtins.tuple')}], {}


@case('assert')
def assert_(g):
    return [g.pick(True, 1, False), 'the reason'], {}


@case('promote_types', 'result_type', 'can_cast')
def promote_types(g):
    if 'result_type' in g.spelling:
        pair = [g.tensor(g.shape(), g.any()), g.tensor(g.shape(), g.any())]
        if g.chance(0.4):
            pair[g.int(0, 1)] = g.scalar()
        return pair, {}
    return [dtype(g.pick(*ALL)), dtype(g.pick(*ALL))], {}


@case('is_same_size')
def is_same_size(g):
    sizes = g.shape()
    return [g.tensor(sizes, g.any()), g.tensor(sizes if g.chance(0.5) else g.broadcast_of(sizes), g.any())], {}


@case('is_nonzero')
def is_nonzero(g):
    return [g.tensor(g.pick([], [1], [1, 1], [2], [0]), g.any(), 0, 1)], {}
