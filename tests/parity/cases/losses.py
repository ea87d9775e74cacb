"""Losses and distances."""
from . import case, layer

HOW = ('none', 'sum', 'mean')


def how(g):
    if g.chance(0.1):
        return g.some(size_average=g.chance(0.5), reduce=g.chance(0.5))
    return g.some(reduction=g.pick(*HOW, 'mean', 'odd'))


def two(g, low=-2, high=2):
    sizes, kind = g.full(0, 3), g.pick('float32', 'float32', 'float64')
    return [g.tensor(sizes, kind, low, high), g.tensor(sizes, kind, low, high)]


@case('mse_loss', 'l1_loss', loose=2e-5)
def difference(g):
    args = two(g)
    if g.chance(0.1):
        args[1] = g.tensor(g.broadcast_of(args[0]['t']['sizes']), args[0]['t']['dtype'])
    return args, how(g)


@case('smooth_l1_loss', loose=2e-5)
def smooth_l1(g):
    return two(g), {**how(g), **g.some(beta=g.pick(1.0, 0.5, 0.0, 2.0))}


@case('huber_loss', loose=2e-5)
def huber(g):
    return two(g), {**g.some(reduction=g.pick(*HOW)), **g.some(delta=g.pick(1.0, 0.5, 2.0))}


@case('binary_cross_entropy', loose=2e-5)
def bce(g):
    args = two(g, 0.05, 0.95)
    return args, {**how(g), **g.some(weight=g.tensor(args[0]['t']['sizes'], args[0]['t']['dtype'], grad=False))}


@case('bce_with_logits', loose=2e-5)
def bce_with_logits(g):
    args = two(g, 0.05, 0.95)
    sizes, kind = args[0]['t']['sizes'], args[0]['t']['dtype']
    return args, {**how(g), **g.some(weight=g.tensor(sizes, kind, grad=False)),
                  **g.some(pos_weight=g.tensor(sizes[-1:], kind, 0.5, 2, grad=False))}


@case('kl_div', loose=2e-5)
def kl_div(g):
    return two(g, 0.05, 1), {**g.some(reduction=g.pick(*HOW, 'batchmean')), **g.some(log_target=g.chance(0.5))}


@case('poisson_nll_loss', loose=1e-4)
def poisson(g):
    return two(g, 0.2, 3), {**g.some(log_input=False), **g.some(full=True), **g.some(reduction=g.pick(*HOW))}


@case('gaussian_nll_loss', loose=1e-4)
def gaussian(g):
    args = two(g)
    return args + [g.tensor(args[0]['t']['sizes'], args[0]['t']['dtype'], 0.5, 2)], {
        **g.some(full=True), **g.some(reduction=g.pick(*HOW))}


def signs(g, sizes, kind):
    t = g.tensor(sizes, kind, grad=False)
    t['t']['data'] = [g.pick(1, -1) for _ in t['t']['data']]
    return t


@case('soft_margin_loss', loose=2e-5)
def soft_margin(g):
    a = two(g)[0]
    return [a, signs(g, a['t']['sizes'], a['t']['dtype'])], how(g)


@case('hinge_embedding_loss', loose=2e-5)
def hinge(g):
    a = two(g)[0]
    return [a, signs(g, a['t']['sizes'], a['t']['dtype'])], {**how(g), **g.some(margin=0.5)}


@case('margin_ranking_loss', loose=2e-5)
def margin_ranking(g):
    args = two(g)
    return args + [signs(g, args[0]['t']['sizes'], args[0]['t']['dtype'])], {**how(g), **g.some(margin=0.5)}


def vectors(g, n):
    sizes = g.full(2, 2)
    return [g.tensor(sizes) for _ in range(n)]


@case('cosine_embedding_loss', loose=1e-4)
def cosine_embedding(g):
    args = vectors(g, 2)
    return args + [signs(g, args[0]['t']['sizes'][:1], 'float32')], {**how(g), **g.some(margin=0.25)}


@case('triplet_margin_loss', loose=1e-4)
def triplet(g):
    return vectors(g, 3), {**how(g), **g.some(margin=0.5), **g.some(p=g.pick(1, 2.0)), **g.some(swap=True)}


@case('cosine_similarity', loose=1e-4)
def cosine_similarity(g):
    sizes = g.full(1, 3)
    return [g.tensor(sizes), g.tensor(g.broadcast_of(sizes) if g.chance(0.3) else sizes)], {'dim': g.dim(sizes)}


@case('pairwise_distance', loose=1e-4)
def pairwise_distance(g):
    return vectors(g, 2), {**g.some(p=g.pick(1.0, 2.0, 3.0)), **g.some(keepdim=True)}


def classes(g):
    n = g.int(2, 4)
    lead = g.full(0, 1)
    tail = g.full(0, 2) if lead else []
    kind = g.pick('float32', 'float32', 'float64')
    target = g.indices(lead + tail, n)
    if g.chance(0.2) and target['t']['data']:
        target['t']['data'][0] = g.pick(-100, 0, n)
    return n, g.tensor(lead + [n] + tail, kind), target, kind


@case('nll_loss', loose=1e-4)
def nll_loss(g):
    n, x, target, kind = classes(g)
    return [x, target], {**how(g), **g.some(weight=g.tensor([n], kind, 0.5, 2, grad=False), ignore_index=g.int(0, 1))}


@case('cross_entropy', loose=1e-4)
def cross_entropy(g):
    n, x, target, kind = classes(g)
    if g.chance(0.3):
        target = g.tensor(x['t']['sizes'], kind, 0, 1)
    return [x, target], {**how(g), **g.some(weight=g.tensor([n], kind, 0.5, 2, grad=False)),
                         **g.some(label_smoothing=g.pick(0.1, 0.0, 0.5))}


def loss_layer(name, row):
    def template(g):
        args, kwargs = g.pick(*TEMPLATES[row])(g)
        allowed = {'reduction', 'margin', 'beta', 'delta', 'log_target', 'p', 'swap', 'label_smoothing', 'dim', 'keepdim'}
        kwargs = {k: v for k, v in kwargs.items() if k in allowed and v != 'odd'}
        return kwargs, args
    layer(name)(template)


TEMPLATES = {}
for _name, _row in (('MSELoss', difference), ('L1Loss', difference), ('SmoothL1Loss', smooth_l1), ('HuberLoss', huber),
                    ('BCELoss', bce), ('BCEWithLogitsLoss', bce_with_logits), ('KLDivLoss', kl_div),
                    ('SoftMarginLoss', soft_margin), ('MarginRankingLoss', margin_ranking),
                    ('HingeEmbeddingLoss', hinge), ('CosineEmbeddingLoss', cosine_embedding),
                    ('TripletMarginLoss', triplet), ('NLLLoss', nll_loss), ('CrossEntropyLoss', cross_entropy),
                    ('CosineSimilarity', cosine_similarity), ('PairwiseDistance', pairwise_distance)):
    TEMPLATES[_name] = [_row]
    loss_layer(_name, _name)


@layer('AdaptiveLogSoftmaxWithLoss')
def adaptive(g):
    cutoffs = sorted(g.r.sample(range(1, 9), g.int(1, 3)))
    n_classes, size = cutoffs[-1] + g.int(1, 4), g.int(4, 8)
    hyper = {'in_features': size, 'n_classes': n_classes, 'cutoffs': cutoffs,
             **g.some(div_value=g.pick(2.0, 1.5)), **g.some(head_bias=g.chance(0.5))}
    batch = [] if g.chance(0.2) else [g.int(0, 5)]
    target = g.indices(batch, n_classes)
    if g.chance(0.1) and target['t']['data']:
        target['t']['data'][-1] = n_classes
    return hyper, [g.tensor(batch + [size + (1 if g.chance(0.05) else 0)]), target]
