"""torch.nn.Module: a tree of named modules, parameters and buffers.

What users subclass. During a trace, torch.fx puts its own functions in the place of __call__ and
__getattr__; nothing else here knows of tracing.
"""
import itertools
from collections import OrderedDict, namedtuple

from _fxscope import Tensor
from ..parameter import Buffer, Parameter, UninitializedParameter

__all__ = ['Module']


class _IncompatibleKeys(namedtuple('IncompatibleKeys', ['missing_keys', 'unexpected_keys'])):
    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return '<All keys matched successfully>'
        return super().__repr__()
    __str__ = __repr__


class RemovableHandle:
    """What register_..._hook gives: remove() takes the hook out."""
    _ids = itertools.count()

    def __init__(self, hooks):
        self.hooks, self.id = hooks, next(RemovableHandle._ids)

    def remove(self):
        self.hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def _addindent(text, spaces):
    first, *rest = text.split('\n')
    return '\n'.join([first] + [' ' * spaces + line for line in rest])


_SLOTS = ('_parameters', '_buffers', '_modules')


class Module:
    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False

    def __init__(self, *args, **kwargs):
        put = super().__setattr__
        put('training', True)
        for name in ('_parameters', '_buffers', '_modules', '_backward_hooks', '_forward_hooks',
                     '_forward_pre_hooks', '_state_dict_hooks', '_load_state_dict_pre_hooks',
                     '_load_state_dict_post_hooks'):
            put(name, OrderedDict())
        put('_non_persistent_buffers_set', set())
        put('_is_full_backward_hook', None)

    # ---- attributes

    def __setattr__(self, name, value):
        slots = self.__dict__
        if '_parameters' not in slots:
            for kind, what in ((Parameter, 'parameters'), (Module, 'module')):
                if isinstance(value, kind):
                    raise AttributeError(f'cannot assign {what} before Module.__init__() call')
            return object.__setattr__(self, name, value)
        if isinstance(value, Parameter):
            self._forget(name, '_parameters')
            return self.register_parameter(name, value)
        parameters = slots['_parameters']
        if name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")
            return self.register_parameter(name, None)
        if isinstance(value, Module):
            self._forget(name, '_modules')
            slots['_modules'][name] = value
            return
        if name in slots['_modules']:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")
            slots['_modules'][name] = value
            return
        if isinstance(value, Buffer):
            self._forget(name, '_buffers')
            return self.register_buffer(name, value, value.persistent)
        if name in slots['_buffers']:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_typename(value)}' as buffer '{name}' "
                                "(torch.Tensor or None expected)")
            slots['_buffers'][name] = value
            return
        object.__setattr__(self, name, value)

    def _forget(self, name, but):
        """Takes a name out of every place but one."""
        self.__dict__.pop(name, None)
        for slot in _SLOTS:
            if slot != but:
                self.__dict__[slot].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name):
        slots = self.__dict__
        for slot in _SLOTS:
            found = slots.get(slot)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for slot in _SLOTS:
            if name in self.__dict__[slot]:
                del self.__dict__[slot][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = set(dir(type(self))) | set(self.__dict__)
        for slot in _SLOTS:
            names |= set(self.__dict__[slot])
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state):
        self.__dict__.update(state)

    # ---- registration

    def _check_name(self, name, what):
        if not isinstance(name, str):
            raise TypeError(f'{what} name should be a string. Got {_typename(name)}')
        if '.' in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if name == '':
            raise KeyError(f'{what} name can\'t be empty string ""')

    def register_buffer(self, name, tensor, persistent=True):
        if '_buffers' not in self.__dict__:
            raise AttributeError('cannot assign buffer before Module.__init__() call')
        self._check_name(name, 'buffer')
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        if '_parameters' not in self.__dict__:
            raise AttributeError('cannot assign parameter before Module.__init__() call')
        self._check_name(name, 'parameter')
        if name not in self._parameters and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{_typename(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        self._parameters[name] = param

    def add_module(self, name, module):
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f'{_typename(module)} is not a Module subclass')
        if not isinstance(name, str):
            raise TypeError(f'module name should be a string. Got {_typename(name)}')
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if '.' in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == '':
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = module

    register_module = add_module

    # ---- calls and hooks

    def forward(self, *input):
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function')

    def _call_impl(self, *input, **kwargs):
        for hook in tuple(self._forward_pre_hooks.values()):
            changed = hook(self, input)
            if changed is not None:
                input = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*input, **kwargs)
        for hook in tuple(self._forward_hooks.values()):
            changed = hook(self, input, result)
            if changed is not None:
                result = changed
        return result

    __call__ = _call_impl

    def _hook(self, hooks, hook):
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def register_forward_pre_hook(self, hook):
        return self._hook(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        return self._hook(self._forward_hooks, hook)

    # There is no backward pass here: these hooks are kept, and never run.
    def register_full_backward_hook(self, hook):
        return self._hook(self._backward_hooks, hook)

    register_backward_hook = register_full_backward_hook

    def register_load_state_dict_post_hook(self, hook):
        return self._hook(self._load_state_dict_post_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        run = (lambda *args: hook(self, *args)) if with_module else hook
        return self._hook(self._load_state_dict_pre_hooks, run)

    def _register_state_dict_hook(self, hook):
        return self._hook(self._state_dict_hooks, hook)

    # ---- walks

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix='', remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = prefix + ('.' if prefix else '') + name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def _named_members(self, members, prefix='', recurse=True):
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in members(module):
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield path + ('.' if path else '') + name, value

    def named_parameters(self, prefix='', recurse=True):
        return self._named_members(lambda m: m._parameters.items(), prefix, recurse)

    def parameters(self, recurse=True):
        for _, value in self.named_parameters(recurse=recurse):
            yield value

    def named_buffers(self, prefix='', recurse=True):
        return self._named_members(lambda m: m._buffers.items(), prefix, recurse)

    def buffers(self, recurse=True):
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    def get_submodule(self, target):
        module = self
        for name in target.split('.') if target else ():
            if not hasattr(module, name):
                raise AttributeError(f'{module._get_name()} has no attribute `{name}`')
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f'`{name}` is not an nn.Module')
        return module

    def _get_member(self, target, kind, what):
        path, _, name = target.rpartition('.')
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f'{module._get_name()} has no attribute `{name}`')
        value = getattr(module, name)
        if kind(module, name, value):
            return value
        raise AttributeError(f'`{name}` is not {what}')

    def get_parameter(self, target):
        return self._get_member(target, lambda m, n, v: isinstance(v, Parameter),
                                'an nn.Parameter')

    def get_buffer(self, target):
        return self._get_member(target, lambda m, n, v: n in m._buffers, 'a buffer')

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- mode, place and precision

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError('training mode is expected to be boolean')
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=False):
        for parameter in self.parameters():
            parameter.grad = None

    def _apply(self, fn):
        for module in self.children():
            module._apply(fn)
        for name, value in self._parameters.items():
            if value is not None:
                value.data = fn(value.data)
        for name, value in self._buffers.items():
            if value is not None:
                self._buffers[name] = fn(value)
        return self

    def _cast(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self):
        import torch
        return self._cast(torch.float32)

    def double(self):
        import torch
        return self._cast(torch.float64)

    def half(self):
        import torch
        return self._cast(torch.float16)

    def bfloat16(self):
        import torch
        return self._cast(torch.bfloat16)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def to(self, *args, **kwargs):
        """Everything is on the CPU here, so devices change nothing; a floating dtype does."""
        import torch
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                value = value.dtype
            if isinstance(value, torch.dtype):
                if not (value.is_floating_point or value.is_complex):
                    raise TypeError('nn.Module.to only accepts floating point or complex '
                                    f'dtypes, but got desired dtype={value}')
                return self._cast(value)
        return self

    def cuda(self, device=None):
        return self

    cpu = ipu = xpu = share_memory = cuda

    def to_empty(self, *, device):
        return self

    def compile(self, *args, **kwargs):
        return None

    # ---- state

    def get_extra_state(self):
        raise RuntimeError('This module has no extra state: define get_extra_state')

    def set_extra_state(self, state):
        raise RuntimeError('This module has no extra state: define set_extra_state')

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._parameters.items():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        for name, value in self._buffers.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + '_extra_state'] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix='', keep_vars=False):
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = {'version': self._version}
        if hasattr(destination, '_metadata'):
            destination._metadata[prefix[:-1]] = local
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + '.',
                                  keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local)
            if changed is not None:
                destination = changed
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys,
                              unexpected_keys, error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs)
        own = {name: value for name, value in (*self._parameters.items(), *self._buffers.items())
               if value is not None and name not in self._non_persistent_buffers_set}
        for name, value in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, Tensor):
                error_msgs.append(f'While copying the parameter named "{key}", expected '
                                  f'torch.Tensor or Tensor-like object from checkpoint but '
                                  f'received {type(given)}')
            elif given.shape != value.shape:
                error_msgs.append(f'size mismatch for {key}: copying a param with shape '
                                  f'{given.shape} from checkpoint, the shape in current model is '
                                  f'{value.shape}.')
            else:
                value.data.copy_(given)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != prefix + '_extra_state':
                    name = key[len(prefix):].split('.', 1)[0]
                    if name not in self._modules and name not in own:
                        unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True):
        if getattr(state_dict, '_fxscope_skipped', False):
            return _IncompatibleKeys([], [])  # pretrained weights that were not fetched
        if not hasattr(state_dict, 'keys'):
            raise TypeError(f'Expected state_dict to be dict-like, got {type(state_dict)}.')
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, '_metadata', None) or {}
        state_dict = OrderedDict(state_dict)

        def load(module, prefix):
            module._load_from_state_dict(state_dict, prefix, metadata.get(prefix[:-1], {}), True,
                                         missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    load(child, prefix + name + '.')
            keys = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, keys)

        load(self, '')
        if strict:
            for what, keys in (('Unexpected', unexpected), ('Missing', missing)):
                if keys:
                    names = ', '.join(f'"{key}"' for key in keys)
                    errors.insert(0, f'{what} key(s) in state_dict: {names}. ')
        if errors:
            raise RuntimeError('Error(s) in loading state_dict for {}:\n\t{}'.format(
                type(self).__name__, '\n\t'.join(errors)))
        return _IncompatibleKeys(missing, unexpected)

    # ---- texts

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ''

    def __repr__(self):
        extra = self.extra_repr()
        extra = extra.split('\n') if extra else []
        below = [f'({name}): ' + _addindent(repr(module), 2)
                 for name, module in self._modules.items() if not (_for_core and ')' in name)]
        text = self._get_name() + '('
        if len(extra) == 1 and not below:
            text += extra[0]
        elif extra or below:
            text += '\n  ' + '\n  '.join(extra + below) + '\n'
        return text + ')'

    def _replicate_for_data_parallel(self):
        raise NotImplementedError('there are no devices to replicate a module on')


_for_core = False


def hidden(**arguments):
    """extra_repr of a layer whose repr hides arguments: nothing, but for the library's own eyes,
    which has to know them to run the layer."""
    return ', '.join(f'{k}={v!r}' for k, v in arguments.items()) if _for_core else ''


def left_out(module, path=''):
    """What core_text leaves out, since its text could not be read back: (path of the parent, name,
    module) of submodules with odd names, but not of what is below those."""
    found = []
    for name, child in module._modules.items():
        if ')' in name:
            found.append((path, name, child))
        elif child is not None:
            found += left_out(child, f'{path}.{name}' if path else name)
    return found


def core_text(module):
    """repr(module) with what it usually hides."""
    global _for_core
    _for_core = True
    try:
        return repr(module)
    finally:
        _for_core = False


def _typename(value):
    kind = type(value)
    if kind.__module__ in ('builtins', '__builtin__'):
        return kind.__name__
    return f'{kind.__module__}.{kind.__qualname__}'
