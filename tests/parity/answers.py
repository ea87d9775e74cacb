"""answers.py: what PyTorch does with a case: reads its JSON into tensors, calls, and writes the answer as JSON."""
import builtins
import importlib
import math
import operator
import re

import torch

import standins
import undefined

FORMATS = [('contiguous_format', torch.contiguous_format, 0), ('channels_last', torch.channels_last, 4),
           ('channels_last_3d', torch.channels_last_3d, 5)]
# Refusals that come from elements of tensors, which META does not see.
BY_VALUE = re.compile(r'out of (range|bounds)|index \d+ is|[Ii]ndices|index value|found idx|non-?zero|negative|Boolean value|'
                      r'must be non-negative|of std >= 0|smaller than num_classes|ambiguous|probabilit|p_?\b|'
                      r'q values must|positive|singular|dimension mismatch|index -?\d+|repeats|not in|expected.*between|ZeroDivision|Target|Number of elements of source|Expected all rows of lengths|failed to converge|max index|'
                      r'without overflow|Pivots given|pivots (passed|given)|INDICES element|is zero and using it|input_lengths to have value|argument #2 .targets|zero_point|offsets\[|embedding_lookup_idx|take 0 and 1 values|is not finite|weights sum to zero|expect.*device type|device type at start|positive')
# What PyTorch's own kernels lack on a CPU (we compute in float32), what its convolutions stumble over, and arguments that
# other spellings of the same row leave out.
NOT_COMPARED = re.compile(r"not (implemented|supported) for '?(Half|half|BFloat16|ComplexHalf)|Half|BFloat16|missing \d+ required pos|"
                          r'view size is not compatible with input tensor.*Use .reshape|INTERNAL ASSERT|dimname|round_vml_cpu|vector::_M_range_check|'
                          r'integer multiplication overflow|cannot be represented as a SymInt')


def resolve(spelling):
    """The object of a name, None when there is none."""
    if spelling in standins.FUNCTIONS:
        return standins.FUNCTIONS[spelling]
    try:
        found = lookup(spelling)
        return found if callable(found) else None
    except (AttributeError, KeyError, TypeError):
        return None


def lookup(spelling):
    parts = spelling.split('.')
    if parts[0] == 'Tensor':
        return getattr(torch.Tensor, parts[1])
    if parts[0] == 'builtins':
        return getattr(builtins, parts[1])
    for n in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module('.'.join(parts[:n]))
        except ImportError:
            continue
        for p in parts[n:]:
            found = getattr(found, p)
        return found
    return {'tuple': tuple, 'list': list, 'dict': dict, 'str': str, 'int': int, 'float': float,
            'slice': slice}[parts[0]].__dict__[parts[1]]


def number(x):
    return float(x) if isinstance(x, str) else x


def make_tensor(t):
    dtype = getattr(torch, t['dtype'])
    data = [number(x) for x in t['data']]
    if dtype.is_complex:
        data = [complex(a, b) for a, b in zip(data[::2], data[1::2])]
    flat = torch.tensor(data, dtype=dtype)
    strides = t.get('strides') or list(torch.empty(t['sizes']).stride())
    out = torch.empty(0, dtype=dtype).set_(flat.storage(), t.get('offset', 0), t['sizes'], strides)
    return out.requires_grad_(True) if t.get('grad') else out


def decode(j):
    if isinstance(j, list):
        return [decode(x) for x in j]
    if not isinstance(j, dict):
        return j
    (key, v), = j.items() if len(j) == 1 else [(k, v) for k, v in j.items() if k != 'name']
    if key == 't':
        return make_tensor(v)
    if key == 'tuple':
        return tuple(decode(x) for x in v)
    if key == 'size':
        return torch.Size(v)
    if key == 'slice':
        return slice(*[decode(x) for x in v])
    if key == 'dict':
        return {k: decode(x) for k, x in v.items()}
    if key == 'float':
        return float(v)
    if key == 'complex':
        return complex(*[number(x) for x in v])
    if key == 'dtype':
        return getattr(torch, v)
    if key == 'device':
        return torch.device(v)
    if key == 'format':
        return getattr(torch, v)
    if key == 'function':
        return resolve(v)
    return ...


def real(x):
    x = float(x)
    if math.isnan(x):
        return 'nan'
    return 'inf' if x == math.inf else '-inf' if x == -math.inf else x


def elements(t):
    flat = t.detach().resolve_conj().contiguous().reshape(-1)
    if flat.dtype.is_complex:
        flat = torch.view_as_real(flat.to(torch.complex128)).reshape(-1)
    if flat.dtype.is_floating_point:
        digits = 17 if t.dtype in (torch.float64, torch.complex128) else 9
        return [x if isinstance(x, str) else float(f'{x:.{digits}g}') for x in map(real, flat.double().tolist())]
    return flat.tolist()


def memory_format(t):
    for name, f, rank in FORMATS:
        if (not rank or t.dim() == rank) and t.is_contiguous(memory_format=f):
            return name
    return 'none'


def encode(v, first=None):
    if isinstance(v, torch.Tensor):
        if v.dtype is torch.complex32:
            raise NotImplementedError('Could not run: a type that PyTorch itself can hardly compute with')
        t = {'dtype': str(v.dtype)[6:], 'sizes': list(v.shape), 'strides': list(v.stride()),
             'format': memory_format(v), 'data': elements(v)}
        if v.requires_grad:
            t['grad'] = True
        t['alias'] = None if first is None else v.storage().data_ptr() == first.storage().data_ptr()
        return {'t': t}
    if isinstance(v, torch.Size):
        return {'size': list(v)}
    if isinstance(v, tuple):
        out = {'tuple': [encode(x, first) for x in v]}
        if type(v) is not tuple:
            out['name'] = f'{type(v).__module__}.{type(v).__qualname__}'
        return out
    if isinstance(v, list):
        return [encode(x, first) for x in v]
    if isinstance(v, float):
        return v if math.isfinite(v) else {'float': real(v)}
    if v is None or isinstance(v, (bool, int, str)):
        return v
    if isinstance(v, complex):
        return {'complex': [real(v.real), real(v.imag)]}
    if isinstance(v, torch.dtype):
        return {'dtype': str(v)[6:]}
    if isinstance(v, torch.device):
        return {'device': str(v)}
    if isinstance(v, slice):
        return {'slice': [v.start, v.stop, v.step]}
    raise TypeError(f'no notation for {type(v)}')


def build_layer(case):
    hyper = {k: decode(v) for k, v in case['hyper'].items()}
    for name in ('encoder_layer', 'decoder_layer'):  # the stacks are made of a layer; and of a norm, or none
        if name in hyper:
            hyper[name] = getattr(torch.nn, case['layer'] + 'Layer')(**hyper[name])
            if hyper.get('norm'):
                hyper['norm'] = torch.nn.LayerNorm(4)
    layer = standins.layer(case['layer'])(**hyper)
    return layer.train(case.get('train', False))


def layer_state(case):
    """Parameters and buffers with few digits, as the case's "state"; None when the layer can't be built."""
    layer = build_layer(case)
    with torch.no_grad():
        state = layer.state_dict()
        for v in state.values():
            if v.dtype.is_floating_point:
                v.copy_((v * 64).round() / 64)
    return {k: {'t': {'dtype': str(v.dtype)[6:], 'sizes': list(v.shape), 'data': elements(v),
                      **({'grad': True} if k in dict(layer.named_parameters()) else {})}} for k, v in state.items()}


class BadCase(Exception):
    """An argument that can't be made: the template's mistake, which is no refusal."""


def arguments_of(case):
    try:
        return [decode(a) for a in case.get('args', [])], {k: decode(v) for k, v in case.get('kwargs', {}).items()}
    except Exception as e:
        raise BadCase(f'{type(e).__name__}: {e}') from e


def call(case):
    args, kwargs = arguments_of(case)
    if 'layer' in case:
        layer = build_layer(case)
        layer.load_state_dict({k: decode(v).detach() for k, v in case['state'].items()})
        return layer(*args, **kwargs), args
    out = resolve(case['op'])(*args, **kwargs)
    if out is NotImplemented:
        raise TypeError('NotImplemented')
    return out, args


def answer(case):
    """The case's "want"; None when PyTorch's CPU lacks what we have (float16)."""
    try:
        value, args = call(case)
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        # PyTorch's conj is a view that turns signs when it is read.
        lazy = case.get('op', '').endswith(('.conj', '.adjoint')) or case.get('op') == 'builtins.getattr' and args[1] in ('H', 'mH')
        want = {'value': encode(value, None if lazy else first)}
        if case.get('writes') and first is not None:
            if any(n > 1 and s == 0 for n, s in zip(first.shape, first.stride())):
                return None  # several results for one place: nobody defines which one stays
            want['self'] = encode(first)
            if first.requires_grad and not first.dtype.is_floating_point and not first.dtype.is_complex:
                return None  # PyTorch says that integers require grad
        return want
    except NotImplementedError as e:
        return None if 'Could not run' in str(e) else {'refused': str(e)[:160]}
    except (RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError, AssertionError, ZeroDivisionError,
            OverflowError) as e:
        message = str(e).split('\n')[0][:200]
        if 'no notation' in message:
            raise
        if NOT_COMPARED.search(message):
            return None
        out = {'refused': message}
        masked = any(t['dtype'] in ('bool', 'uint8') for t in undefined.tensors(case.get('args', [])[1:]))
        scaled = 'embedding' in case.get('op', case.get('layer', '')).lower() and 'more than one element' in message
        if BY_VALUE.search(message) or scaled or masked and 'shape mismatch: value tensor' in message:
            out['by_value'] = True
        return out
