"""Python's own numbers and sequences, as operators of a graph."""
from source import tup

from . import case

BINARY = 'add sub mul truediv floordiv mod pow eq ne lt le gt ge'.split()


def any_number(g):
    return g.pick(g.int(-5, 9), g.int(1, 5), g.real(), True, 2.5)


@case(*['python_' + n for n in BINARY], 'math_pow')
def binary(g):
    if g.spelling == 'operator.concat':
        return [[1, 2], [g.int(0, 3)]], {}
    return [any_number(g), any_number(g)], {}


@case('python_and', 'python_or', 'python_xor', 'python_lshift', 'python_rshift')
def bits(g):
    return [g.int(0, 9), g.int(0, 5)], {}


@case('python_neg', 'python_pos', 'python_abs', 'not', 'truth')
def unary(g):
    return [any_number(g)], {}


@case('python_invert')
def invert(g):
    return [g.int(-5, 9)], {}


@case('is', 'is_not')
def is_(g):
    return [g.pick(None, 3, True), g.pick(None, True)], {}


MATH = 'sqrt exp log2 log10 log1p sin cos tan atan tanh fabs degrees radians floor ceil trunc float'.split()


@case(*['math_' + n for n in MATH])
def math_(g):
    return [g.pick(1, 2, 0.5, 2.25, 3.7, -0.5)], {}


@case('math_asin', 'math_acos')
def math_unit(g):
    return [g.pick(0, 0.5, -0.25, 1, 2)], {}


@case('math_log')
def math_log(g):
    return [g.pick(1, 2, 0.5, 0)] + ([2] if g.chance(0.4) else []), {}


@case('math_round')
def math_round(g):
    return [g.pick(2.5, 3.14159, 7, -1.5)] + ([g.pick(0, 2)] if g.chance(0.4) else []), {}


def sequence(g):
    items = [g.int(0, 9) for _ in range(g.int(1, 4))]
    return g.pick(items, tup(*items), {'size': items})


@case('math_isnan', 'math_isinf')
def math_isnan(g):
    return [g.pick(1.5, {'float': 'nan'}, {'float': 'inf'}, 3)], {}


@case('math_gcd')
def math_gcd(g):
    return [g.int(0, 20), g.int(0, 20)], {}


@case('python_getitem')
def getitem(g):
    s = sequence(g)
    n = len(s if isinstance(s, list) else list(s.values())[0])
    return [s, g.int(-n, n) if g.chance(0.6) else {'slice': [g.pick(None, g.int(-2, 2)), g.pick(None, 2), None]}], {}


@case('len', 'length_hint')
def length(g):
    return [sequence(g) if g.spelling != 'Tensor.__len__' else g.f(0)], {}


@case('contains')
def contains(g):
    return [sequence(g), g.int(0, 9)], {}


@case('tuple', 'list')
def convert(g):
    return [sequence(g)] if g.chance(0.9) else [], {}


@case('size_of_list')
def size_of_list(g):
    return [[g.int(0, 9) for _ in range(g.int(0, 3))]], {}


@case('python_max', 'python_min')
def extreme(g):
    return ([sequence(g)] if g.chance(0.5) else [any_number(g), any_number(g)]), {}


@case('python_sum', 'python_prod')
def total(g):
    return [sequence(g)] + ([g.int(0, 3)] if g.chance(0.3) and 'sum' in g.spelling else []), {}
