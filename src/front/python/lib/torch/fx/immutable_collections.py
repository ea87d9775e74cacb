"""Lists and dicts in the arguments of nodes, which nobody may change in place."""
import _fxscope

_HELP = """\
If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:
    new_args = ... # copy and mutate args
    node.args = new_args
"""


def _refuse(self, *args, **kwargs):
    raise NotImplementedError(
        f"'{type(self).__name__}' object does not support mutation. {_HELP}")


def _immutable(name, base, methods, content):
    body = {m: _refuse for m in methods.split()}
    body['__module__'] = __name__
    body['__reduce__'] = lambda self: (type(self), (content(self),))
    return type(name, (base,), body)


immutable_list = _immutable(
    'immutable_list', list,
    '__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove', tuple)
immutable_dict = _immutable(
    'immutable_dict', dict, '__delitem__ __setitem__ clear pop popitem update',
    lambda self: tuple(self.items()))

_fxscope.fx_register(immutable_list=immutable_list, immutable_dict=immutable_dict)
