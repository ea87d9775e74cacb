"""Functions that PyTorch 1.13 lacks (standins.py computes them), and initialisers as graphs show them."""
from source import prod, tup

from . import case


def heads(g, groups):
    """query, key, value and perhaps a mask"""
    lead, n = [g.int(1, 2)] * g.chance(0.7), g.int(1, 2)
    length, source, width, kind = g.int(1, 4), g.int(1, 4), g.int(1, 4), g.pick('float32', 'float32', 'float64')
    query = g.tensor(lead + [n * (g.int(1, 3) if groups else 1), length, width], kind)
    args = [query, g.tensor(lead + [n, source, width], kind), g.tensor(lead + [n, source, g.int(1, 4)], kind)]
    kwargs = g.some(scale=g.pick(0.5, 1.0))
    if g.chance(0.3):
        kwargs['attn_mask'] = g.tensor([length, source], kind, grad=False)
    elif g.chance(0.4):
        kwargs['is_causal'] = True
    return args, kwargs


@case('scaled_dot_product_attention', loose=1e-4)
def attention(g):
    return heads(g, False)


@case('attention_of_groups', loose=1e-4)
def attention_of_groups(g):
    args, kwargs = heads(g, True)
    return args, {**kwargs, 'enable_gqa': g.chance(0.8)}


@case('unravel_index')
def unravel_index(g):
    shape = [g.int(1, 4) for _ in range(g.int(0, 3))]
    index = g.indices(g.shape(0, 2), max(prod(shape), 1), dtype=g.pick('int64', 'int32'))
    return [index, tup(*shape) if g.chance(0.8) or not shape else shape[0]], {}


@case('sym_int', 'sym_float', 'sym_not')
def sym_one(g):
    return [g.pick(g.int(-5, 5), g.real(), True)], {}


@case('sym_max', 'sym_min')
def sym_two(g):
    return [g.pick(g.int(-5, 5), g.real()), g.pick(g.int(-5, 5), g.real())], {}


@case('sym_ite')
def sym_ite(g):
    return [g.chance(0.5), g.int(0, 5), g.real()], {}


@case('check')
def check(g):
    return [g.pick(True, True, False)] + ([g.pick('said', None)] if g.chance(0.3) else []), {}


@case('assert_is_none')
def assert_is_none(g):
    return [g.pick(None, None, 1, 'text'), 'said'], {}


@case('rms_norm', loose=1e-4)
def rms_norm(g):
    x = g.tensor(g.full(1, 4), g.pick('float32', 'float64'))
    shape = x['t']['sizes'][-g.int(1, len(x['t']['sizes'])):]
    weight = [g.tensor(shape, x['t']['dtype']) if g.chance(0.7) else None] if g.chance(0.6) else []
    return [x, shape] + weight, g.some(eps=g.pick(1e-5, 0.5))


@case('drop_path', random=True)
def drop_path(g):
    x = g.tensor(g.full(1, 4), g.pick('float32', 'float64'))
    return [x, g.pick(0.0, 0.25, 1.0)], g.some(training=True, scale_by_keep=False)


@case('shape_as_tensor')
def shape_as_tensor(g):
    return [g.tensor(g.shape(), g.any())], {}


def weights(g):
    return g.tensor(g.full(2 if g.chance(0.9) else 1, 4), g.pick('float32', 'float64'), plain=True, grad=False)


@case('init_uniform', random=True)
def init_uniform(g):
    return [weights(g)], g.some(a=-1.0, b=2.5)


@case('init_normal', random=True)
def init_normal(g):
    return [weights(g)], g.some(mean=-1.0, std=2.5)


@case('init_constant')
def init_constant(g):
    return [weights(g), g.pick(0, 1.5, -2)], {}


@case('init_kaiming', random=True)
def init_kaiming(g):
    return [weights(g)], g.some(a=g.pick(0, 2.0), mode=g.pick('fan_in', 'fan_out', 'odd'), nonlinearity=g.pick('relu', 'tanh', 'leaky_relu', 'odd'))
