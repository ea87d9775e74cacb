"""What torchvision has for detectors: boxes, the parts of images that they cover, convolutions whose points move."""
from source import prod, tup

from . import case, layer


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


@case('ps_roi_align', loose=1e-4)
def ps_roi_align(g):
    return regions(g) + [g.pick(-1, 0, 1, 2)], {}


@case('ps_roi_pool', loose=1e-5)
def ps_roi_pool(g):
    return regions(g), {}


def by_boxes(g, channels):
    """As regions, in the form of the Python functions: boxes of all images, or a list for each; bins as a pair."""
    image, rois, scale, *bins = regions(g, channels)
    kind, n = image['t']['dtype'], image['t']['sizes'][0]
    given = rois if g.chance(0.5) else [boxes(g, g.int(0, 2), kind) for _ in range(n)]
    if bins[0] == bins[1] and g.chance(0.5):
        return [image, given, bins[0]], g.some(spatial_scale=scale)
    return [image, given, bins], g.some(spatial_scale=scale)


@case('roi_align_boxes', loose=1e-4)
def roi_align_boxes(g):
    args, kwargs = by_boxes(g, 0)
    return args, {**kwargs, **g.some(sampling_ratio=g.int(-1, 2), aligned=True)}


@case('roi_pool_boxes')
def roi_pool_boxes(g):
    return by_boxes(g, 0)


@case('ps_roi_align_boxes', loose=1e-4)
def ps_roi_align_boxes(g):
    args, kwargs = by_boxes(g, 1)
    return args, {**kwargs, **g.some(sampling_ratio=g.int(-1, 2))}


@case('ps_roi_pool_boxes', loose=1e-5)
def ps_roi_pool_boxes(g):
    return by_boxes(g, 1)


def pooling_layer(g, channels, **more):
    image, rois, scale, *bins = regions(g, channels)
    return {'output_size': bins[0] if bins[0] == bins[1] else tup(*bins), 'spatial_scale': scale, **more}, [image, rois]


@layer('RoIAlign')
def roi_align_layer(g):
    return pooling_layer(g, 0, sampling_ratio=g.int(-1, 2), **g.some(aligned=True))


@layer('PSRoIAlign')
def ps_roi_align_layer(g):
    return pooling_layer(g, 1, sampling_ratio=g.int(-1, 2))


@layer('RoIPool')
def roi_pool_layer(g):
    return pooling_layer(g, 0)


@layer('PSRoIPool')
def ps_roi_pool_layer(g):
    return pooling_layer(g, 1)


# ---- convolutions whose points move

class Deform:
    """The numbers of one such convolution, for two dimensions."""

    def __init__(self, g):
        self.kind, self.n, self.groups, self.offset_groups = kind_of(g), g.int(1, 3), g.int(1, 2), g.int(1, 2)
        self.channels, self.out_channels = 2 * self.groups * g.int(1, 2), self.groups * g.int(1, 2)
        self.kernel, self.stride, self.pad, self.dilation = ([g.int(low, high) for _ in range(2)]
                                                             for low, high in ((1, 3), (1, 2), (0, 2), (1, 2)))
        self.out = [g.int(1, 3), g.int(1, 3)]
        self.size = [max((o - 1) * s + d * (k - 1) + 1 - 2 * p, 1) for o, s, d, k, p in
                     zip(self.out, self.stride, self.dilation, self.kernel, self.pad)]
        self.out = [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, s, d, k, p in
                    zip(self.size, self.stride, self.dilation, self.kernel, self.pad)]
        points = prod(self.kernel) * self.offset_groups
        self.input = g.tensor([self.n, self.channels] + self.size, self.kind)
        self.weight = g.tensor([self.out_channels, self.channels // self.groups] + self.kernel, self.kind)
        self.offset = g.tensor([self.n, 2 * points] + self.out, self.kind)
        self.mask = g.tensor([self.n, points] + self.out, self.kind, 0, 1)
        self.bias = g.tensor([self.out_channels], self.kind)


@case('deform_conv2d_split', loose=1e-4)
def deform_conv2d_split(g):
    d = Deform(g)
    return [d.input, d.weight, d.offset, d.mask, d.bias, *d.stride, *d.pad, *d.dilation, d.groups, d.offset_groups,
            g.chance(0.6)], {}


@case('deform_conv2d', loose=1e-4)
def deform_conv2d(g):
    d = Deform(g)
    return [d.input, d.offset, d.weight] + ([d.bias] if g.chance(0.5) else []), {
        'stride': tup(*d.stride), 'padding': tup(*d.pad), 'dilation': tup(*d.dilation), **g.some(mask=d.mask)}


@layer('DeformConv2d')
def deform_conv2d_layer(g):
    d = Deform(g)
    return {'in_channels': d.channels, 'out_channels': d.out_channels, 'kernel_size': tup(*d.kernel), 'stride': tup(*d.stride),
            'padding': tup(*d.pad), 'dilation': tup(*d.dilation), 'groups': d.groups,
            **g.some(bias=False)}, [d.input, d.offset] + ([d.mask] if g.chance(0.5) else [])


# ---- boxes

def some_boxes(g, kind=None):
    kind = kind or g.pick('float32', 'float64', 'float16', 'int64', 'int32', 'uint8')
    n = g.int(0, 4)
    t = boxes(g, n, kind, 10)
    if 'float' not in kind:
        t['t']['data'] = [int(x) for x in t['t']['data']]
    return t


@case('box_area')
def box_area(g):
    return [some_boxes(g)], {}


@case('box_iou', 'generalized_box_iou', loose=1e-5)
def box_iou(g):
    one = some_boxes(g)
    return [one, some_boxes(g, one['t']['dtype'])], {}


@case('box_convert')
def box_convert(g):
    words = ('xyxy', 'xywh', 'cxcywh', 'odd') if g.chance(0.1) else ('xyxy', 'xywh', 'cxcywh')
    return [some_boxes(g), g.pick(*words), g.pick(*words)], {}


@case('clip_boxes')
def clip_boxes(g):
    return [some_boxes(g), tup(g.int(1, 8), g.int(1, 8))], {}


@case('nms_of_boxes')
def nms_of_boxes(g):
    return nms(g)


# ---- other functions and layers

@case('drop_block2d', 'drop_block3d', random=True)
def drop_block(g):
    sizes = [g.int(1, 2), g.int(1, 2)] + [g.int(1, 5) for _ in range(3 if '3d' in g.spelling else 2)]
    return [g.tensor(sizes, kind_of(g)), g.pick(0.0, 0.25, 0.5), g.int(1, 4)], g.some(training=False, inplace=True, eps=1e-3)


@layer('DropBlock2d', 'DropBlock3d')
def drop_block_layer(g):
    args, kwargs = drop_block(g)
    args[0]['t'].pop('grad', None)
    return {'p': args[1], 'block_size': args[2], **{k: v for k, v in kwargs.items() if k != 'training'}}, args[:1], {
        'random': True, 'train': g.chance(0.5)}


@case('sigmoid_focal_loss', loose=1e-5)
def sigmoid_focal_loss(g):
    x = g.tensor(g.shape(), kind_of(g))
    return [x, g.tensor(x['t']['sizes'], x['t']['dtype'], 0, 1)], g.some(alpha=g.pick(0.5, -1), gamma=g.pick(0, 1, 1.5),
                                                                         reduction=g.pick('mean', 'sum', 'none', 'odd'))


@layer('FrozenBatchNorm2d')
def frozen_batch_norm(g):
    n = g.int(1, 3)
    return {'num_features': n, **g.some(eps=1e-2)}, [g.tensor([g.int(0, 2), n, g.int(1, 3), g.int(1, 3)], kind_of(g))]


@case('remove_small_boxes')
def remove_small_boxes(g):
    return [some_boxes(g), g.real(0, 8)], {}


@case('batched_nms')
def batched_nms(g):
    args, _ = nms(g)
    if g.chance(0.1):  # so many that torchvision goes about it in another way
        kind, n = args[0]['t']['dtype'], g.int(1001, 1010)
        args[:2] = boxes(g, n, kind, 50), g.tensor([n], kind, 0, 1, distinct=True)
    return args[:2] + [g.indices(args[1]['t']['sizes'], 3), args[2]], {}
