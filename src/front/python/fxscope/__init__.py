"""fxscope: draws neural networks, and shows what every node computes.

    import fxscope
    fxscope.draw(model, [torch.zeros(1, 3, 224, 224)], 'model.svg')
    fxscope.shapes(model, ['1x3x224x224'])['layer1_0_conv1']

The model may be a torch.nn.Module or a torch.fx.GraphModule of the PyTorch that is imported, a
torch.fx.Graph, or text as print(model) and print(graph) give it. Without PyTorch, install() makes
`import torch` find fxscope's own modules; then a text 'FILE.py:EXPR' is a model too.
"""
import inspect as _inspect
import json as _json
import opcode as _opcode
import os as _os
import sys as _sys
import types as _types

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

def _constants(module, graph):
    """Tensors that a trace met and gave the module as attributes."""
    for node in graph.nodes:
        value = module if node.op == 'get_attr' else None
        for part in node.target.split('.') if value is not None else ():
            value = getattr(value, part, None)
        if hasattr(value, 'shape'):
            yield node.target, value


def _tensors(module, graph):
    """Declarations of all parameters and buffers, and what else the graph reads."""
    seen = set()
    for kind, named in (('parameter', module.named_parameters()),
                        ('buffer', module.named_buffers()),
                        ('buffer', _constants(module, graph))):
        for name, tensor in named:
            if name in seen:
                continue
            seen.add(name)
            yield f'{kind} {name}: {tensor.dtype}[{", ".join(map(str, tensor.shape))}]'


# PyTorch before 2.0 does not know the bytecode of Python 3.11: what it gets wrong in a trace.

def _iterate(proxy):
    """Proxy.__iter__ that sees `b, c, h, w = x.shape`."""
    frame = _sys._getframe(1)
    code, at = frame.f_code.co_code, frame.f_lasti
    if code[at] == _opcode.opmap['UNPACK_SEQUENCE']:
        return (proxy[i] for i in range(code[at + 1]))
    return proxy.tracer.iter(proxy)


def _with_arguments(function, count):
    """The function with *args and **kwargs as ordinary ones, count in all."""
    code = function.__code__
    flags = code.co_flags & ~(_inspect.CO_VARARGS | _inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0,
                        co_flags=flags)
    return _types.FunctionType(code, function.__globals__, function.__name__,
                               function.__defaults__, function.__closure__)


def _trace(torch, module):
    """torch.fx.symbolic_trace(module).graph"""
    places = [(torch.fx.Proxy, '__iter__', _iterate),
              (torch.fx._symbolic_trace, '_patch_function', _with_arguments)]
    if _sys.version_info < (3, 11) or int(torch.__version__.partition('.')[0]) >= 2 or \
            hasattr(torch, '__fxscope__'):
        places = []
    before = [getattr(owner, name) for owner, name, _ in places]
    try:
        for owner, name, function in places:
            setattr(owner, name, function)
        return torch.fx.symbolic_trace(module).graph
    finally:
        for (owner, name, _), function in zip(places, before):
            setattr(owner, name, function)


def _module_text(module):
    torch = _sys.modules[type(module).__mro__[-2].__module__.partition('.')[0]]
    graph = getattr(module, 'graph', None)
    if not isinstance(graph, torch.fx.Graph):
        graph = _trace(torch, module)
    return '\n'.join([torch.nn.Module.__repr__(module), *_tensors(module, graph), str(graph), ''])


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
