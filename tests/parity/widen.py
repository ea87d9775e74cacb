"""widen.py: changes a template's call, so that calls reach what templates leave out: other dtypes, sizes of 0 and 1, other
ranks and memory layouts, every optional argument by its type, arguments that are wrong. It works from the row's schema and
knows no operator; called by parity.py for most of the cases."""
import undefined
from source import ALL, FLOATS, contiguous, prod

COMPLEX = ['complex64', 'complex128']
# Rows whose result is not defined when two elements are equal: PyTorch says so in their documentation.
DISTINCT = {'topk', 'kthvalue', 'median', 'nanmedian'}
WORDS = {'reduction': ['none', 'sum', 'mean', 'odd'], 'norm': ['ortho', 'forward', 'backward', 'odd'], 'side': ['left', 'right'],
         'padding': ['same', 'valid', 'odd'], 'padding_mode': ['zeros', 'border', 'reflection', 'circular', 'odd'],
         'nonlinearity': ['tanh', 'relu', 'odd'], 'reduce': ['sum', 'amax', 'add', 'odd'], 'p': ['fro', 'nuc', 'odd'],
         'rounding_mode': ['floor', 'trunc', 'odd'], 'ord': ['fro', 'nuc', 2, 1, -1], 'indexing': ['ij', 'xy', 'odd'],
         'mode': ['nearest', 'bilinear', 'sum', 'max', 'mean', 'constant', 'reflect', 'odd'], 'approximate': ['tanh', 'none', 'odd'],
         'UPLO': ['L', 'U'], 'equation': ['ij->ji', 'ij,', 'i->j']}
LEFT_OUT = {'out', 'generator', 'requires_grad', 'implicit', 'device', 'pin_memory', 'layout', 'has_torch_function'}


def tensors(j):
    """Every tensor of a JSON value."""
    if isinstance(j, (list, tuple)):
        return [t for x in j for t in tensors(x)]
    if not isinstance(j, dict):
        return []
    return [j['t']] if 't' in j else [t for x in j.values() for t in tensors(x)]


def real(x):
    return 0 if isinstance(x, str) else x


def converted(g, data, old, new):
    if old.startswith('complex') and not new.startswith('complex'):
        data = data[::2]
    if new.startswith('complex') and not old.startswith('complex'):
        return [p for x in data for p in (float(real(x)), g.real())]
    if new == 'bool':
        return [bool(real(x)) for x in data]
    if new in ('float16', 'bfloat16'):
        return [x if isinstance(x, str) else round(float(x) * 8) / 8 for x in data]
    if new in FLOATS or new.startswith('complex'):
        return [x if isinstance(x, str) else float(x) for x in data]
    return [abs(int(real(x))) if new == 'uint8' else int(real(x)) for x in data]


def retype(g, t, new):
    t['data'] = converted(g, t['data'], t['dtype'], new)
    t['dtype'] = new
    if new not in FLOATS + COMPLEX:
        t.pop('grad', None)


def refill(g, t, sizes, plain=False):
    """Other sizes or strides, with the elements there are."""
    parts = 2 if t['dtype'].startswith('complex') else 1
    strides, offset, n = (contiguous(sizes), 0, prod(sizes)) if plain else g.strides(sizes)
    old = t['data'] or [0] * parts
    t.update(sizes=list(sizes), strides=strides, offset=offset, data=[old[i % len(old)] for i in range(n * parts)])


def complete(args, kwargs):
    """Templates that set elements themselves know nothing of imaginary parts."""
    for t in tensors([args, list(kwargs.values())]):
        if t['dtype'].startswith('complex') and prod(t['sizes']):
            need = 2 * (t['offset'] + 1 + sum((n - 1) * s for n, s in zip(t['sizes'], t['strides'])))
            if len(t['data']) < need:
                t['data'] = [p for x in t['data'] for p in (x, 0)]


def other_dtype(g, all_tensors, row):
    new = g.pick(*ALL, *COMPLEX, 'float32', 'float64')
    one = g.pick(*all_tensors)
    for t in all_tensors:
        if t is one or (g.r.random() < 0.8 and t['dtype'] == one['dtype']):
            retype(g, t, new)


def other_sizes(g, all_tensors, row):
    """One size becomes 0, 1 or something else, in one tensor or in all."""
    one = g.pick(*all_tensors)
    if not one['sizes']:
        return
    old, new, alone = g.pick(*one['sizes']), g.pick(0, 1, 1, 2, 4), g.chance(0.3)
    for t in [one] if alone else all_tensors:
        sizes = [new if s == old and not (alone and g.chance(0.5)) else s for s in t['sizes']]
        if sizes != t['sizes'] and prod(sizes) <= 400:
            refill(g, t, sizes)


def other_rank(g, all_tensors, row):
    one = g.pick(*all_tensors)
    sizes = list(one['sizes'])
    if sizes and g.chance(0.5):
        sizes.pop(g.int(0, len(sizes) - 1))
    else:
        sizes.insert(g.int(0, len(sizes)), g.pick(1, 1, 2))
    if prod(sizes) <= 400:
        refill(g, one, sizes)


def other_layout(g, all_tensors, row):
    t = g.pick(*all_tensors)
    refill(g, t, t['sizes'])
    n = len(t['sizes'])
    if n in (4, 5) and g.chance(0.6):  # channels_last, channels_last_3d
        s = contiguous([t['sizes'][0]] + t['sizes'][2:] + [t['sizes'][1]])
        refill(g, t, t['sizes'], plain=True)
        t['strides'] = [s[0], s[-1]] + s[1:-1]


def other_grad(g, all_tensors, row):
    t = g.pick(*all_tensors)
    if t['dtype'] in FLOATS + COMPLEX and not t.pop('grad', False):
        t['grad'] = True


def like(g, first, sizes):
    t = g.tensor(sizes, first['dtype'] if first and g.chance(0.85) else g.any())
    return t


def tensor_for(g, all_tensors):
    """A tensor that may go with the first one: of its shape, of one of its dimensions, of its channels."""
    first = all_tensors[0] if all_tensors else None
    sizes = first['sizes'] if first else [2]
    return like(g, first, g.pick(sizes, sizes[-1:], sizes[1:2], sizes[:-1], [], g.broadcast_of(sizes)))


def ints(g, count):
    one = [g.int(0, 3) for _ in range(count or g.int(1, 3))]
    return g.pick(one[0], one) if count else g.pick(one, [g.int(-2, 2)])


def value_for(g, name, type_, all_tensors):
    """A value of a parameter's type, NotImplemented when there is none to try."""
    type_ = g.pick(*type_.split('|'))
    optional, type_ = type_.endswith('?'), type_.rstrip('?')
    if optional and g.chance(0.15):
        return None
    if type_ == 'str':
        return g.pick(*WORDS[name]) if name in WORDS else NotImplemented
    if type_ == 'Tensor':
        return tensor_for(g, all_tensors)
    if type_.startswith('int['):
        return ints(g, int(type_[4:-1] or 0))
    if type_ == 'memory_format':
        return {'format': g.pick('contiguous_format', 'channels_last', 'channels_last_3d', 'preserve_format')}
    choices = {'bool': (True, False), 'int': (0, 1, 2, -1, 3, -2), 'float': (0.0, 0.5, 1.0, 2, -1.5, 1e-3, True),
               'number': (0, 1, 2, 0.5, -1.5, 3.0), 'Scalar': (0, 1, 2, 0.5, -1.5, 3.0, True, {'complex': [1.0, 2.0]}),
               'dtype': [{'dtype': d} for d in ALL + ['complex64']]}.get(type_)
    return g.pick(*choices) if choices else NotImplemented


def other_option(g, args, kwargs, row):
    """Gives an optional argument that is not given."""
    if '...' in ''.join(row.types):
        taken = len(row.params) - 1 if '*' not in row.params else row.params.index('*')
    else:
        taken = len(args)
    free = [i for i, p in enumerate(row.params) if i >= taken and row.defaults[i] is not None and p not in kwargs
            and p not in LEFT_OUT and (row.name, p) not in undefined.FIXED and not p.startswith('_')]
    if not free:
        return
    i = g.pick(*free)
    value = value_for(g, row.params[i], row.types[i], tensors([args, list(kwargs.values())]))
    if value is not NotImplemented:
        if i == len(args) and g.chance(0.4) and '*' not in row.params[:i]:
            args.append(value)
        else:
            kwargs[row.params[i]] = value


def distinct(g, t):
    """Elements that differ from each other."""
    n = prod(t['sizes'])
    if t['dtype'] == 'bool' and n > 1 or t['dtype'].startswith('complex'):
        retype(g, t, 'float32')
    refill(g, t, t['sizes'])
    if 0 in t['strides']:
        refill(g, t, t['sizes'], plain=True)
    k = len(t['data'])
    if k > 256 and t['dtype'] in ('int8', 'uint8'):
        retype(g, t, 'int16')
    t['data'] = [round(i * 0.25, 3) if t['dtype'] in FLOATS else i - 128 * (t['dtype'] == 'int8') for i in range(k)]
    g.r.shuffle(t['data'])


def widen(g, args, kwargs, row):
    """Changes args and kwargs in their places, once or twice."""
    for _ in range(g.pick(1, 1, 2)):
        found = tensors([a for n, a in [*zip(row.params, args), *kwargs.items()] if (row.name, n) not in undefined.FIXED])
        rigid = any((row.name, n) in undefined.FIXED and tensors(a) for n, a in kwargs.items())
        if not found or rigid or g.chance(0.3):
            other_option(g, args, kwargs, row)
        else:
            g.pick(other_dtype, other_dtype, other_sizes, other_sizes, other_rank, other_layout, other_grad)(g, found, row)
    if row.name in DISTINCT:
        for t in tensors(args[:1]):
            distinct(g, t)


def spoil(g, args, kwargs, row):
    """Makes one argument wrong, or not. Python takes anything for a bool, and there is nothing to learn from that."""
    i = g.int(0, len(args) - 1) if args else 0
    kind = g.int(0, 6)
    owned = g.method or g.spelling.startswith('operator.i') or 'setitem' in g.spelling
    if i == 0 and owned and kind not in (0, 6) and args:  # a number's or a list's methods are Python's, not PyTorch's
        args[0] = g.tensor(g.shape(0, 4), g.any())
        return
    if 'shift' in row.name and kind != 6:  # C leaves shifts by more than the width undefined, and so does PyTorch
        return
    at = len(args) if not args or kind == 0 else i
    if at < len(row.types) and (row.types[at] in ('bool', 'bool?', 'any') or row.params[at].startswith('_')):
        return
    if '...' in ''.join(row.types) or row.name in undefined.NOT_SPOILED:  # names of lists: what stands behind them is passed over
        return
    if kind == 6:  # unknown, or given twice; what Python's functionals take for a bool is anything
        names = [p for p, t in zip(row.params[:len(args)], row.types) if p != '*' and not t.startswith('bool')]
        kwargs[g.pick('odd', *names[:1])] = g.pick(1, 'odd')
    elif not args or kind == 0:
        args.append(g.pick(7, 'odd', None))
    elif kind == 1:
        args[i] = g.pick('odd', None, 99, -7, [1, 2, 3, 4, 5])
    elif isinstance(args[i], dict) and 't' in args[i]:
        args[i] = g.tensor(g.shape(0, 4), g.any())
    elif kind == 5 and len(args) > 1:
        args.pop()
    elif isinstance(args[i], bool) or not isinstance(args[i], int):
        args.pop()
    else:
        args[i] = g.pick(-9, 9, args[i] + 1, 0.5, True)
