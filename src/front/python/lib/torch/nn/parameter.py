"""torch.nn.parameter: tensors that a Module keeps."""
from _fxscope import Proxy, Tensor

__all__ = ['Parameter', 'Buffer', 'UninitializedParameter', 'UninitializedBuffer']


class Parameter(Tensor):
    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            import torch
            data = torch.empty(0)
        if isinstance(data, Proxy):
            return data.detach().requires_grad_(requires_grad)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self):
        return 'Parameter containing:\n' + super().__repr__()


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned."""
    def __new__(cls, data=None, persistent=True):
        if data is None:
            import torch
            data = torch.empty(0)
        made = Tensor._make_subclass(cls, data, False)
        made.persistent = persistent
        return made


class _Uninitialized:
    def _refuse(self, *args, **kwargs):
        raise ValueError('Attempted to use an uninitialized parameter: run the lazy module once '
                         'with an example before its parameters are used')

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. "
                           'This error usually happens in `load_state_dict` when trying to load '
                           'an uninitialized parameter into an initialized one. Call `forward` '
                           'to initialize the parameters before accessing their attributes.')


class UninitializedParameter(_Uninitialized, Parameter):
    def __new__(cls, requires_grad=True, device=None, dtype=None):
        import torch
        return Tensor._make_subclass(cls, torch.empty(0, dtype=dtype), requires_grad)

    def materialize(self, shape, device=None, dtype=None):
        import torch
        self.data = torch.empty(shape, dtype=dtype or self.dtype)
        self.__class__ = Parameter

    def __repr__(self):
        return '<UninitializedParameter>'


class UninitializedBuffer(_Uninitialized, Tensor):
    def __new__(cls, requires_grad=False, device=None, dtype=None):
        import torch
        return Tensor._make_subclass(cls, torch.empty(0, dtype=dtype), False)

    def materialize(self, shape, device=None, dtype=None):
        import torch
        self.data = torch.empty(shape, dtype=dtype or self.dtype)
        self.__class__ = Tensor

    def __repr__(self):
        return '<UninitializedBuffer>'


def is_lazy(value):
    return isinstance(value, _Uninitialized)
