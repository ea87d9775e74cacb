"""einops: axes rearranged, reduced and repeated by a pattern such as 'b c (h p) -> b h (c p)'.
Every operation is at most one reshape, one permute, one reduction, one expand and one reshape."""
import functools
import math

__version__ = '0.6.0'


class EinopsError(RuntimeError):
    pass


_ELLIPSIS = '…'


def _parse_side(text):
    """'b (h w) c' -> [['b'], ['h', 'w'], ['c']]; 1 is the empty group."""
    groups, inside = [], None
    text = text.replace('...', f' {_ELLIPSIS} ').replace('(', ' ( ').replace(')', ' ) ')
    for word in text.split():
        if word == '(':
            if inside is not None:
                raise EinopsError('brackets are one level deep')
            inside = []
        elif word == ')':
            if inside is None:
                raise EinopsError('brackets are not balanced')
            groups.append(inside)
            inside = None
        elif word == '1':
            if inside is None:
                groups.append([])
        elif word.isdigit() or word.isidentifier() or word == _ELLIPSIS:
            (groups.append([word]) if inside is None else inside.append(word))
        else:
            raise EinopsError(f'invalid axis name: {word}')
    if inside is not None:
        raise EinopsError('brackets are not balanced')
    return groups


@functools.lru_cache(256)
def _parse(pattern):
    if pattern.count('->') != 1:
        raise EinopsError(f"pattern {pattern!r} must hold one '->'")
    left, right = (_parse_side(side) for side in pattern.split('->'))
    for side in (left, right):
        names = [a for group in side for a in group if not a.isdigit()]
        if len(set(names)) != len(names):
            raise EinopsError(f'an axis stands twice on one side of {pattern!r}')
    return left, right


def _spread(groups, rank_of_rest):
    """Puts the axes that '...' stands for in its place."""
    rest = [f'{_ELLIPSIS}{i}' for i in range(rank_of_rest)]
    made = []
    for group in groups:
        if group == [_ELLIPSIS]:
            made += [[name] for name in rest]
        else:
            made.append([name for axis in group
                         for name in (rest if axis == _ELLIPSIS else [axis])])
    return made


def _sizes(left, shape, given, pattern):
    """The size of each elementary axis."""
    sizes = dict(given)
    for group, size in zip(left, shape):
        known = math.prod(sizes[a] for a in group if a in sizes)
        open_axes = [a for a in group if a not in sizes]
        if len(open_axes) > 1:
            raise EinopsError(f'could not infer sizes for {set(open_axes)} in {pattern!r}')
        if open_axes:
            if isinstance(size, int) and known and size % known:
                raise EinopsError(f"shape mismatch, can't divide axis of length {size} in chunks "
                                  f'of {known} ({pattern!r})')
            sizes[open_axes[0]] = size // known if known != 1 else size
        elif isinstance(size, int) and known != size:
            raise EinopsError(f'shape mismatch, {size} != {known} ({pattern!r})')
    return sizes


def _reduce_axes(tensor, reduction, axes):
    if callable(reduction):
        return reduction(tensor, tuple(axes))
    if reduction == 'prod':
        for axis in sorted(axes, reverse=True):
            tensor = tensor.prod(axis)
        return tensor
    return getattr(tensor, {'max': 'amax', 'min': 'amin'}.get(reduction, reduction))(tuple(axes))


def _transform(tensor, pattern, reduction, given):
    import torch
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(tuple(tensor))
    left, right = _parse(pattern)
    shape = tuple(tensor.shape)
    has_rest = any(_ELLIPSIS in group for group in left)
    rest = len(shape) - len(left) + 1 if has_rest else 0
    if rest < 0 or (not has_rest and len(left) != len(shape)):
        raise EinopsError(f'expected {len(left)} dimensions, got {len(shape)} ({pattern!r})')
    left, right = _spread(left, rest), _spread(right, rest)
    inner = [a for group in left for a in group]
    outer = [a for group in right for a in group]
    sizes = _sizes(left, shape, given, pattern)
    new = [a for a in outer if a not in inner]
    for axis in new:
        if axis.isdigit():
            sizes[axis] = int(axis)
        if reduction != 'repeat' or axis not in sizes:
            raise EinopsError(f'axis {axis!r} stands only on the right of {pattern!r}')
    gone = [a for a in inner if a not in outer]
    if gone and reduction in ('rearrange', 'repeat'):
        raise EinopsError(f'axes {set(gone)} stand only on the left of {pattern!r}')
    if inner != [g[0] if len(g) == 1 else None for g in left] or [] in left:
        tensor = tensor.reshape([sizes[a] for a in inner])
    if gone:
        tensor = _reduce_axes(tensor, reduction, [inner.index(a) for a in gone])
        inner = [a for a in inner if a not in gone]
    order = [inner.index(a) for a in outer if a in inner]
    if order != list(range(len(order))):
        tensor = tensor.permute(order)
    if new:
        for i, axis in enumerate(outer):
            if axis in new:
                tensor = tensor.unsqueeze(i)
        tensor = tensor.expand([sizes[a] for a in outer])
    if outer != [g[0] if len(g) == 1 else None for g in right] or [] in right:
        tensor = tensor.reshape([math.prod(sizes[a] for a in group) if group else 1
                                 for group in right])
    return tensor


def rearrange(tensor, pattern, **axes_lengths):
    return _transform(tensor, pattern, 'rearrange', axes_lengths)


def reduce(tensor, pattern, reduction, **axes_lengths):
    return _transform(tensor, pattern, reduction, axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return _transform(tensor, pattern, 'repeat', axes_lengths)


def einsum(*tensors_and_pattern):
    """Axes have names of any length here; torch wants letters."""
    import torch
    *tensors, pattern = tensors_and_pattern
    letters = {}

    def short(side):
        return ''.join('...' if word == '...' else
                       letters.setdefault(word, chr(ord('a') + len(letters)))
                       for word in side.split())
    left, right = pattern.split('->')
    text = ','.join(short(side) for side in left.split(',')) + '->' + short(right)
    return torch.einsum(text, *tensors)


def parse_shape(x, pattern):
    names = pattern.split()
    if len(names) != len(x.shape):
        raise EinopsError(f'{pattern!r} has {len(names)} axes, the tensor {len(x.shape)}')
    return {name: size for name, size in zip(names, x.shape) if name != '_'}


def pack(tensors, pattern):
    """Tensors of several shapes in one, by flattening what '*' stands for."""
    import torch
    names = pattern.split()
    at, after = names.index('*'), len(names) - names.index('*') - 1
    shapes, flat = [], []
    for tensor in tensors:
        shape = tuple(tensor.shape)
        packed = shape[at:len(shape) - after]
        shapes.append(packed)
        flat.append(tensor.reshape((*shape[:at], -1, *shape[len(shape) - after:])))
    return torch.cat(flat, dim=at), shapes


def unpack(tensor, packed_shapes, pattern):
    names = pattern.split()
    at = names.index('*')
    lengths = [math.prod(shape) for shape in packed_shapes]
    shape = tuple(tensor.shape)
    parts = tensor.split(lengths, dim=at)
    return [part.reshape((*shape[:at], *packed, *shape[at + 1:]))
            for part, packed in zip(parts, packed_shapes)]


def asnumpy(tensor):
    return tensor.numpy()


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    from fxfront.missing import Missing, MissingPackage
    return Missing(f'einops.{name}', MissingPackage,
                   'einops is not installed, and its stand-in has no such function')
