"""What is read or compiled when it is first asked for: layers, and modules of the standard library that
starting needs none of."""
import sys
import sysconfig

SLOW = ('ast', 'dataclasses', 'dis', 'enum', 'inspect', 'linecache', 're', 'tokenize', 'typing')
before = set(sys.modules)
import torch  # noqa: E402
import torch.fx  # noqa: E402
at_start = [name for name in SLOW if name in sys.modules and name not in before]


class Plain(torch.nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.fc = torch.nn.Linear(4, width)

    def forward(self, x, scale=2):
        return torch.relu(self.fc(x)) * scale


graph = torch.fx.Tracer().trace(Plain())
after_trace = [name for name in SLOW if name in sys.modules and name not in before]

from tap import main, raises  # noqa: E402
import inspect  # noqa: E402
from torch.nn import modules  # noqa: E402


def test_import_and_a_plain_trace_read_no_slow_module():
    assert at_start == [], at_start
    assert after_trace == [], after_trace
    assert [n.target for n in graph.nodes][:2] == ['x', 'scale']
    assert list(graph.nodes)[1].args == (2,)


def test_every_layer_is_found_in_its_module():
    for place in modules._LAYERS:
        module = getattr(modules, place)
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, modules.Module) and \
                    not name.startswith('_') and value.__module__ == module.__name__:
                assert modules._home[name] == place, name
    for name in modules.__all__:
        assert getattr(torch.nn, name) is getattr(modules, name)
        assert name in dir(torch.nn) and name in dir(modules)


def test_star_import_gives_every_layer():
    names = {}
    exec('from torch.nn import *', names)
    assert names['LSTM'] is torch.nn.LSTM and names['ReLU'] is torch.nn.ReLU
    assert {'functional', 'init', 'utils', 'Parameter', 'Module'} <= names.keys()


def test_a_name_that_is_none_is_refused():
    raises(AttributeError, getattr, torch.nn, 'LaterLayer', text='LaterLayer')
    raises(AttributeError, getattr, modules, 'later', text='later')


def test_a_layer_looks_as_if_written_by_hand():
    assert str(inspect.signature(torch.nn.ELU)) == '(alpha=1.0, inplace=False)'
    assert torch.nn.ELU.__init__.__qualname__ == 'ELU.__init__'
    assert torch.nn.ELU.forward.__annotations__ == {'input': torch.Tensor, 'return': torch.Tensor}
    assert torch.nn.Hardshrink.__constants__ == ['lambd']
    assert torch.nn.CELU(alpha=3.).__constants__ == ['alpha', 'inplace']


def test_a_derived_layer_reaches_the_members_of_its_base():
    class Mine(torch.nn.Softshrink):
        def __init__(self):
            super().__init__(0.25)

        def forward(self, x):
            return super().forward(x) + 1
    assert torch.equal(Mine()(torch.zeros(2)), torch.ones(2)) and Mine().lambd == 0.25


def test_what_a_user_puts_in_before_it_was_compiled_stays():
    torch.nn.Softsign.forward = lambda self, x: x + 5
    assert torch.equal(torch.nn.Softsign()(torch.zeros(1)), torch.full((1,), 5.))


def test_typing_names_are_those_of_typing():
    import typing
    from torch.fx.node import Argument, Target
    from torch.fx.proxy import Argument as same
    assert Argument is typing.Any and same is Argument
    assert Target == typing.Union[typing.Callable[..., typing.Any], str]
    assert torch.jit.Final is typing.Final
    assert torch.nn.common_types._size_2_t is typing.Any


def test_the_standard_library_is_read_and_not_a_file_beside_the_model():
    from fxfront import later
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'colorsys.py'), 'w') as out:
            out.write('hls_to_rgb = None\n')
        sys.path.insert(0, folder)
        try:
            assert later.Later('colorsys').hls_to_rgb is not None
            assert sys.path[0] == folder
        finally:
            sys.path.remove(folder)
    assert sys.modules['colorsys'].__file__.startswith(sysconfig.get_path('stdlib'))


def test_what_a_model_puts_in_the_place_of_a_module_is_not_asked():
    from fxfront import later
    import types
    names = 'chunk', 'sndhdr', 'inspect'
    kept = {name: sys.modules.get(name) for name in names}
    mine = types.ModuleType('inspect')
    sys.modules.update(chunk=None, sndhdr=None, inspect=mine)
    later._read.pop('inspect', None)
    try:
        assert callable(later.Later('inspect').signature)
        assert later.Later('sndhdr').what and later.Later('inspect') is not mine
        assert sys.modules['inspect'] is mine and sys.modules['sndhdr'] is None
        assert sys.modules['chunk'] is None
    finally:
        for name, module in kept.items():
            sys.modules.pop(name)
            if module:
                sys.modules[name] = module


def test_the_dictionary_of_a_module_that_is_read_late_is_whole():
    assert torch.nn.__dict__['LazyConv3d'] is torch.nn.LazyConv3d
    assert vars(modules)['CosineSimilarity'] is torch.nn.CosineSimilarity
    assert vars(torch.nn)['utils'] is torch.nn.utils
    layers = [value for value in vars(torch.nn).values()
              if isinstance(value, type) and issubclass(value, torch.nn.Module)]
    assert len(layers) > 130, len(layers)


def test_a_late_member_is_called_from_the_dictionary_of_its_class():
    layer = torch.nn.Softmin(0)
    assert torch.equal(vars(torch.nn.Mish)['forward'](torch.nn.Mish(), torch.zeros(1)), torch.zeros(1))
    layers = vars(torch.nn.Hardsigmoid)['forward'], torch.nn.Hardsigmoid.__dict__['__init__']
    assert all(map(callable, layers)) and layer.dim == 0


if __name__ == '__main__':
    sys.exit(main(globals()))
