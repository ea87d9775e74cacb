"""Grad modes: there is no backward pass, but requires_grad of a result depends on them."""
import contextlib

import _fxscope


class _Mode(contextlib.ContextDecorator):
    _enabled = None

    def __init__(self, mode=None):
        self.mode = self._enabled if self._enabled is not None else mode
        self.before = []

    def __call__(self, function=None):
        if isinstance(function, type):
            return function
        return super().__call__(function)

    def __enter__(self):
        self.before.append(_fxscope.set_grad_enabled(self.mode))

    def __exit__(self, *exc):
        _fxscope.set_grad_enabled(self.before.pop())
        return False


class no_grad(_Mode):
    _enabled = False


class enable_grad(_Mode):
    _enabled = True


class inference_mode(_Mode):
    def __init__(self, mode=True):
        super().__init__(not mode)


class set_grad_enabled(_Mode):
    def __init__(self, mode):
        super().__init__(bool(mode))
        self.before.append(_fxscope.set_grad_enabled(self.mode))

    def __enter__(self):
        pass


class inert(contextlib.ContextDecorator):
    """A context that changes nothing here: autocast, profilers, streams."""
    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, function=None):
        return function if isinstance(function, type) or function is None else \
            super().__call__(function)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False
