"""Operators that work element by element."""
from source import ALL, FLOATS, INTS, dtype, shape_of

from . import case, layer

WIDE = 'exp expm1 sin cos tan sinh cosh tanh atan asinh erf erfc sigmoid deg2rad rad2deg exp2'.split()
POSITIVE = 'log log2 log10 sqrt rsqrt reciprocal log1p lgamma digamma'.split()
UNIT = 'asin acos atanh erfinv'.split()
PLAIN = 'abs neg sign sgn square floor ceil trunc frac positive isnan isinf isfinite signbit isposinf isneginf logical_not'


def odd_values(g, t):
    """Puts nan and infinities in."""
    data = t['t']['data']
    if t['t']['dtype'] in FLOATS and data and g.chance(0.15):
        data[g.int(0, len(data) - 1)] = g.pick('nan', 'inf', '-inf')
    return t


@case(*WIDE, *PLAIN.split(), 'bitwise_not', loose=2e-5)
def unary(g):
    return [odd_values(g, g.tensor(g.shape(), g.any()))], {}


@case(*POSITIVE, loose=2e-5)
def unary_positive(g):
    return [g.tensor(g.shape(), g.any(), 0.1, 4)], {}


@case(*UNIT, loose=2e-5)
def unary_unit(g):
    return [g.tensor(g.shape(), g.any(), -0.9, 0.9)], {}


@case('acosh')
def unary_above(g):
    return [g.tensor(g.shape(), g.any(), 1.1, 4)], {}


@case('round')
def rounding(g):
    return [g.tensor(g.shape(), g.any(), -9, 9)], g.some(decimals=g.int(-1, 2)) if g.chance(0.3) else {}


@case('logit')
def logit(g):
    return [g.tensor(g.shape(), g.floats(), 0.1, 0.9)], {}


def pair(g, low=-3.0, high=3.0, types=None, both=False):
    """Two operands that broadcast: tensors, tensors without dimensions, numbers."""
    sizes = g.shape()
    a, b = sizes, g.broadcast_of(sizes)
    if g.chance(0.3):
        a, b = b, a
    kind = g.r.random()
    types = types or ALL
    one, two = g.pick(*types), g.pick(*types)
    if g.chance(0.5):
        two = one
    if kind < 0.1:
        b = []
    if kind > 0.7 and not both:
        value = g.scalar()
        if types == INTS + ['bool']:
            value = int(value)
        if low > 0:
            value = abs(value) or 2
        return [g.tensor(a, one, low, high), value]
    return [g.tensor(a, one, low, high), g.tensor(b, two, low, high)]


@case('add', 'sub', 'rsub')
def sums(g):
    args = pair(g)
    if g.spelling.startswith('operator') and g.chance(0.3) and not g.spelling.startswith('operator.i'):
        args.reverse()
    if 'operator' in g.spelling or '__' in g.spelling:
        return args, {}
    return args, g.some(alpha=g.pick(1, 2, -3, 0.5)) if g.chance(0.4) else {}


@case('mul', 'eq', 'ne', 'lt', 'le', 'gt', 'ge')
def symmetric(g):
    args = pair(g)
    if g.spelling.startswith('operator') and g.chance(0.3) and not g.spelling.startswith('operator.i'):
        args.reverse()
    return args, {}


@case('div', 'rdiv', 'floor_divide', 'rfloor_divide', 'remainder', 'rremainder', 'fmod', loose=1e-4)
def divisions(g):
    args = pair(g, 0.5, 5)
    if g.spelling.startswith('operator') and g.chance(0.3) and not g.spelling.startswith('operator.i'):
        args.reverse()
    if g.spelling in ('torch.div', 'Tensor.div', 'torch.divide', 'Tensor.divide') and g.chance(0.4):
        return args, {'rounding_mode': g.pick('floor', 'trunc', None, 'floor', 'up')}
    return args, {}


@case('pow', 'rpow', loose=1e-4)
def powers(g):
    args = pair(g, 0.5, 3)
    if g.spelling.startswith('operator') and g.chance(0.3) and not g.spelling.startswith('operator.i'):
        args.reverse()
    return args, {}


@case('maximum', 'minimum', 'fmax', 'fmin', 'atan2', 'hypot', 'logical_and', 'logical_or', 'logical_xor')
def tensors_only(g):
    return pair(g, both=True), {}


@case('copysign')
def copysign(g):
    return pair(g, 0.5, 3), {}


@case('bitwise_and', 'bitwise_or', 'bitwise_xor')
def bits(g):
    args = pair(g, 0, 7, INTS + ['bool'])
    if g.spelling in ('operator.and_', 'operator.or_', 'operator.xor') and g.chance(0.3):
        args.reverse()
    return args, {}


@case('shift_left', 'shift_right')
def shifts(g):
    return pair(g, 1, 5, INTS), {}


@case('where')
def where(g):
    sizes = g.shape()
    one = g.any()
    two = one if g.chance(0.8) else g.any()
    a = g.tensor(g.broadcast_of(sizes), one) if g.chance(0.85) else g.scalar()
    b = g.tensor(g.broadcast_of(sizes), two) if g.chance(0.85) else g.scalar()
    return [g.tensor(g.broadcast_of(sizes), 'bool'), a, b], {}


@case('where_method')
def where_method(g):
    sizes = g.shape()
    one = g.any()
    return [g.tensor(sizes, one), g.tensor(g.broadcast_of(sizes), 'bool'), g.tensor(g.broadcast_of(sizes), one)], {}


@case('masked_fill')
def masked_fill(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any())
    value = g.scalar() if g.chance(0.7) else g.tensor([], t['t']['dtype'])
    if isinstance(value, float) and g.chance(0.3):
        value = {'float': '-inf'}
    return [t, g.tensor(g.broadcast_of(sizes), 'bool'), value], {}


@case('clamp')
def clamp(g):
    sizes = g.shape()
    t = g.tensor(sizes, g.any())
    if g.chance(0.25):
        low, high = (g.tensor(g.broadcast_of(sizes), t['t']['dtype']) if g.chance(0.7) else None for _ in 'ab')
    else:
        low, high = g.pick(None, -1, -0.5, 0), g.pick(None, 1, 0.5, 2)
    return ([t, low, high], {}) if g.chance(0.5) else ([t], {'min': low, 'max': high})


@case('clamp_min', 'clamp_max')
def clamp_one(g):
    t = g.tensor(g.shape(), g.any())
    return [t, g.scalar() if g.chance(0.8) else g.tensor([], t['t']['dtype'])], {}


@case('lerp')
def lerp(g):
    sizes, kind = g.shape(), g.pick('float32', 'float64')
    weight = g.pick(0.25, 0.5, 0.9) if g.chance(0.6) else g.tensor(g.broadcast_of(sizes), kind)
    return [g.tensor(sizes, kind), g.tensor(g.broadcast_of(sizes), kind), weight], {}


@case('addcmul', 'addcdiv')
def addc(g):
    sizes, kind = g.shape(), g.floats()
    args = [g.tensor(g.broadcast_of(sizes), kind, 0.5, 2) for _ in 'abc']
    return args, g.some(value=g.pick(1, 2, 0.5))


@case('nan_to_num')
def nan_to_num(g):
    return [odd_values(g, g.tensor(g.shape(), g.any()))], g.some(nan=1.5, posinf=9.0, neginf=-9.0)


# ---- activations: number of arguments behind the input, as they may be given

SIMPLE = 'relu relu6 selu silu mish hardsigmoid hardswish softsign tanhshrink log_sigmoid'.split()
NUMBERS = {'leaky_relu': [0.2], 'elu': [0.7], 'celu': [0.7], 'hardtanh': [-0.5, 0.75], 'softplus': [2, 1.5],
           'softshrink': [0.3], 'hardshrink': [0.3], 'threshold': [0.1, 5]}


@case(*SIMPLE, loose=2e-5)
def activation(g):
    return [g.tensor(g.shape(), g.any() if g.chance(0.3) else g.floats(), -4, 4)], {}


def parametric(name):
    def template(g):
        numbers = NUMBERS[name]
        n = len(numbers) if name == 'threshold' else g.int(0, len(numbers))
        return [g.tensor(g.shape(), g.any() if g.chance(0.2) else g.floats(), -4, 4)] + numbers[:n], {}
    case(name, loose=2e-5)(template)


for _name in NUMBERS:
    parametric(_name)


@case('gelu', loose=2e-5)
def gelu(g):
    return [g.tensor(g.shape(), g.floats(), -4, 4)], g.some(approximate=g.pick('none', 'tanh', 'what'))


@case('prelu')
def prelu(g):
    sizes, kind = g.full(1, 4), g.pick('float32', 'float64')
    n = sizes[1] if len(sizes) > 1 and g.chance(0.6) else 1
    return [g.tensor(sizes, kind), g.tensor([n], kind)], {}


@case('glu')
def glu(g):
    sizes = g.full(1, 4)
    d = g.dim(sizes)
    sizes[d] *= 2 if g.chance(0.85) else 1
    return [g.tensor(sizes, g.floats())] + ([d] if g.chance(0.9) else []), {}


LAYER_NUMBERS = {'ReLU': {}, 'ReLU6': {}, 'LeakyReLU': {'negative_slope': 0.3}, 'ELU': {'alpha': 0.5}, 'SELU': {},
                 'CELU': {'alpha': 0.5}, 'SiLU': {}, 'Mish': {}, 'Hardtanh': {'min_val': -0.5, 'max_val': 0.5},
                 'Hardsigmoid': {}, 'Hardswish': {}, 'Softplus': {'beta': 2, 'threshold': 5}, 'Softsign': {},
                 'Tanh': {}, 'Sigmoid': {}, 'Tanhshrink': {}, 'Softshrink': {'lambd': 0.2},
                 'Hardshrink': {'lambd': 0.2}, 'LogSigmoid': {}, 'GELU': {'approximate': 'tanh'}}


def activation_layer(name):
    layer(name)(lambda g: (g.some(**LAYER_NUMBERS[name]), [g.tensor(g.shape(), g.pick('float32', 'float64'), -4, 4)]))


for _name in LAYER_NUMBERS:
    activation_layer(_name)


@layer('Threshold')
def threshold_layer(g):
    return {'threshold': 0.1, 'value': 3.0}, [g.f()]


@layer('PReLU')
def prelu_layer(g):
    n = g.pick(1, 3)
    return {'num_parameters': n}, [g.tensor([2, 3] + g.full(0, 2))]


@layer('GLU')
def glu_layer(g):
    return g.some(dim=1), [g.tensor([2, 4, g.pick(1, 2), 6])]


# ---- casts

@case('float', 'double', 'half', 'bfloat16', 'long', 'int', 'short', 'char', 'byte', 'bool', 'cfloat', 'cdouble')
def cast(g):
    return [g.tensor(g.shape(0, 5), g.any())], {}


@case('to')
def to(g):
    t = g.tensor(g.shape(0, 5), g.any())
    d = dtype(g.pick(*ALL))
    kind = g.int(0, 4)
    if kind == 0:
        return [t, d], g.some(copy=True)
    if kind == 1:
        return [t, {'device': 'cpu'}] + ([d] if g.chance(0.5) else []), {}
    if kind == 2:
        return [t, g.tensor(g.shape(), g.any(), grad=False)], {}
    if kind == 3:
        return [t], {'dtype': d}
    return [t], {'memory_format': {'format': g.pick('contiguous_format', 'channels_last', 'preserve_format')}}


@case('type_as')
def type_as(g):
    return [g.tensor(g.shape(), g.any()), g.tensor(g.shape(), g.any())], {}


@case('type')
def type_(g):
    return [g.tensor(g.shape(), g.any()), dtype(g.pick(*ALL))][:1 if g.chance(0.2) else 2], {}


@case('contiguous', 'clone')
def layout(g):
    return [g.tensor(g.shape(0, 5), g.any())], {} if g.chance(0.6) else {
        'memory_format': {'format': g.pick('contiguous_format', 'channels_last', 'preserve_format')}}


@case('detach', 'alias', 'lift')
def as_is(g):
    return [g.tensor(g.shape(), g.any())], {}


@case('requires_grad_')
def requires_grad(g):
    return [g.f(grad=False)] + ([g.chance(0.5)] if g.chance(0.5) else []), {}


@case('fill_')
def fill(g):
    return [g.tensor(g.shape(), g.any(), grad=False), g.scalar() if g.chance(0.8) else g.tensor([], 'float32')], {}


@case('zero_')
def zero(g):
    return [g.tensor(g.shape(), g.any(), grad=False)], {}


@case('copy_')
def copy(g):
    sizes = g.shape()
    return [g.tensor(sizes, g.any(), grad=False), g.tensor(g.broadcast_of(sizes), g.any())], {}


@case('polygamma')
def polygamma(g):
    return [g.int(0, 2), g.tensor(g.shape(), 'float32', 0.5, 3)], {}


@case('xlogy')
def xlogy(g):
    return pair(g, 0.5, 3), {}


@case('logaddexp', 'logaddexp2')
def logaddexp(g):
    return pair(g, types=['float32', 'float64'], both=True), {}


@case('float_power')
def float_power(g):
    return pair(g, 0.5, 3), {}


@case('gcd', 'lcm')
def whole(g):
    return pair(g, -9, 9, INTS, both=True), {}


@case('heaviside')
def heaviside(g):
    sizes, kind = g.shape(), g.any()
    return [g.tensor(sizes, kind), g.tensor(g.broadcast_of(sizes), kind)], {}


@case('isclose', 'allclose')
def isclose(g):
    sizes, kind = g.full(0, 3), g.any()
    a = g.tensor(sizes, kind)
    return [a, g.tensor(g.broadcast_of(sizes), kind) if g.chance(0.5) else a], g.some(rtol=0.1, atol=0.5)


@case('equal')
def equal(g):
    a = g.tensor(g.shape(), g.any())
    return [a, a if g.chance(0.5) else g.tensor(shape_of(a), a['t']['dtype'])], {}


# ---- complex numbers

COMPLEX = ('complex64', 'complex128')


@case('add', 'sub', 'mul', 'div')
def complex_pair(g):
    sizes = g.full(0, 3)
    a = g.tensor(sizes, g.pick(*COMPLEX), 0.5, 2)
    if g.chance(0.2):
        return [a, g.pick(2, 0.5, {'complex': [1.0, -0.5]})], {}
    return [a, g.tensor(g.broadcast_of(sizes), g.pick(*COMPLEX, 'float32', 'float64'), 0.5, 2)], {}


@case('abs', 'conj', 'conj_physical', 'angle', 'imag', 'real', 'sgn', loose=2e-5)
def complex_unary(g):
    return [g.tensor(g.full(0, 3), g.pick(*COMPLEX))], {}


@case('angle', 'real', 'conj')
def real_unary(g):
    return [g.tensor(g.full(0, 3), g.pick('float32', 'float64'), grad=False)], {}


@case('complex', 'polar', loose=2e-5)
def from_parts(g):
    sizes, kind = g.full(0, 3), g.pick('float32', 'float64')
    return [g.tensor(sizes, kind), g.tensor(g.broadcast_of(sizes), kind)], {}


FFT = ['fft', 'ifft', 'rfft', 'irfft']


def signal(g, low):
    real = 'rfft' in g.spelling and 'irfft' not in g.spelling
    t = g.tensor([s + 1 if i else s for i, s in enumerate(g.full(low, 3))], g.pick('float32', 'float64') if real else
                 g.pick('float32', 'float64', *COMPLEX))
    if 'irfft' in g.spelling:
        t['t']['grad'] = False
    return t


@case(*['fft_' + n for n in FFT], loose=1e-4)
def fft(g):
    t = signal(g, 2)
    return [t], {**g.some(n=g.int(2, 7)), **g.some(dim=g.int(-2, -1)), **g.some(norm=g.pick('ortho', 'forward', 'backward'))}


@case(*['fft_' + n + '2' for n in FFT], *['fft_' + n + 'n' for n in FFT], loose=1e-4)
def fft2(g):
    return [signal(g, 2)], {**g.some(s=[g.int(2, 4), g.int(2, 5)]), **g.some(norm=g.pick('ortho', 'forward'))}


SPECIAL = ('digamma i0 i0e i1 i1e sinc bessel_j0 bessel_j1 modified_bessel_i0 modified_bessel_i1 spherical_bessel_j0 airy_ai '
           'erfcx ndtr log_ndtr')


@case(*SPECIAL.split(), loose=5e-5)
def special(g):
    low, high = g.pick((-3, 3), (0.1, 12), (-12, -0.1)) if 'erfcx' not in g.spelling else (-2, 12)
    return [odd_values(g, g.tensor(g.shape(), g.any(), low, high))], {}


@case('bessel_y0', 'bessel_y1', 'modified_bessel_k0', 'modified_bessel_k1', 'scaled_modified_bessel_k0',
      'scaled_modified_bessel_k1', 'entr', loose=5e-5)
def special_positive(g):
    return [g.tensor(g.shape(), g.any(), 0.1, 9)], {}


@case('ndtri', loose=5e-5)
def ndtri(g):
    return [g.tensor(g.shape(), g.floats(), 0.01, 0.99)], {}


@case('igamma', 'igammac', loose=5e-5)
def igamma(g):
    return pair(g, 0.1, 9, FLOATS[:2] if g.chance(0.9) else ALL, both=True), {}


@case('zeta', loose=5e-5)
def zeta(g):
    return pair(g, 1.25, 9, FLOATS[:2] + INTS), {}


@case('xlog1py', loose=5e-5)
def xlog1py(g):
    args = pair(g, 0, 3)
    return args[::-1] if g.chance(0.3) else args, {}


@case('nextafter')
def nextafter(g):
    return pair(g, types=FLOATS[:2] if g.chance(0.9) else ALL, both=True), {}


@case('polygamma', 'x_polygamma', loose=5e-5)
def polygamma(g):
    n, t = g.int(-1 if g.chance(0.1) else 0, 4), g.tensor(g.shape(), g.any(), 0.2, 6)
    return ([t, n] if g.spelling.startswith('Tensor') else [n, t]), {}


@case('mvlgamma', loose=5e-5)
def mvlgamma(g):
    return [g.tensor(g.shape(), g.any(), 2.1, 6), g.int(0 if g.chance(0.1) else 1, 4)], {}


@case(*(p + name for name in ['chebyshev_t', 'chebyshev_u', 'chebyshev_v', 'chebyshev_w'] for p in ('', 'shifted_')),
      'hermite_h', 'hermite_he', 'laguerre_l', 'legendre_p', loose=1e-3)
def polynomial(g):
    sizes = g.shape()
    x = g.tensor(sizes, g.pick('float32', 'float64'), 0 if 'shifted' in g.spelling else -1, 1)
    if g.chance(0.5):
        return [x, g.int(0, 6) if g.chance(0.8) else g.pick(9, 12, 17)], {}
    return [x, g.indices(g.broadcast_of(sizes), 7, dtype=g.pick('int64', 'float32'))], {}


@case('add_scaled')
def add_scaled(g):
    a = g.f()
    return [a, g.number(), g.tensor(g.broadcast_of(shape_of(a)), a['t']['dtype'])], {}


@case('subtract_scaled')
def subtract_scaled(g):
    a = g.tensor(g.shape(), g.numbers())
    return [a, g.number(), g.int(-3, 3) if a['t']['dtype'] in INTS else g.number()], {}


@case('elu_scaled')
def elu_scaled(g):
    return [g.f(), g.pick(0.7, 1, 2)] + [g.pick(1, 2, 0.5) for _ in range(g.int(0, 2))], {}
