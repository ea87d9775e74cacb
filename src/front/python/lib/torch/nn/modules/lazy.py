"""torch.nn.modules.lazy: layers whose widths come from the first input they see."""
from ..parameter import is_lazy


class LazyModuleMixin:
    cls_to_become = None

    def has_uninitialized_params(self):
        return any(is_lazy(value) for value in (*self._parameters.values(),
                                                *self._buffers.values()))

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(
            f'initialize_parameters is not implemented for {type(self).__name__}')

    def _call_impl(self, *input, **kwargs):
        if self.has_uninitialized_params():
            self.initialize_parameters(*input, **kwargs)
            if self.cls_to_become is not None:
                self.__class__ = self.cls_to_become
        return super()._call_impl(*input, **kwargs)

    __call__ = _call_impl
