"""torch.save and torch.load, for files that fxscope wrote itself: tensors, modules and plain values.
PyTorch's own archives are not read; weights come from .safetensors files."""
import io
import pickle

_MAGIC = b'fxscope pickle 1\n'
_PACKAGES = ('torch.', 'collections.')


class _Unpickler(pickle.Unpickler):
    """Makes only what save() writes: no file can call what it likes."""

    def find_class(self, module, name):
        if module == 'builtins' and name in ('set', 'frozenset', 'slice', 'complex', 'range'):
            return super().find_class(module, name)
        if (module + '.').startswith(_PACKAGES):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f'{module}.{name} is not loaded from files')


def save(obj, f, *args, **kwargs):
    """Writes obj to a path or an open file."""
    data = _MAGIC + pickle.dumps(obj)
    if hasattr(f, 'write'):
        f.write(data)
    else:
        with open(f, 'wb') as out:
            out.write(data)


def load(f, *args, **kwargs):
    """What save wrote."""
    if hasattr(f, 'read'):
        data = f.read()
    else:
        with open(f, 'rb') as source:
            data = source.read()
    if not data.startswith(_MAGIC):
        from fxfront.missing import Unsupported
        raise Unsupported(f'torch.load({getattr(f, "name", f)!r}) is not supported (since fxscope '
                          'reads weights from .safetensors files; drawing needs none)')
    return _Unpickler(io.BytesIO(data[len(_MAGIC):])).load()
