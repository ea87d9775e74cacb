"""A feature pyramid over a backbone from a registry, with anchors."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from abc import ABCMeta, abstractmethod
from collections import OrderedDict, namedtuple
from typing import Dict, List


class ShapeSpec(namedtuple('_ShapeSpec', ['channels', 'height', 'width', 'stride'])):
    def __new__(cls, channels=None, height=None, width=None, stride=None):
        return super().__new__(cls, channels, height, width, stride)


class Registry(dict):
    def register(self, f=None):
        if f is None:
            return lambda g: self.register(g)
        self[f.__name__] = f
        return f


BACKBONES = Registry()


class Backbone(nn.Module, metaclass=ABCMeta):
    def __init__(self):
        super().__init__()

    @abstractmethod
    def forward(self):
        pass

    @property
    def size_divisibility(self):
        return 0

    def output_shape(self):
        return {n: ShapeSpec(channels=self._c[n], stride=self._s[n]) for n in self._out}


class Res(Backbone):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(OrderedDict([('conv1', nn.Conv2d(3, 8, 3, 2, 1)), ('bn', nn.BatchNorm2d(8))]))
        for i in (2, 3, 4):
            self.add_module(f'res{i}', nn.Conv2d(8 * (i - 1), 8 * i, 3, 2, 1))
        self._out = ['res2', 'res3', 'res4']
        self._c = {'res2': 16, 'res3': 24, 'res4': 32}
        self._s = {'res2': 4, 'res3': 8, 'res4': 16}

    def forward(self, x):
        assert x.dim() == 4, f'got an input of shape {x.shape} instead!'
        outputs = {}
        x = F.relu_(self.stem(x))
        for name in self._out:
            x = F.relu(getattr(self, name)(x))
            outputs[name] = x
        return outputs


class FPN(Backbone):
    def __init__(self, bottom_up, in_features, c):
        super().__init__()
        shapes = bottom_up.output_shape()
        lat, out = ([], [])
        for i, f in enumerate(in_features):
            l = nn.Conv2d(shapes[f].channels, c, 1)
            o = nn.Conv2d(c, c, 3, padding=1)
            nn.init.kaiming_uniform_(l.weight, a=1)
            self.add_module(f'fpn_lateral{i}', l)
            self.add_module(f'fpn_output{i}', o)
            lat.append(l)
            out.append(o)
        self.lateral, self.output = (lat[::-1], out[::-1])
        self.bottom_up, self.in_features = (bottom_up, tuple(in_features))

    def forward(self, x) -> Dict[str, torch.Tensor]:
        feats = self.bottom_up(x)
        res = []
        prev = self.lateral[0](feats[self.in_features[-1]])
        res.append(self.output[0](prev))
        for idx, (l, o) in enumerate(zip(self.lateral, self.output)):
            if idx > 0:
                f = feats[self.in_features[-idx - 1]]
                td = F.interpolate(prev, scale_factor=2.0, mode='nearest')
                prev = l(f) + td
                res.insert(0, o(prev))
        assert len(res) == 3
        return {f: r for f, r in zip(('p2', 'p3', 'p4'), res)}


class Anchors(nn.Module):
    def __init__(self, strides):
        super().__init__()
        self.strides = strides
        self.cells = nn.ParameterList([nn.Parameter(torch.rand(3, 4), requires_grad=False) for _ in strides])

    def forward(self, feats: List[torch.Tensor]):
        out = []
        for f, s, c in zip(feats, self.strides, self.cells):
            h, w = f.shape[-2:]
            sx = torch.arange(0, w * s, step=s, dtype=torch.float32)
            sy = torch.arange(0, h * s, step=s, dtype=torch.float32)
            yy, xx = torch.meshgrid(sy, sx)
            sh = torch.stack((xx.reshape(-1), yy.reshape(-1), xx.reshape(-1), yy.reshape(-1)), dim=1)
            out.append((sh.view(-1, 1, 4) + c.view(1, -1, 4)).reshape(-1, 4))
        return out


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = FPN(Res(), ['res2', 'res3', 'res4'], 8)
        self.anchors = Anchors([4, 8, 16])
        self.cls = nn.Conv2d(8, 3 * 4, 3, padding=1)

    def forward(self, x):
        f = self.backbone(x)
        feats = [f[k] for k in ('p2', 'p3', 'p4')]
        scores = [self.cls(t).permute(0, 2, 3, 1).flatten(1) for t in feats]
        return (torch.cat(scores, 1), self.anchors(feats))
