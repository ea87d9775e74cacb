"""Sizes that change in place, questions about tensors, and asarray."""
from source import dtype, prod, tup

from . import case
from .views import any_tensor

FORMATS = ('channels_last', 'contiguous_format')


def within(g, t):
    """Sizes that the elements of t suffice for: PyTorch leaves unwritten what is more."""
    t = t['t']
    room = len(t['data']) - t['offset']
    while True:
        sizes = g.shape(1, 4)
        if prod(sizes) <= room:
            return sizes


@case('resize_')
def resize_(g):
    t = any_tensor(g, 0, 4, grad=g.chance(0.1))
    sizes = t['t']['sizes'] if g.chance(0.2) and t['t']['sizes'] else within(g, t)
    if 0 in t['t']['strides'] and prod(sizes) > 1:
        sizes = [1]
    kwargs = {'memory_format': {'format': g.pick(*FORMATS)}} if g.chance(0.2) else {}
    return [t] + (list(sizes) if g.chance(0.5) else [list(sizes)]), kwargs


@case('resize_as_')
def resize_as_(g):
    t = any_tensor(g, 0, 4, grad=False)
    other = g.tensor([1] if 0 in t['t']['strides'] else within(g, t))
    kwargs = {'memory_format': {'format': g.pick('preserve_format', *FORMATS)}} if g.chance(0.3) else {}
    return [t, other], kwargs


@case('set_')
def set_(g):
    t = any_tensor(g, 0, 3, grad=False)
    if g.chance(0.15):
        return [t], {}
    return [t, g.tensor(g.shape(0, 3), t['t']['dtype'] if g.chance(0.9) else g.any())], {}


@case('is_conj', 'is_neg', 'is_inference', 'is_distributed', 'is_shared', 'has_names', 'is_pinned', 'dequantize')
def question(g):
    return [any_tensor(g)], {}


@case('reversed')
def reversed_(g):
    return [any_tensor(g, 0, 3)], {}


@case('rlshift', 'rrshift')
def shift(g):
    kind = g.pick('int64', 'int32', 'int16')
    t = g.tensor(g.shape(0, 3), kind, 0, 5)
    return [t, g.int(0, 100) if g.chance(0.5) else g.tensor(t['t']['sizes'], kind, 0, 5)], {}


@case('is_set_to')
def is_set_to(g):
    t = any_tensor(g, 0, 3)
    return [t, g.tensor(t['t']['sizes'], t['t']['dtype'])], {}


@case('broadcast_shapes')
def broadcast_shapes(g):
    sizes = g.shape()
    shapes = [g.broadcast_of(sizes) for _ in range(g.int(0, 3))]
    if g.chance(0.1):
        shapes.append([g.int(-1, 5)])
    return [s[0] if len(s) == 1 and g.chance(0.3) else tup(*s) if g.chance(0.5) else s for s in shapes], {}


@case('asarray')
def asarray(g):
    kwargs = {**g.some(dtype=dtype(g.any())), **g.some(copy=g.chance(0.7))}
    if g.chance(0.2):
        kwargs['requires_grad'] = g.chance(0.8)
    if g.chance(0.4):
        n = g.int(0, 3)
        rows = [[g.number() for _ in range(n)] for _ in range(g.int(0, 3))]
        return [g.pick(g.number(), True, rows, rows[:1] and rows[0])], kwargs
    return [any_tensor(g)], kwargs
