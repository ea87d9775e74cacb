"""Of torch.package, what names objects for import statements."""


class _SysImporter:
    def import_module(self, module_name):
        import importlib
        return importlib.import_module(module_name)

    def whichmodule(self, obj, name):
        return getattr(obj, '__module__', None) or 'builtins'

    def get_name(self, obj, name=None):
        """(module, name) under which an import statement finds the object."""
        if name is None:
            name = getattr(obj, '__qualname__', None) or getattr(obj, '_name', None) or \
                obj.__name__
        return self.whichmodule(obj, name), name


sys_importer = _SysImporter()
