"""What torchvision has for detectors: boxes, the parts of images that they cover, convolutions whose points move."""
from source import prod

from . import case


def kind_of(g):
    return g.pick('float32', 'float32', 'float64')


def boxes(g, n, kind, size=12):
    """n boxes (x1, y1, x2, y2)."""
    t = g.tensor([n, 4], kind, plain=True)
    for i in range(n):
        x, y = g.real(0, size), g.real(0, size)
        t['t']['data'][4 * i:4 * i + 4] = [x, y, round(x + g.real(0.25, size), 2), round(y + g.real(0.25, size), 2)]
    return t


@case('nms')
def nms(g):
    n, kind = g.int(0, 6), kind_of(g)
    return [boxes(g, n, kind), g.tensor([n], kind, 0, 1, distinct=g.chance(0.7)), g.pick(0.0, 0.25, 0.5, 0.9)], {}


def regions(g, channels=1):
    """An image, boxes with the number of their image in front, a scale, and how many bins each box is cut into."""
    n, kind, k, bins = g.int(1, 2), kind_of(g), g.int(0, 3), [g.int(1, 3), g.int(1, 3)]
    rois = g.tensor([k, 5], kind, plain=True)
    corners = boxes(g, k, kind)['t']['data']
    rois['t']['data'] = [x for i in range(k) for x in [float(g.int(0, n - 1))] + corners[4 * i:4 * i + 4]]
    image = g.tensor([n, g.int(1, 2) * (prod(bins) if channels else 1), g.int(2, 6), g.int(2, 6)], kind)
    return [image, rois, g.pick(1.0, 0.5, 0.25)] + bins


@case('roi_align', loose=1e-4)
def roi_align(g):
    return regions(g, 0) + [g.pick(-1, 0, 1, 2), g.chance(0.5)], {}


@case('roi_pool')
def roi_pool(g):
    return regions(g, 0), {}
