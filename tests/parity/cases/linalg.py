"""Linear algebra."""
from source import dtype, prod, tup

from . import case

TYPES = ['float32', 'float64', 'complex64', 'complex128']


def kind(g):
    return g.r.choices(TYPES, [6, 4, 2, 2])[0] if g.chance(0.97) else g.any()


def batch(g):
    return [g.int(0 if g.chance(0.2) else 1, 2) for _ in range(g.pick(0, 0, 1, 2))]


def fill(g, sizes, type_, elements, grad=None):
    """A tensor with the elements given in row-major order."""
    t = g.tensor(sizes, type_, plain=True, grad=grad)
    t['t']['data'] = elements
    return t


def well_conditioned(g, n, type_, lead=(), symmetric=False):
    """Matrices with a heavy diagonal, whose entries differ enough for eigenvalues to be apart."""
    parts, data = 2 if type_.startswith('complex') else 1, []
    for _ in range(prod(lead)):
        m = [[[g.real(-0.5, 0.5) for _ in range(parts)] for _ in range(n)] for _ in range(n)]
        for i in range(n):
            m[i][i] = [round(1.5 + i + g.r.random() / 4, 2)] + [0.0] * (parts - 1)
        for i in range(n if symmetric else 0):
            for j in range(i):
                m[j][i] = m[i][j][:1] + [-x for x in m[i][j][1:]]
        data += [x for row in m for z in row for x in z]
    if type_ not in TYPES:
        data = [int(x) for x in data]
    return fill(g, list(lead) + [n, n], type_, data, False if type_ not in TYPES else None)


SQUARE = ('linalg_det linalg_slogdet slogdet logdet linalg_inv linalg_inv_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex '
          'linalg_eigvals matrix_exp lu')


@case(*SQUARE.split(), loose=2e-4)
def square(g):
    if g.chance(0.05):
        return [g.tensor(g.shape(0, 4), kind(g))], {}
    type_ = kind(g)
    lead = [b or 1 for b in batch(g)] if type_ not in TYPES or 'logdet' in g.spelling else batch(g)
    return [well_conditioned(g, g.int(0 if g.chance(0.2) else 1, 4), type_, lead)], {}


@case('linalg_cholesky', 'linalg_cholesky_ex', 'cholesky', 'cholesky_inverse', loose=2e-4)
def symmetric(g):
    t = well_conditioned(g, g.int(1, 4), kind(g), batch(g), True)
    return ([t, g.chance(0.5)], {}) if 'linalg' not in g.spelling and g.chance(0.5) else ([t], g.some(upper=g.chance(0.5)))


@case('linalg_eigvalsh', loose=2e-4)
def eigvalsh(g):
    return [well_conditioned(g, g.int(0 if g.chance(0.2) else 1, 4), kind(g), batch(g), True)] + ([g.pick('L', 'U', 'l', 'X')] if g.chance(0.4) else []), {}


@case('linalg_eigh', loose=5e-4)
def eigh(g):
    """Of complex matrices the vectors' phase is LAPACK's own affair."""
    type_ = g.pick('float32', 'float64')
    return [well_conditioned(g, g.int(1, 4), type_, batch(g), True)] + ([g.pick('L', 'U')] if g.chance(0.4) else []), {}


@case('linalg_eig', loose=5e-4)
def eig(g):
    return [well_conditioned(g, g.int(1, 3), g.pick('float32', 'float64'), batch(g), True)], {}


@case('linalg_svdvals', 'linalg_matrix_rank', loose=2e-4)
def svdvals(g):
    return [g.tensor(batch(g) + [g.int(0 if g.chance(0.1) else 1, 4), g.int(1, 4)], kind(g))], {}


def tall(g):
    """Full rank, so that vectors are settled but for what the sign conventions say."""
    m, n = g.int(1, 4), g.int(1, 4)
    type_, lead = g.pick('float32', 'float64'), batch(g)
    data = []
    for _ in range(prod(lead)):
        for i in range(m):
            data += [round((1.5 + i if i == j else 0) + g.r.uniform(-0.4, 0.4), 2) for j in range(n)]
    return fill(g, lead + [m, n], type_, data)


@case('linalg_svd', loose=1e-3)
def svd(g):
    return [tall(g)], {'full_matrices': False} if g.chance(0.7) else {}


@case('svd', loose=1e-3)
def torch_svd(g):
    return [tall(g)], g.some(compute_uv=False)


@case('linalg_qr', loose=5e-4)
def qr(g):
    return [tall(g)] + ([g.pick('reduced', 'complete', 'r', 'raw')] if g.chance(0.6) else []), {}


@case('qr', loose=5e-4)
def torch_qr(g):
    return [tall(g)] + ([g.chance(0.5)] if g.chance(0.6) else []), {}


@case('geqrf', loose=5e-4)
def geqrf(g):
    return [tall(g)], {}


@case('linalg_householder_product', loose=5e-4)
def householder(g):
    n, lead, type_ = g.int(1, 3), batch(g), g.pick('float32', 'float64')
    return [g.tensor(lead + [n + g.int(0, 2), n], type_), g.tensor(lead + [g.int(1, n)], type_)], {}


@case('lu_unpack', loose=5e-4)
def lu_unpack(g):
    m, n, lead = g.int(1, 4), g.int(1, 4), batch(g)
    k = min(m, n)
    pivots = fill(g, lead + [k], 'int32', [g.int(i + 1, m) for _ in range(prod(lead)) for i in range(k)])
    return [g.tensor(lead + [m, n], g.pick('float32', 'float64')), pivots], {}


@case('linalg_solve', 'linalg_solve_ex', loose=5e-4)
def solve(g):
    n, type_, lead = g.int(1, 4), kind(g), batch(g)
    a = well_conditioned(g, n, type_, lead if g.chance(0.8) else [])
    way = g.int(0, 3)
    if way == 0:
        return [a, g.tensor([n], type_)], {}
    if way == 1:
        return [a, g.tensor(lead + [n], type_)], {}
    left = g.chance(0.7)
    k = g.int(1, 3)
    return [a, g.tensor(lead + ([n, k] if left else [k, n]), type_)], ({} if left and g.chance(0.5) else {'left': left})


@case('linalg_solve_triangular', loose=5e-4)
def solve_triangular(g):
    n, k, type_, lead, left = g.int(1, 4), g.int(1, 3), kind(g), batch(g), g.chance(0.6)
    a = well_conditioned(g, n, type_, lead if g.chance(0.8) else [])
    return [a, g.tensor(lead + ([n, k] if left else [k, n]), type_)], {
        'upper': g.chance(0.5), **({} if left else {'left': False}), **g.some(unitriangular=g.chance(0.5))}


@case('triangular_solve', loose=5e-4)
def triangular_solve(g):
    n, type_, lead = g.int(1, 4), kind(g), batch(g)
    return [g.tensor(lead + [n, g.int(1, 3)], type_), well_conditioned(g, n, type_, lead)], g.some(
        upper=g.chance(0.5), transpose=g.chance(0.5), unitriangular=g.chance(0.5))


@case('cholesky_solve', loose=1e-3)
def cholesky_solve(g):
    n, type_, lead = g.int(1, 4), kind(g), batch(g)
    return [g.tensor(lead + [n, g.int(1, 3)], type_), well_conditioned(g, n, type_, lead)] + ([g.chance(0.5)] if g.chance(0.5) else []), {}


@case('lu_solve', 'linalg_lu_solve', loose=1e-3)
def lu_solve(g):
    n, type_, lead = g.int(1, 4), g.pick('float32', 'float64', 'complex64'), batch(g)
    pivots = fill(g, lead + [n], 'int32', [g.int(i + 1, n) for _ in range(prod(lead)) for i in range(n)])
    lu, b = well_conditioned(g, n, type_, lead), g.tensor(lead + [n, g.int(1, 3)], type_)
    return ([lu, pivots, b] if 'linalg' in g.spelling else [b, lu, pivots]), {}


@case('linalg_lstsq', loose=1e-3)
def lstsq(g):
    a = tall(g)
    sizes = a['t']['sizes']
    b = g.tensor(sizes[:-1] + ([g.int(1, 3)] if g.chance(0.7) else []), a['t']['dtype'])
    return [a, b], g.some(driver=g.pick('gels', 'gelsy', 'gelsd', 'gelss'))


@case('linalg_matrix_power', loose=1e-3)
def matrix_power(g):
    return [well_conditioned(g, g.int(0 if g.chance(0.1) else 1, 3), kind(g), batch(g)), g.int(-3, 5)], {}


@case('linalg_pinv', 'pinverse', loose=1e-3)
def pinv(g):
    t = tall(g) if g.chance(0.7) else g.tensor(batch(g) + [g.int(0, 2), g.int(1, 3)], kind(g))
    return [t] + ([g.pick(1e-3, 1e-15)] if g.chance(0.4) else []), {}


@case('linalg_cond', loose=1e-3)
def cond(g):
    t = well_conditioned(g, g.int(1, 4), g.pick('float32', 'float64'), batch(g))
    return [t] + ([g.pick(None, 1, -1, 2, -2, 'fro', 'nuc', {'float': 'inf'}, {'float': '-inf'}, 3)] if g.chance(0.8) else []), {}


ORDERS = (1, -1, 2, -2, 2.0, 'fro', 'nuc', {'float': 'inf'}, {'float': '-inf'})


@case('linalg_matrix_norm', loose=2e-4)
def matrix_norm(g):
    sizes = g.full(2, 4)
    kwargs = {**g.some(keepdim=g.chance(0.6)), **g.some(dtype=dtype('float64'))} if g.chance(0.4) else {}
    t = g.tensor(sizes, g.pick('float32', 'float64'))
    if g.chance(0.5):
        kwargs['dim'] = g.r.sample(range(-len(sizes), 0), 2)
    return [t] + ([g.pick(*ORDERS, 3, 'max')] if g.chance(0.9) else []), kwargs


@case('linalg_norm', loose=2e-4)
def norm_of_matrix(g):
    t = g.tensor(g.full(2, 2), g.pick('float32', 'float64'))
    return [t, g.pick(*ORDERS)], {**g.some(keepdim=g.chance(0.6)), **g.some(dim=g.pick([0, 1], [-1, -2]))}


@case('norm', loose=2e-4)
def nuclear(g):
    sizes = g.full(2, 3)
    return [g.tensor(sizes, g.pick('float32', 'float64')), 'nuc'], {} if len(sizes) == 2 and g.chance(0.5) else {
        'dim': g.r.sample(range(-len(sizes), 0), 2), **g.some(keepdim=g.chance(0.5))}


@case('linalg_multi_dot', 'chain_matmul', loose=2e-4)
def multi_dot(g):
    n, type_ = g.int(2, 4), g.pick('float32', 'float64')
    sizes = [g.int(1, 4) for _ in range(n + 1)]
    tensors = [g.tensor(sizes[i:i + 2], type_) for i in range(n)]
    if 'linalg' not in g.spelling:
        return tensors, {}
    if g.chance(0.3):
        tensors[0] = g.tensor(sizes[1:2], type_)
    if g.chance(0.3):
        tensors[-1] = g.tensor(sizes[-2:-1], type_)
    return [tensors], {}


@case('linalg_vecdot', loose=2e-4)
def vecdot(g):
    sizes = g.shape(1)
    type_ = kind(g)
    return [g.tensor(sizes, type_), g.tensor(sizes, type_)], g.some(dim=g.dim(sizes))


@case('linalg_tensorinv', loose=1e-3)
def tensorinv(g):
    return [well_conditioned(g, g.int(1, 4), g.pick('float32', 'float64'))], {'ind': 1}


@case('linalg_tensorsolve', loose=1e-3)
def tensorsolve(g):
    n, type_ = g.int(1, 4), g.pick('float32', 'float64')
    return [well_conditioned(g, n, type_), g.tensor([n], type_)], {}


def tall_or_wide(g, low=2):
    return ([g.int(1, 2)] if g.chance(0.3) else []) + [g.int(low, 7), g.int(low, 7)]


@case('svd_lowrank', random=True)
def svd_lowrank(g):
    sizes, kind = tall_or_wide(g), g.pick('float32', 'float64')
    kwargs = {**g.some(niter=g.int(0, 3)), **({'M': g.tensor(sizes, kind)} if g.chance(0.2) else {})}
    return [g.tensor(sizes, kind), g.int(1, min(sizes[-2:]))], kwargs


@case('pca_lowrank', random=True)
def pca_lowrank(g):
    sizes = tall_or_wide(g)
    return [g.tensor(sizes, g.pick('float32', 'float64'))], {
        **g.some(q=g.int(0 if g.chance(0.1) else 1, min(sizes[-2:]) + g.chance(0.1))), **g.some(center=g.chance(0.5)), **g.some(niter=g.int(0, 3))}


@case('lobpcg', random=True)
def lobpcg(g):
    n, kind = g.int(6, 9), g.pick('float32', 'float64')
    a = g.tensor(([2] if g.chance(0.2) else []) + [n, n], kind, plain=True)
    for at in range(0, len(a['t']['data']), n * n):  # symmetric, and well apart
        for i in range(n):
            for j in range(i + 1):
                a['t']['data'][at + j * n + i] = a['t']['data'][at + i * n + j] = (2.0 + i) if i == j else 0.25
    return [a, g.int(1, 2)], g.some(largest=g.chance(0.5))
