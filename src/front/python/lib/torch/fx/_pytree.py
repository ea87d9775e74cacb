"""Flattening along a given spec: what the generated code of a GraphModule with tree inputs calls."""
from torch.utils._pytree import LeafSpec, TreeSpec

SUPPORTED_NODES = {}


def register_pytree_flatten_spec(typ, flatten_fn_spec):
    SUPPORTED_NODES[typ] = flatten_fn_spec


def tree_flatten_spec(pytree, spec):
    """The leaves of pytree at the places that spec has: keys that it lacks are passed over."""
    if isinstance(spec, LeafSpec):
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(
            f'{type(pytree)} does not have a flatten_fn_spec associated with it. Please register '
            'one with torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your '
            'model, make sure that any custom pytrees have been registered before loading it.')
    leaves = []
    for child, child_spec in zip(SUPPORTED_NODES[spec.type](pytree, spec), spec.children_specs):
        leaves += tree_flatten_spec(child, child_spec)
    return leaves


def _by_key(d, spec):
    return [d[k] for k in spec.context]


def _by_index(t, spec):
    return [t[i] for i in range(len(spec.children_specs))]


register_pytree_flatten_spec(dict, _by_key)
register_pytree_flatten_spec(list, _by_index)
register_pytree_flatten_spec(tuple, _by_index)
