"""The first PassManager of torch.fx: passes one after the other, checked against constraints."""
from functools import wraps
from inspect import unwrap

__all__ = ['PassManager', 'inplace_wrapper', 'log_hook', 'loop_pass',
           'this_before_that_pass_constraint', 'these_before_those_pass_constraint']


def inplace_wrapper(fn):
    """A pass that changes its argument, as one that gives it."""
    @wraps(fn)
    def wrapped(gm):
        fn(gm)
        return gm
    return wrapped


def log_hook(fn, level=None):
    @wraps(fn)
    def wrapped(gm):
        return fn(gm)
    return wrapped


def loop_pass(base_pass, n_iter=None, predicate=None):
    """The pass n_iter times, or as long as predicate(its result) holds."""
    assert (n_iter is not None) ^ (predicate is not None), \
        'Exactly one of `n_iter`or `predicate` must be specified.'

    @wraps(base_pass)
    def looped(source):
        output = source
        if n_iter is not None and n_iter > 0:
            for _ in range(n_iter):
                output = base_pass(output)
        elif predicate is not None:
            while predicate(output):
                output = base_pass(output)
        else:
            raise RuntimeError('loop_pass must be given positive int n_iter (given {n_iter}) xor '
                               'predicate (given {predicate})')
        return output
    return looped


def this_before_that_pass_constraint(this, that):
    def before(a, b):
        return a != that or b != this
    return before


def these_before_those_pass_constraint(these, those):
    def before(a, b):
        return unwrap(a) != those or unwrap(b) != these
    return before


class PassManager:
    def __init__(self, passes=None, constraints=None):
        self.passes = list(passes or [])
        self.constraints = list(constraints or [])
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes):
        return cls(passes)

    def add_pass(self, _pass):
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes):
        self.passes = [p for p in self.passes if p.__name__ not in _passes]
        self._validated = False

    def validate(self):
        if self._validated:
            return
        for constraint in self.constraints:
            for i, a in enumerate(self.passes):
                for j, b in enumerate(self.passes[i + 1:]):
                    if not constraint(a, b):
                        raise RuntimeError('pass schedule constraint violated. Expected '
                                           f'{a} before {b} but found {a} at index {i} and {b} at '
                                           f'index{j} in pass list.')
        self._validated = True

    def __call__(self, source):
        self.validate()
        for p in self.passes:
            source = p(source)
        return source
