"""fxscope as a module of a user's own Python, beside the PyTorch that is installed there:
python3 beside_torch.py, with PYTHONPATH."""
import importlib.util
import sys
import warnings

import fxscope
from tap import Skip, main

warnings.simplefilter('ignore')
if importlib.util.find_spec('torch'):
    import torch

    class Block(torch.nn.Module):
        """What PyTorch 1.13 can not trace with Python 3.11, and what it makes attributes of."""
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 4)
            self.twice = torch.nn.Sequential(self.layer)
            self.scale = [torch.full((4,), 2.0)]

        def forward(self, x, *more, **named):
            b, c = x.shape
            y = self.twice(x).reshape(b, c) * self.scale[0]
            return torch.cat([y, y], 1), self.layer.weight


def need(name):
    if not importlib.util.find_spec(name):
        raise Skip(f'{name} is not installed')


def test_what_torch_traces_has_shapes():
    need('torch')
    before = torch.fx.Proxy.__iter__
    rows = fxscope.table(Block().eval(), {'x': torch.zeros(3, 4)})
    assert [row['name'] for row in rows if row['outcome'] not in ('done', 'inferred')] == [], rows
    shapes = fxscope.shapes(Block(), {'x': '3x4'})
    assert shapes['cat']['shape'] == [3, 8] and shapes['layer_weight']['shape'] == [4, 4], shapes
    assert torch.fx.Proxy.__iter__ is before


def test_torchvisions_models_are_what_torch_computes():
    need('torchvision')
    import torchvision
    for name in ('resnet18', 'vit_b_16', 'shufflenet_v2_x0_5', 'swin_t', 'maxvit_t'):
        model = getattr(torchvision.models, name)(weights=None).eval()
        picture = fxscope.draw(model, [torch.zeros(1, 3, 224, 224)])
        assert picture._repr_svg_().startswith('<svg'), name
        last = list(fxscope.shapes(model, ['1x3x224x224']).values())[-1]
        assert last == {'dtype': 'float32', 'shape': [1, 1000]}, (name, last)


if __name__ == '__main__':
    main(globals())
