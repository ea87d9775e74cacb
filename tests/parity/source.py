"""source.py: random arguments by seed, in the JSON notation of values.c. Templates (cases/*.py) draw from it; it knows no
operator and no PyTorch, so that a case is a line of text that both sides read."""
import random

FLOATS = ['float32', 'float64', 'float16', 'bfloat16']
INTS = ['int64', 'int32', 'int16', 'int8', 'uint8']
ALL = FLOATS + INTS + ['bool']


def prod(sizes):
    n = 1
    for s in sizes:
        n *= s
    return n


def contiguous(sizes):
    strides, step = [], 1
    for s in reversed(sizes):
        strides.insert(0, step)
        step *= max(s, 1)
    return strides


FORCED = []  # types that take the place of the floating point ones


class Source:
    """One case's randomness. `spelling` is how the operator is called; `grad` whether tensors may require grad."""

    def __init__(self, seed, spelling=''):
        self.r = random.Random(seed)
        self.spelling = spelling
        self.method = spelling.startswith('Tensor.')

    # ---- small choices
    def pick(self, *items):
        return self.r.choice(items)

    def chance(self, p):
        return self.r.random() < p

    def int(self, low, high):
        return self.r.randint(low, high)

    def real(self, low=-2.0, high=2.0):
        return round(self.r.uniform(low, high), 2)

    def some(self, **kwargs):
        """Keyword arguments, each there or not."""
        return {k: v for k, v in kwargs.items() if self.chance(0.4)}

    # ---- shapes
    def size(self):
        return self.r.choices([0, 1, 2, 3, 4, 5], [3, 14, 25, 28, 18, 12])[0]

    def shape(self, low=0, high=4):
        n = self.r.choices(range(low, high + 1), [2 + min(i, 3) for i in range(low, high + 1)])[0]
        while True:
            sizes = [self.size() for _ in range(n)]
            if prod(sizes) <= 120:
                return sizes

    def full(self, low=1, high=4):
        """A shape without zeros."""
        return [s or 1 for s in self.shape(low, high)]

    def broadcast_of(self, sizes):
        """A shape that broadcasts to `sizes`."""
        out = [1 if self.chance(0.25) else s for s in sizes]
        return out[self.int(0, len(out)):] if self.chance(0.35) else out

    def dim(self, sizes):
        n = max(len(sizes), 1)
        return self.int(-n, n - 1)

    def dims(self, sizes):
        """Distinct dimensions, some from the end."""
        n = len(sizes)
        chosen = self.r.sample(range(n), self.int(0 if self.chance(0.1) else min(1, n), n))
        return [d - n if self.chance(0.3) else d for d in chosen]

    # ---- tensors
    def strides(self, sizes):
        """(strides, offset, elements of storage)"""
        n, kind = len(sizes), self.r.random()
        perm, base, offset = list(range(n)), list(sizes), 0
        if 0.5 <= kind < 0.68:
            self.r.shuffle(perm)
        elif 0.68 <= kind < 0.8 and n in (4, 5):
            perm = [0] + list(range(2, n)) + [1]
        step = [1] * n
        if 0.8 <= kind < 0.9 and n:
            k = self.int(0, n - 1)
            step[k], base[k] = 2, base[k] * 2
        if kind >= 0.97:
            offset = self.int(1, 3)
        inner = contiguous([base[p] for p in perm])
        strides = [0] * n
        for i, p in enumerate(perm):
            strides[p] = inner[i] * step[p]
        if 0.9 <= kind < 0.97 and n:
            for k in range(n):
                if self.chance(0.4):
                    strides[k] = 0
        last = sum((s - 1) * t for s, t in zip(sizes, strides)) if prod(sizes) else -1
        return strides, offset, offset + last + 1

    def element(self, dtype, low, high):
        if dtype == 'bool':
            return self.chance(0.5)
        if dtype.startswith('complex'):
            return self.real(low, high)
        if dtype in ('float16', 'bfloat16'):
            return round(self.r.uniform(low, high) * 8) / 8
        if dtype in FLOATS:
            return self.real(low, high)
        low, high = int(low), int(high)
        return self.int(max(low, 0) if dtype == 'uint8' else low, max(high, 1))

    def tensor(self, sizes, dtype='float32', low=-2.0, high=2.0, plain=False, grad=None, distinct=False):
        if FORCED and dtype in FLOATS:
            dtype = self.pick(*FORCED)
        strides, offset, n = (contiguous(sizes), 0, prod(sizes)) if plain else self.strides(sizes)
        parts = 2 if dtype.startswith('complex') else 1
        data = [self.element(dtype, low, high) for _ in range(n * parts)]
        if distinct and dtype != 'bool':
            data = list(range(n)) if dtype in INTS else [round(i * 0.25 - n / 8, 3) for i in range(n)]
            self.r.shuffle(data)
            if 0 in strides:
                return self.tensor(sizes, dtype, low, high, True, grad, True)
        t = {'dtype': dtype, 'sizes': list(sizes), 'strides': strides, 'offset': offset, 'data': data}
        if (self.chance(0.15) if grad is None else grad) and (dtype in FLOATS or parts == 2):
            t['grad'] = True
        return {'t': t}

    def floats(self):
        return self.r.choices(FLOATS, [6, 2, 1, 1])[0]

    def any(self):
        return self.r.choice(ALL) if self.chance(0.5) else self.floats()

    def numbers(self):
        return self.r.choice(FLOATS + INTS)

    def f(self, low=1, high=4, **more):
        return self.tensor(self.shape(low, high), self.floats(), **more)

    def indices(self, sizes, bound, negative=False, dtype='int64'):
        """Whole numbers below `bound`."""
        t = self.tensor(sizes, dtype, 0, 1, plain=self.chance(0.7), grad=False)
        t['t']['data'] = [self.int(-bound if negative else 0, max(bound, 1) - 1) for _ in t['t']['data']]
        return t

    # ---- numbers
    def scalar(self):
        return self.pick(0, 1, 2, -3, 5, True, False, 0.5, -1.25, 2.0, 0.0, 3)

    def number(self):
        return self.pick(1, 2, -3, 0.5, -1.25, 2.0, 3)


def tup(*items):
    return {'tuple': list(items)}


def dtype(name):
    return {'dtype': name}


def shape_of(t):
    return t['t']['sizes']
