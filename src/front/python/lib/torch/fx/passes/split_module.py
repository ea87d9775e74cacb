"""split_module: groups of nodes become submodules of their own."""
from torch.fx._compatibility import compatibility
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import map_arg

__all__ = ['Partition', 'split_module']


class Partition:
    def __init__(self, name):
        self.name = name
        self.submod_name = f'submod_{name}'
        self.node_names = []
        self.inputs, self.outputs = {}, {}
        self.partitions_dependent_on, self.partition_dependents = {}, {}
        self.graph = Graph()
        self.environment = {}
        self.targets = {}

    def __repr__(self):
        return (f'name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n '
                f'outputs: {self.outputs},\n partitions dependent on: '
                f'{self.partitions_dependent_on},\n partition dependents: '
                f'{self.partition_dependents}')


class _Splitter:
    def __init__(self, m, root_m, split_callback, qualname_map):
        self.m, self.root_m = m, root_m
        self.split_callback, self.qualname_map = split_callback, qualname_map
        self.partitions, self.orig_nodes = {}, {n.name: n for n in m.graph.nodes}

    def assign(self):
        for node in self.m.graph.nodes:
            if node.op in ('placeholder', 'get_attr'):
                continue
            if node.op == 'output':
                map_arg(node.args[0], lambda n: self.record_use(n, None))
                continue
            name = str(self.split_callback(node))
            partition = self.partitions.setdefault(name, None) or Partition(name)
            self.partitions[name] = partition
            partition.node_names.append(node.name)
            node._fx_partition = name
            map_arg(node.args, lambda n: self.record_use(n, node))
            map_arg(node.kwargs, lambda n: self.record_use(n, node))

    def record_use(self, def_node, use_node):
        defined = getattr(def_node, '_fx_partition', None)
        used = getattr(use_node, '_fx_partition', None)
        if defined == used:
            return
        if defined is not None:
            partition = self.partitions[defined]
            partition.outputs.setdefault(def_node.name)
            if used is not None:
                partition.partition_dependents.setdefault(used)
        if used is not None:
            partition = self.partitions[used]
            partition.inputs.setdefault(def_node.name)
            if defined is not None:
                partition.partitions_dependent_on.setdefault(defined)

    def order(self, keep_original_order):
        ready = [n for n, p in self.partitions.items() if not p.partitions_dependent_on]
        if keep_original_order:
            sequence = {n: i for i, n in enumerate(self.partitions)}
        order = []
        while ready:
            if keep_original_order:
                ready.sort(key=sequence.get, reverse=True)
            name = ready.pop()
            order.append(name)
            for dependent in self.partitions[name].partition_dependents:
                waits_for = self.partitions[dependent].partitions_dependent_on
                waits_for.pop(name)
                if not waits_for:
                    ready.append(dependent)
        if len(order) != len(self.partitions):
            raise RuntimeError('cycle exists between partitions!')
        return order

    def fill(self, order):
        for name in order:
            partition = self.partitions[name]
            for input in partition.inputs:
                node = self.orig_nodes[input]
                made = partition.graph.placeholder(input, type_expr=node.type)
                made.meta = node.meta.copy()
                partition.environment[node] = made
        for node in self.m.graph.nodes:
            if hasattr(node, '_fx_partition'):
                self.copy_node(self.partitions[node._fx_partition], node)

    def copy_node(self, partition, node):
        def here(n):
            return partition.environment[n]
        args, kwargs = map_arg(node.args, here), map_arg(node.kwargs, here)
        target = node.target
        if node.op in ('call_module', 'get_attr'):
            value = self.root_m
            for atom in target.split('.'):
                if not hasattr(value, atom):
                    raise RuntimeError(f'Operator target {target} not found!')
                value = getattr(value, atom)
            target = target.replace('.', '_')
            partition.targets[target] = value
            if self.qualname_map is not None:
                self.qualname_map[f'{partition.submod_name}.{target}'] = node.target
        made = partition.graph.create_node(node.op, target, args, kwargs, type_expr=node.type)
        made.meta = node.meta.copy()
        partition.environment[node] = made

    def build(self, order):
        base, env, targets = Graph(), {}, {}
        for node in self.m.graph.nodes:
            if node.op == 'placeholder':
                env[node.name] = base.create_node('placeholder', node.target, node.args,
                                                  type_expr=node.type)
                env[node.name].meta = node.meta.copy()
            elif node.op == 'get_attr':
                env[node.name] = base.get_attr(node.target)
                env[node.name].meta = node.meta.copy()
                value = self.m
                for atom in node.target.split('.'):
                    value = getattr(value, atom)
                targets[node.target] = value
        for name in order:
            partition = self.partitions[name]
            outputs = tuple(partition.environment[self.orig_nodes[n]] for n in partition.outputs)
            partition.graph.output(outputs[0] if len(outputs) == 1 else outputs)
            targets[partition.submod_name] = GraphModule(partition.targets, partition.graph)
            call = base.call_module(partition.submod_name,
                                    tuple(env[n] for n in partition.inputs))
            self.unpack(call, list(partition.outputs), env)
        for node in self.m.graph.nodes:
            if node.op == 'output':
                base.output(map_arg(node.args[0], lambda n: env[n.name]))
        return GraphModule(targets, base)

    @staticmethod
    def unpack(call, names, env):
        from torch.fx.proxy import Proxy
        if len(names) > 1:
            proxy = Proxy(call)
            for i, name in enumerate(names):
                env[name] = proxy[i].node
        else:
            env[names[0]] = call


def split_module(m, root_m, split_callback, qualname_map=None, keep_original_order=False):
    """A GraphModule that calls submod_PART for each part that split_callback(node) names.
    qualname_map, if given, gets new path -> path in root_m."""
    splitter = _Splitter(m, root_m, split_callback, qualname_map)
    try:
        splitter.assign()
        order = splitter.order(keep_original_order)
        splitter.fill(order)
        return splitter.build(order)
    finally:
        for node in m.graph.nodes:
            if hasattr(node, '_fx_partition'):
                del node._fx_partition
