"""fxscope: draws neural networks, and shows what every node computes.

    import fxscope
    fxscope.draw(model, [torch.zeros(1, 3, 224, 224)], 'model.svg')
    fxscope.shapes(model, ['1x3x224x224'])['layer1_0_conv1']

The model may be a torch.nn.Module or a torch.fx.GraphModule of the PyTorch that is imported, a
torch.fx.Graph, or text as print(model) and print(graph) give it. Without PyTorch, install() makes
`import torch` find fxscope's own modules; then a text 'FILE.py:EXPR' is a model too.
"""
import json as _json
import os as _os
import sys as _sys

from . import _fxscope

__version__ = _fxscope.__version__
__all__ = ['draw', 'install', 'shapes', 'table', 'Picture']


def install():
    """From now on `import torch` finds fxscope's modules. Refused where PyTorch is imported."""
    torch = _sys.modules.get('torch')
    if torch is not None:
        if getattr(torch, '__fxscope__', False):
            return
        raise RuntimeError('fxscope.install(): PyTorch is imported already; call it before '
                           '`import torch`')
    _sys.modules['_fxscope'] = _fxscope
    _fxscope.install_frozen()
    import torch
    torch.__fxscope__ = True


class Picture:
    """A drawn model. Notebooks show it; save() writes it into a file."""

    def __init__(self, model, options):
        self._model, self._options = model, options
        self.notes = ''

    def bytes(self, format='svg'):
        data, self.notes = self._model.draw(format, **self._options)
        return data

    @property
    def svg(self):
        return self.bytes('svg').decode()

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        path = _os.fspath(path)
        data = self.bytes(_os.path.splitext(path)[1].lstrip('.') or 'svg')
        with open(path, 'wb') as file:
            file.write(data)
        return self


# ---- what is given as a model

def _tensors(module):
    """Declarations of all parameters and buffers."""
    for kind, named in (('parameter', module.named_parameters()),
                        ('buffer', module.named_buffers())):
        for name, tensor in named:
            yield f'{kind} {name}: {tensor.dtype}[{", ".join(map(str, tensor.shape))}]'


def _module_text(module):
    torch = _sys.modules[type(module).__mro__[-2].__module__.partition('.')[0]]
    graph = getattr(module, 'graph', None)
    if not isinstance(graph, torch.fx.Graph):
        traced = torch.fx.symbolic_trace(module)
        graph = traced.graph
    return '\n'.join([torch.nn.Module.__repr__(module), *_tensors(module), str(graph), ''])


def _load(model):
    if isinstance(model, (str, _os.PathLike)):
        text = _os.fspath(model)
        file = text.partition(':')[0]
        if file.endswith('.py'):
            install()
            from fxfront import loader
            build, _ = loader.find_model(file, text.partition(':')[2])
            return _load(build())
        if '\n' not in text:
            with open(text, encoding='utf-8') as source:
                return _fxscope.Model(source.read(), text)
        return _fxscope.Model(text)
    if hasattr(model, 'named_parameters'):
        return _fxscope.Model(_module_text(model), type(model).__name__)
    if hasattr(model, 'nodes'):
        return _fxscope.Model(str(model) + '\n')
    raise TypeError(f'a model is expected, not {type(model).__name__}')


# ---- what is given as inputs

def _spec(value):
    """An input as the command line has it."""
    if isinstance(value, str):
        return value
    if value is None:
        return 'none'
    if isinstance(value, (bool, int, float)):
        return f'{type(value).__name__}:{str(value).lower()}'
    shape = 'x'.join(map(str, getattr(value, 'shape', value))) or 'scalar'
    dtype = str(getattr(value, 'dtype', 'float32')).rpartition('.')[2]
    return f'{shape}:{dtype}'


def _inputs(inputs):
    if isinstance(inputs, dict):
        return [f'{name}={_spec(value)}' for name, value in inputs.items()]
    if isinstance(inputs, str) or hasattr(inputs, 'shape'):
        inputs = [inputs]
    return [_spec(value) for value in inputs]


def _run(model, inputs, execute=False):
    loaded = _load(model)
    if inputs or not isinstance(inputs, (list, tuple)):
        loaded.run(_inputs(inputs), execute=execute)
    return loaded


# ---- what it is all for

def draw(model, inputs=(), path=None, *, execute=False, **options):
    """Draws a model, with the shape of every result when inputs are given: tensors, shapes, or
    texts like '1x3x224x224' (see `fxscope help inputs`), in a list, or a dict by name. options:
    theme, direction, title, dpi, show (rows of a node), color_by, palette, edge_shapes. The path's
    extension says the kind: svg, png, pdf, html (a page to look around in), dot."""
    picture = Picture(_run(model, inputs, execute), options)
    if path is not None:
        picture.save(path)
    return picture


def table(model, inputs=(), *, execute=False):
    """What every node computes: a list of dicts."""
    return _json.loads(_run(model, inputs, execute).json())['nodes']


def shapes(model, inputs=()):
    """name of a node -> what its result is: {'dtype': 'float32', 'shape': [1, 3]}, a list of such
    for several, None for what is no tensor or could not be computed."""
    def result(value):
        if isinstance(value, dict) and 'shape' in value:
            return {'dtype': value.get('dtype'), 'shape': value['shape']}
        if isinstance(value, dict):
            items = value.get('items')
            return [result(item) for item in items] if items is not None else None
        return [result(item) for item in value] if isinstance(value, list) else None
    return {node['name']: result(node['result']) for node in table(model, inputs)}
