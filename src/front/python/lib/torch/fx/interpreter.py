"""Interpreter: runs a GraphModule node by node. Transformer: makes a new graph that way."""

from fxfront.later import Later
from torch.fx._compatibility import compatibility
from torch.fx._symbolic_trace import Tracer
from torch.fx.graph import Graph, last_uses
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_aggregate, map_arg
from torch.fx.node import __getattr__  # noqa: F401 (Argument, Target: types for annotations)
from torch.fx.proxy import Proxy

inspect = Later('inspect')
__all__ = ['Interpreter', 'Transformer']


class Interpreter:
    """Runs a graph with real values. Each kind of node has a method, which may be overridden."""

    def __init__(self, module, garbage_collect_values=True):
        assert isinstance(module, GraphModule)
        self.module = module
        self.submodules = dict(self.module.named_modules())
        self.env = {}
        self.name = 'Interpreter'
        self.garbage_collect_values = garbage_collect_values
        if garbage_collect_values:
            self.user_to_last_uses = last_uses(self.module.graph.nodes)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The graph's result. initial_env: values of nodes that need not be computed."""
        self.env = initial_env if initial_env else {}
        graph = self.module.graph
        if enable_io_processing:
            args = graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as e:
                self._say_where(e, node)
            if self.garbage_collect_values:
                for dead in self.user_to_last_uses.get(node, ()):
                    del self.env[dead]
            if node.op == 'output':
                value = self.env[node]
                return graph.process_outputs(value) if enable_io_processing else value

    @staticmethod
    def _say_where(e, node):
        said = f'While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}'
        if e.args:
            said = f'{e.args[0]}\n\n{said}'
        e.args = (said,) + e.args[1:]
        if isinstance(e, KeyError):
            raise RuntimeError(*e.args)
        raise e

    def run_node(self, n):
        """The result of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        assert isinstance(args, tuple)
        assert isinstance(kwargs, dict)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        assert isinstance(target, str)
        if target.startswith('*'):
            return list(self.args_iter)  # all that are left
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f'Expected positional argument for parameter {target}, but one was '
                               'not passed in!')

    def get_attr(self, target, args, kwargs):
        assert isinstance(target, str)
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        assert not isinstance(target, str)
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        self_obj, *rest = args
        assert isinstance(target, str)
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        assert isinstance(target, str)
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]

    def fetch_attr(self, target):
        """The attribute of the module at that dotted path."""
        atoms = target.split('.')
        at = self.module
        for i, atom in enumerate(atoms):
            if not hasattr(at, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(atoms[:i])}")
            at = getattr(at, atom)
        return at

    def fetch_args_kwargs_from_env(self, n):
        """n's arguments with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        def load(node):
            if node not in self.env:
                raise RuntimeError(f'Node {n} referenced nonexistent value {node}! Run '
                                   'Graph.lint() to diagnose such issues')
            return self.env[node]
        return map_arg(args, load)


class _TransformerTracer(Tracer):
    """Appends to the new graph; new nodes keep the stack trace of the node that they are from."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph
        self.tensor_attrs, self._parameter_names, self._buffer_names = {}, {}, {}
        self.stack_trace = ''

    def is_leaf_module(self, m, module_qualified_name):
        return True

    def create_proxy(self, *args, **kwargs):
        proxy = super().create_proxy(*args, **kwargs)
        proxy.node.stack_trace = self.stack_trace
        return proxy


class Transformer(Interpreter):
    """Runs a graph on proxies, which record a new graph: methods may be overridden to change it."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target, args, kwargs):
        assert isinstance(target, str)
        default = next(iter(args)) if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target, args, kwargs):
        assert isinstance(target, str)
        return self.tracer.create_proxy('get_attr', target, args, kwargs)

    def call_module(self, target, args, kwargs):
        assert isinstance(target, str)
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        assert callable(target)
        return self.tracer.create_proxy('call_function', target, args, kwargs)

    def run_node(self, n):
        self.tracer.stack_trace = n.stack_trace or ''
        return super().run_node(n)

    def transform(self):
        """The new graph, as a GraphModule."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(map_aggregate(
                result, lambda a: a.node if isinstance(a, Proxy) else a))
        return GraphModule(self.module, self.new_graph)
