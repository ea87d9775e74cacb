"""fxscope as a module of a user's own Python: python3 extension.py, with PYTHONPATH."""
import os
import sys
import tempfile
import types

import fxscope
from tap import main, raises

MODEL = '''Net(
  (conv): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))
)
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv : [#users=2] = call_module[target=conv](args = (%x,), kwargs = {})
    %relu : [#users=2] = call_function[target=torch.relu](args = (%conv,), kwargs = {})
    %chunk : [#users=1] = call_function[target=torch.chunk](args = (%conv, 2, 1), kwargs = {})
    %size : [#users=1] = call_method[target=size](args = (%relu, 0), kwargs = {})
    return (relu, chunk, size)
'''


class Example:
    """What has a shape and a dtype is an input, whoever made it."""
    shape, dtype = (2, 3, 8, 8), 'torch.float32'


def test_shapes_are_dicts():
    shapes = fxscope.shapes(MODEL, [Example()])
    assert shapes['conv'] == {'dtype': 'float32', 'shape': [2, 8, 6, 6]}
    assert [part['shape'] for part in shapes['chunk']] == [[2, 4, 6, 6]] * 2
    assert shapes['size'] is None
    assert fxscope.shapes(MODEL, {'x': '1x3x4x4'})['relu']['shape'] == [1, 8, 2, 2]
    assert fxscope.shapes(MODEL, '1x3x4x4') == fxscope.shapes(MODEL, [(1, 3, 4, 4)])


def test_a_picture_shows_itself_and_is_saved():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'net.svg')
        picture = fxscope.draw(MODEL, [Example()], path, title='A title')
        with open(path, encoding='utf-8') as file:
            text = file.read()
        assert text == picture._repr_svg_() == picture.svg and text.startswith('<svg')
        assert '2, 8, 6, 6' in text and 'A title' in text
        assert picture.save(os.path.join(folder, 'net.png')) is picture
        assert picture.bytes('pdf').startswith(b'%PDF')
        raises(RuntimeError, picture.save, os.path.join(folder, 'net.xyz'), text='xyz')
        assert not os.path.exists(os.path.join(folder, 'net.xyz'))
        model = os.path.join(folder, 'net.fx')
        with open(model, 'w', encoding='utf-8') as file:
            file.write(MODEL)
        assert fxscope.draw(model, [Example()]).svg == fxscope.draw(MODEL, [Example()]).svg


def test_a_picture_in_colours():
    picture = fxscope.draw(MODEL, [Example()], color_by='flops', palette='grey', edge_shapes=True,
                           show='name,shape')
    assert 'FLOPs' in picture.svg and '>2\u00d78\u00d76\u00d76<' in picture.svg
    assert 'call_module<' not in picture.svg
    assert fxscope.draw(MODEL, [Example()], rows='name').svg == fxscope.draw(
        MODEL, [Example()], show='name').svg
    raises(RuntimeError, lambda: fxscope.draw(MODEL, color_by='mood').svg, text='known: kind')
    raises(ValueError, lambda: fxscope.draw(MODEL, show='name,moods').svg, text='name,moods')


def test_tables_tell_values():
    row = {node['name']: node for node in fxscope.table(MODEL, [Example()], execute=True)}['conv']
    assert row['outcome'] == 'done' and row['flops'] > 0 and row['parameters'] == 224


def test_what_is_wrong_is_said():
    raises(TypeError, fxscope.draw, 3, text='a model is expected, not int')
    raises(RuntimeError, fxscope.draw, 'this is\nno model', text='model:2:9')
    raises(RuntimeError, fxscope.draw, MODEL, ['no shape'], text='no shape')
    raises(FileNotFoundError, fxscope.draw, 'nowhere.fx')
    bad = fxscope.table(MODEL, ['1x4x8x8'])[1]
    assert bad['outcome'] == 'failed' and '[1, 4, 8, 8]' in bad['message']


def test_torch_is_fxscopes_after_install_and_never_instead_of_another():
    other = sys.modules['torch'] = types.ModuleType('torch')
    raises(RuntimeError, fxscope.install, text='before `import torch`')
    del sys.modules['torch']
    fxscope.install()
    fxscope.install()
    import torch
    assert torch is not other and torch.__fxscope__
    assert (torch.ones(2, 3) @ torch.ones(3, 1)).tolist() == [[3], [3]]
    assert fxscope.shapes(MODEL, [torch.zeros(1, 3, 5, 5)])['conv']['shape'] == [1, 8, 3, 3]


if __name__ == '__main__':
    sys.exit(main(globals()))
