"""Trees of lists, tuples, dicts: taking them apart into leaves, and putting them together again."""
from collections import OrderedDict, namedtuple

NodeDef = namedtuple('NodeDef', ('flatten_fn', 'unflatten_fn'))
SUPPORTED_NODES = {}


def _register_pytree_node(typ, flatten_fn, unflatten_fn):
    SUPPORTED_NODES[typ] = NodeDef(flatten_fn, unflatten_fn)


_register_pytree_node(dict, lambda d: (list(d.values()), list(d.keys())),
                      lambda values, keys: dict(zip(keys, values)))
_register_pytree_node(list, lambda x: (x, None), lambda values, context: list(values))
_register_pytree_node(tuple, lambda x: (list(x), None), lambda values, context: tuple(values))
_register_pytree_node(namedtuple, lambda x: (list(x), type(x)),
                      lambda values, context: context(*values))
_register_pytree_node(OrderedDict, lambda d: (list(d.values()), list(d.keys())),
                      lambda values, keys: OrderedDict(zip(keys, values)))


def _is_namedtuple_instance(pytree):
    cls = type(pytree)
    fields = getattr(cls, '_fields', None)
    return cls.__bases__ == (tuple,) and isinstance(fields, tuple) and \
        all(type(f) is str for f in fields)


def _get_node_type(pytree):
    return namedtuple if _is_namedtuple_instance(pytree) else type(pytree)


def _is_leaf(pytree):
    return _get_node_type(pytree) not in SUPPORTED_NODES


class TreeSpec:
    """The shape of a tree without its leaves."""

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(s.num_leaves for s in children_specs)

    def __repr__(self):
        return f'TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})'

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and \
            (self.type, self.context, self.children_specs) == \
            (other.type, other.context, other.children_specs)

    def __ne__(self, other):
        return not self == other


class LeafSpec(TreeSpec):
    def __init__(self):
        super().__init__(None, None, [])
        self.num_leaves = 1

    def __repr__(self):
        return '*'


def tree_flatten(pytree):
    """The leaves of a tree in a list, and its TreeSpec."""
    if _is_leaf(pytree):
        return [pytree], LeafSpec()
    node_type = _get_node_type(pytree)
    children, context = SUPPORTED_NODES[node_type].flatten_fn(pytree)
    leaves, specs = [], []
    for child in children:
        flat, spec = tree_flatten(child)
        leaves += flat
        specs.append(spec)
    return leaves, TreeSpec(node_type, context, specs)


def tree_unflatten(values, spec):
    """The tree with that spec whose leaves are the values."""
    if not isinstance(spec, TreeSpec):
        raise ValueError(f'tree_unflatten(values, spec): Expected `spec` to be instance of '
                         f'TreeSpec but got item of type {type(spec)}.')
    if len(values) != spec.num_leaves:
        raise ValueError(f'tree_unflatten(values, spec): `values` has length {len(values)} but '
                         f'the spec refers to a pytree that holds {spec.num_leaves} items ({spec}).')
    if isinstance(spec, LeafSpec):
        return values[0]
    start, children = 0, []
    for child in spec.children_specs:
        children.append(tree_unflatten(values[start:start + child.num_leaves], child))
        start += child.num_leaves
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def tree_map(fn, pytree):
    leaves, spec = tree_flatten(pytree)
    return tree_unflatten([fn(x) for x in leaves], spec)


def tree_map_only(ty, fn, pytree):
    return tree_map(lambda x: fn(x) if isinstance(x, ty) else x, pytree)


def tree_all(pred, pytree):
    return all(map(pred, tree_flatten(pytree)[0]))


def tree_any(pred, pytree):
    return any(map(pred, tree_flatten(pytree)[0]))


def _broadcast_to_and_flatten(pytree, spec):
    """The leaves of a tree that may be a prefix of spec, one for each leaf of it; else None."""
    if _is_leaf(pytree):
        return [pytree] * spec.num_leaves
    if isinstance(spec, LeafSpec) or _get_node_type(pytree) != spec.type:
        return None
    children, context = SUPPORTED_NODES[spec.type].flatten_fn(pytree)
    if len(children) != len(spec.children_specs) or context != spec.context:
        return None
    leaves = []
    for child, child_spec in zip(children, spec.children_specs):
        flat = _broadcast_to_and_flatten(child, child_spec)
        if flat is None:
            return None
        leaves += flat
    return leaves


def __getattr__(name):
    if name in ('PyTree', 'Context'):
        from typing import Any
        return Any
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
