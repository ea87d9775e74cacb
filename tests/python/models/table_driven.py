"""A network from a table of its layers."""
import torch
import torch.nn as nn
CFG = [[-1, 1, 'Conv', [8, 3, 2]], [-1, 2, 'C3', [8]], [-1, 1, 'Conv', [16, 3, 2]], [-1, 1, 'SPPF', [16, 5]], [-1, 1, 'nn.Upsample', [None, 2, 'nearest']], [[-1, 1], 1, 'Concat', [1]], [-1, 1, 'C3', [8]], [[6, 3], 1, 'Detect', [3, [[10, 13], [16, 30]]]]]


def autopad(k, p=None):
    return (k // 2 if isinstance(k, int) else [x // 2 for x in k]) if p is None else p


class Conv(nn.Module):
    default_act = nn.SiLU()

    def __init__(self, c1, c2, k=1, s=1, p=None, g=1, act=True):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, autopad(k, p), groups=g, bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = self.default_act if act is True else act if isinstance(act, nn.Module) else nn.Identity()

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Bottleneck(nn.Module):
    def __init__(self, c1, c2, shortcut=True):
        super().__init__()
        self.cv1 = Conv(c1, c2, 1)
        self.cv2 = Conv(c2, c2, 3)
        self.add = shortcut and c1 == c2

    def forward(self, x):
        return x + self.cv2(self.cv1(x)) if self.add else self.cv2(self.cv1(x))


class C3(nn.Module):
    def __init__(self, c1, c2, n=1):
        super().__init__()
        c_ = c2 // 2
        self.cv1, self.cv2, self.cv3 = (Conv(c1, c_), Conv(c1, c_), Conv(2 * c_, c2))
        self.m = nn.Sequential(*(Bottleneck(c_, c_) for _ in range(n)))

    def forward(self, x):
        return self.cv3(torch.cat((self.m(self.cv1(x)), self.cv2(x)), 1))


class SPPF(nn.Module):
    def __init__(self, c1, c2, k=5):
        super().__init__()
        self.cv1 = Conv(c1, c1 // 2)
        self.cv2 = Conv(c1 * 2, c2)
        self.m = nn.MaxPool2d(k, 1, k // 2)

    def forward(self, x):
        import warnings
        x = self.cv1(x)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            y1 = self.m(x)
            y2 = self.m(y1)
            return self.cv2(torch.cat((x, y1, y2, self.m(y2)), 1))


class Concat(nn.Module):
    def __init__(self, d=1):
        super().__init__()
        self.d = d

    def forward(self, x):
        return torch.cat(x, self.d)


class Detect(nn.Module):
    stride = None

    def __init__(self, nc, anchors, ch):
        super().__init__()
        self.nc, self.no, self.nl = (nc, nc + 5, len(anchors))
        self.na = len(anchors[0]) // 2
        self.grid = [torch.empty(0) for _ in range(self.nl)]
        self.register_buffer('anchors', torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList((nn.Conv2d(x, self.no * self.na, 1) for x in ch))

    def forward(self, x):
        z = []
        for i in range(self.nl):
            x[i] = self.m[i](x[i])
            bs, _, ny, nx = x[i].shape
            x[i] = x[i].view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
            if not self.training:
                if self.grid[i].shape[2:4] != x[i].shape[2:4]:
                    self.grid[i] = self._make_grid(nx, ny, i)
                xy, wh, conf = x[i].sigmoid().split((2, 2, self.nc + 1), 4)
                xy = xy * 2 + self.grid[i]
                z.append(torch.cat((xy, (wh * 2) ** 2, conf), 4).view(bs, self.na * nx * ny, self.no))
        return (torch.cat(z, 1), x)

    def _make_grid(self, nx=20, ny=20, i=0):
        d, t = (self.anchors[i].device, self.anchors[i].dtype)
        y, x = (torch.arange(ny, device=d, dtype=t), torch.arange(nx, device=d, dtype=t))
        yv, xv = torch.meshgrid(y, x, indexing='ij')
        return torch.stack((xv, yv), 2).expand(1, self.na, ny, nx, 2) - 0.5


class Yolo(nn.Module):
    def __init__(self, cfg=CFG, ch=3):
        super().__init__()
        chs, layers, self.save = ([ch], [], [])
        for i, (f, n, mod, args) in enumerate(cfg):
            cls = eval(mod)
            if cls in (Conv, C3, SPPF):
                c1, c2 = (chs[f], args[0])
                args = [c1, c2, *args[1:]]
                if cls is C3:
                    args.insert(2, n)
                    n = 1
            elif cls is Concat:
                c2 = sum((chs[x] if x == -1 else chs[x + 1] for x in f))
            elif cls is Detect:
                args.append([chs[x + 1] for x in f])
            else:
                c2 = chs[f]
            m_ = nn.Sequential(*(cls(*args) for _ in range(n))) if n > 1 else cls(*args)
            m_.i, m_.f, m_.type = (i, f, mod)
            self.save.extend((x % i for x in ([f] if isinstance(f, int) else f) if x != -1))
            layers.append(m_)
            chs.append(c2)
        self.model = nn.Sequential(*layers)

    def forward(self, x):
        y = []
        for m in self.model:
            if m.f != -1:
                x = y[m.f] if isinstance(m.f, int) else [x if j == -1 else y[j] for j in m.f]
            x = m(x)
            y.append(x if m.i in self.save else None)
        return x
