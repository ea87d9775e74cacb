"""Losses whose reduction is a number."""
from . import case
from .losses import signs, two, vectors


def number(g):
    return g.pick(0, 1, 2, 1, 2, 7)


def less(g):
    """A reduction, by position or by its name, or none."""
    return g.some(reduction=number(g))


@case('torch_margin_ranking_loss', loose=2e-5)
def margin_ranking(g):
    args = two(g)
    return args + [signs(g, args[0]['t']['sizes'], args[0]['t']['dtype'])], {**less(g), **g.some(margin=0.5)}


@case('torch_cosine_embedding_loss', loose=1e-4)
def cosine_embedding(g):
    args = vectors(g, 2)
    return args + [signs(g, args[0]['t']['sizes'][:1], 'float32')], {**less(g), **g.some(margin=0.25)}


@case('torch_hinge_embedding_loss', loose=2e-5)
def hinge(g):
    a = two(g)[0]
    return [a, signs(g, a['t']['sizes'], a['t']['dtype'])], {**less(g), **g.some(margin=0.5)}


@case('torch_triplet_margin_loss', loose=1e-4)
def triplet(g):
    return vectors(g, 3), {**less(g), **g.some(margin=0.5), **g.some(p=g.pick(1, 2.0)), **g.some(swap=True)}


@case('torch_kl_div', loose=2e-5)
def kl_div(g):
    return two(g, 0.05, 1), {**less(g), **g.some(log_target=g.chance(0.5))}


@case('torch_poisson_nll_loss', loose=1e-4)
def poisson(g):
    return two(g, 0.2, 3) + [g.chance(0.7), g.chance(0.3), 1e-8, number(g)], {}


@case('torch_bce_with_logits', loose=2e-5)
def bce_with_logits(g):
    args = two(g, 0.05, 0.95)
    sizes, kind = args[0]['t']['sizes'], args[0]['t']['dtype']
    if g.chance(0.2):
        args[0] = g.tensor(g.broadcast_of(sizes), kind)
    return args, {**less(g), **g.some(weight=g.tensor(sizes, kind, grad=False)),
                  **g.some(pos_weight=g.tensor(sizes[-1:], kind, 0.5, 2, grad=False))}


@case('torch_embedding')
def embedding(g):
    n = g.int(1, 5)
    index = g.indices(g.shape(0, 3), n, dtype=g.pick('int64', 'int32'))
    return [g.tensor([n, g.size()], g.any()), index] + ([g.int(-1, n)] if g.chance(0.3) else []), {}


@case('torch_instance_norm', loose=1e-3)
def instance_norm(g):
    sizes = [g.int(1, 3), g.int(1, 3)] + [g.int(2, 4) for _ in range(g.int(1, 2))]
    c, type_ = sizes[1:2], g.pick('float32', 'float32', 'float64')
    own = g.chance(0.6)

    def maybe(low=-2.0, sure=False):
        return g.tensor(c, type_, low, 2, grad=False, plain=True) if sure or g.chance(0.5) else None
    mean = maybe(sure=not own)
    return [g.tensor(sizes, type_), maybe(), maybe(), mean, maybe(0.5, True) if mean else None, own, 0.1, g.pick(1e-5, 0.1), g.chance(0.5)], {}
