"""PassBase: what a pass is."""
import abc
from collections import namedtuple

from torch.fx.graph_module import GraphModule

__all__ = ['PassResult', 'PassBase']

PassResult = namedtuple('PassResult', ('graph_module', 'modified'))


class PassBase(abc.ABC):
    """requires, then call, then ensures; call gives a PassResult or None."""

    def __call__(self, graph_module):
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module):
        pass

    def requires(self, graph_module):
        pass

    def ensures(self, graph_module):
        pass
