"""annotate: gives a traced value a type."""
from torch.fx.proxy import Proxy


def annotate(val, type):
    """The node of val, which is a proxy, gets that type; other values are left alone."""
    if not isinstance(val, Proxy):
        return val
    if val.node.type:
        raise RuntimeError(
            'Tried to annotate a value that already had a type on it! Existing type is '
            f'{val.node.type} and new type is {type}. This could happen if you tried to annotate '
            'a function parameter value (in which case you should use the type slot on the '
            'function signature) or you called annotate on the same value twice')
    val.node.type = type
    return val
