"""torch.nn.modules.lazy: layers whose widths come from the first input they see."""
from ..parameter import is_lazy


class LazyModuleMixin:
    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(_initialize)

    def has_uninitialized_params(self):
        return any(is_lazy(value) for value in (*self._parameters.values(),
                                                *self._buffers.values()))

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(
            f'initialize_parameters is not implemented for {type(self).__name__}')


def _initialize(module, input):
    """A hook, so that a trace, which calls no leaf, leaves the layer as it is."""
    if module.has_uninitialized_params():
        module.initialize_parameters(*input)
    module._initialize_hook.remove()
    del module._initialize_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become
