"""What views show, copied."""
from . import case
from .views import any_tensor, permute, regroup, select, squeeze, transpose, unsqueeze


@case('alias_copy', 'detach_copy')
def whole(g):
    return [any_tensor(g)], {}


@case('t_copy')
def t_copy(g):
    return [any_tensor(g, 0, 3 if g.chance(0.1) else 2)], {}


@case('view_copy')
def view_copy(g):
    t = any_tensor(g, plain=g.chance(0.6))
    if g.chance(0.15):
        return [t, {'dtype': g.pick('float32', 'int32', 'int64', 'uint8')}], {}
    return [t, regroup(g, t['t']['sizes'])], {}


@case('expand_copy')
def expand_copy(g):
    sizes = g.shape()
    return [g.tensor(g.broadcast_of(sizes), g.any()), [-1 if g.chance(0.1) else s for s in sizes]], g.some(implicit=g.chance(0.5))


case('permute_copy')(permute)
case('transpose_copy')(transpose)
case('squeeze_copy')(squeeze)
case('unsqueeze_copy')(unsqueeze)
case('select_copy')(select)


@case('slice_copy')
def slice_copy(g):
    t = any_tensor(g, 1)
    sizes = t['t']['sizes']
    d = g.dim(sizes)
    n = sizes[d] + 1
    return [t, d, g.int(-n, n), g.int(-n, n), g.int(1, 3)], {}


@case('diagonal_copy')
def diagonal_copy(g):
    t = any_tensor(g, 2, 4)
    sizes = t['t']['sizes']
    return [t] + [g.int(-2, 2), g.dim(sizes), g.dim(sizes)][:g.pick(0, 1, 3)], {}


@case('unfold_copy')
def unfold_copy(g):
    t = any_tensor(g, 0, 3)
    sizes = t['t']['sizes']
    d = g.dim(sizes)
    return [t, d, g.int(0, (sizes[d] if sizes else 1) + (1 if g.chance(0.1) else 0)), g.int(1, 3)], {}


@case('as_strided_copy')
def as_strided_copy(g):
    sizes = g.shape(0, 3)
    strides = [g.int(0, 2) for _ in sizes]
    need = 2 + sum((s - 1) * t for s, t in zip(sizes, strides) if s)
    return [g.tensor([need + g.int(0, 3)], g.any(), plain=True), sizes, strides] + ([g.int(0, 1)] if g.chance(0.4) else []), {}


@case('view_as_real_copy')
def view_as_real_copy(g):
    return [g.tensor(g.shape(0, 3), g.pick('complex64', 'complex128'))], {}


@case('view_as_complex_copy')
def view_as_complex_copy(g):
    return [g.tensor(g.shape(0, 2) + [2 if g.chance(0.95) else 3], g.pick('float32', 'float64'), plain=g.chance(0.7))], {}


@case('split_copy', 'split_with_sizes_copy')
def split_copy(g):
    t = any_tensor(g, 1)
    sizes = t['t']['sizes']
    d = g.dim(sizes)
    if 'sizes' in g.spelling:
        first = g.int(0, sizes[d])
        return [t, [first, sizes[d] - first + (1 if g.chance(0.1) else 0)], d], {}
    return [t, g.int(1, 4), d], {}


@case('unbind_copy')
def unbind_copy(g):
    t = any_tensor(g, 0 if g.chance(0.1) else 1)
    return [t] + ([g.dim(t['t']['sizes'])] if g.chance(0.7) else []), {}
