"""Small stand-ins for packages that model files use and a machine may lack. Each is found under
the package's own name, only when the package itself is not installed."""
import importlib
import importlib.machinery
import sys

_HERE = {'einops': 'einops', 'einops.layers': 'einops_layers', 'einops.layers.torch':
         'einops_torch', 'einops.einops': 'einops', 'numpy': 'numpy', 'numpy.random':
         'numpy_random', 'typing_extensions': 'typing_extensions'}


class Finder:
    """Comes after all finders but that of missing packages."""
    def find_spec(self, name, path=None, target=None):
        if name not in _HERE:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from fxfront.notes import note
        name = module.__name__
        inner = importlib.import_module(f'fxfront.standins.{_HERE[name]}')
        for key, value in vars(inner).items():
            if not (key.startswith('__') and key.endswith('__')) or key == '__version__':
                setattr(module, key, value)
        if hasattr(inner, '__getattr__'):
            module.__getattr__ = inner.__getattr__
        module.__path__ = []
        if '.' not in name and name != 'typing_extensions':
            note(f'{name} is not installed: a stand-in with its most used functions takes its '
                 'place')


_finder = Finder()


def install():
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
