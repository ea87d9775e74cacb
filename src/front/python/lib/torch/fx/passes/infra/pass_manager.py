"""PassManager: runs passes in an order that keeps the constraints."""
import inspect
from functools import wraps
from queue import Queue

import torch.nn as nn
from torch.fx.graph_module import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

__all__ = ['pass_result_wrapper', 'this_before_that_pass_constraint', 'PassManager']


def pass_result_wrapper(fn):
    """fn, giving a PassResult whatever it gives itself."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped(gm):
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        if isinstance(result, nn.Module):
            return PassResult(result, True)
    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this, that):
    def before(a, b):
        return not (a == that and b == this)
    return before


def _validate_pass_schedule_constraint(constraint, passes):
    for i, a in enumerate(passes):
        for b in passes[i + 1:]:
            if not constraint(a, b):
                raise RuntimeError(f'pass schedule constraint violated. Expected {a} before {b} '
                                   f'but found {a} at index {i} and {b} at index '
                                   f'{passes.index(b)} in pass list.')


def _topological_sort_passes(passes, constraints):
    """The passes in an order that all constraints accept; as they are where none is asked."""
    if not constraints:
        return passes
    behind = {p: [q for q in passes if q is not p and
                  not all(c(q, p) for c in constraints)] for p in passes}
    waiting = {p: sum(p in later for later in behind.values()) for p in passes}
    ready, order = Queue(), []
    for p in passes:
        if waiting[p] == 0:
            ready.put(p)
    while not ready.empty():
        p = ready.get()
        order.append(p)
        for q in behind[p]:
            waiting[q] -= 1
            if waiting[q] == 0:
                ready.put(q)
    if len(order) < len(passes):
        stuck = [p for p in passes if waiting[p] > 0]
        raise RuntimeError(f'Circular dependency detected within the following passes: {stuck}')
    return order


class PassManager:
    def __init__(self, passes=None, constraints=None, steps=None,
                 run_checks_after_each_pass=False, suppress_check_failures=False):
        self.passes = [] if passes is None else passes
        self.constraints = [] if constraints is None else constraints
        self.steps = 1 if steps is None else steps
        self._validated = False
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def add_pass(self, _pass):
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self):
        if self._validated:
            return
        for constraint in self.constraints:
            _validate_pass_schedule_constraint(constraint, self.passes)
        self._validated = True

    def solve_constraints(self):
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check):
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError('PassManager check function should only take in one variable, a module')
        self.check = check

    def check(self, module):
        pass

    def __call__(self, module):
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        modified_at_all = False
        for _ in range(self.steps):
            modified = False
            for fn in self.passes:
                try:
                    result = fn(module)
                    if not isinstance(result, PassResult):
                        raise TypeError(f'The result of the pass {fn} should be type PassResult. '
                                        'Please wrap it with pass_result_wrapper()')
                except Exception as e:
                    names = [getattr(p, '__name__', repr(p)) for p in self.passes]
                    raise Exception(f"An error occurred when running the '{fn}' pass after the "
                                    f'following passes: {names}') from e
                module = result.graph_module
                modified = modified or result.modified
                if isinstance(module, GraphModule):
                    module.recompile()
                if self.run_checks_after_each_pass:
                    self.check(module)
            modified_at_all = modified_at_all or modified
            if not modified:
                break
        return PassResult(module, modified_at_all)
