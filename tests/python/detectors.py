"""What detectors need: torchvision's operators against sums written out here, traces in which the
number of boxes decides what is recorded, and torchvision's own detectors where its source is here."""
import copy
import math
import os
import sys

import torch
import torch.nn as nn
from torch.fx import _hints
from tap import Skip, main, raises

boxes_ops = torch.ops.torchvision


def overlap(a, b):
    w = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    h = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def random_boxes(n, dtype=torch.float64):
    corner = torch.rand(n, 2, dtype=dtype) * 20
    return torch.cat([corner, corner + 1 + torch.rand(n, 2, dtype=dtype) * 12], 1)


def test_nms_keeps_the_best_of_those_that_overlap():
    torch.manual_seed(3)
    for threshold in (0.0, 0.2, 0.5, 0.9):
        boxes, scores = random_boxes(60), torch.rand(60, dtype=torch.float64)
        rows, kept = boxes.tolist(), []
        for i in scores.argsort(descending=True).tolist():
            if all(overlap(rows[i], rows[k]) <= threshold for k in kept):
                kept.append(i)
        assert 0 < len(kept) < 60 or threshold == 0.9
        assert boxes_ops.nms(boxes, scores, threshold).tolist() == kept
    assert boxes_ops.nms(boxes[:0], scores[:0], 0.5).tolist() == []
    assert boxes_ops.nms(boxes.t().contiguous().t().float(), scores.float(), 1.0).numel() == 60


def test_nms_keeps_equal_scores_in_order_and_puts_nan_first():
    boxes = torch.tensor([[0., 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]])
    assert boxes_ops.nms(boxes, torch.tensor([1., 1, 1]), 0.5).tolist() == [0, 1, 2]
    assert boxes_ops.nms(boxes, torch.tensor([1., 2, math.nan]), 0.5).tolist() == [2, 1, 0]


def test_nms_refuses_what_is_no_list_of_boxes():
    boxes, scores = torch.rand(3, 4), torch.rand(3)
    raises(RuntimeError, boxes_ops.nms, boxes[0], scores, 0.5, text='2d tensor, got 1D')
    raises(RuntimeError, boxes_ops.nms, boxes[:, :3], scores, 0.5, text='4 elements')
    raises(RuntimeError, boxes_ops.nms, boxes, boxes, 0.5, text='1d tensor, got 2D')
    raises(RuntimeError, boxes_ops.nms, boxes, scores[:2], 0.5, text='same number of elements')
    raises((RuntimeError, TypeError), boxes_ops.nms, boxes, scores.double(), 0.5)
    raises((RuntimeError, TypeError, NotImplementedError), boxes_ops.nms, boxes.long(),
           scores.long(), 0.5)


def pixel(plane, y, x):
    """Bilinear, as roi_align has it."""
    h, w = len(plane), len(plane[0])
    if not (-1 <= y <= h and -1 <= x <= w):
        return 0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
    v, u = y - y0, x - x0
    return ((1 - v) * ((1 - u) * plane[y0][x0] + u * plane[y0][x1]) +
            v * ((1 - u) * plane[y1][x0] + u * plane[y1][x1]))


def aligned_mean(plane, box, scale, out, samples, aligned, row, column):
    shift = 0.5 if aligned else 0
    x1, y1, x2, y2 = (v * scale - shift for v in box)
    w, h = x2 - x1, y2 - y1
    if not aligned:
        w, h = max(w, 1), max(h, 1)
    w, h = w / out[1], h / out[0]
    across = samples if samples > 0 else math.ceil(w)
    down = samples if samples > 0 else math.ceil(h)
    total = sum(pixel(plane, y1 + row * h + (i + .5) * h / down, x1 + column * w + (k + .5) * w / across)
                for i in range(down) for k in range(across))
    return total / max(down * across, 1)


def test_roi_align_is_the_mean_of_points_between_pixels():
    torch.manual_seed(4)
    x = torch.randn(2, 3, 9, 11, dtype=torch.float64)
    boxes = torch.cat([random_boxes(6), torch.tensor([[-4., -3, 2, 40], [60, 60, 70, 70]],
                                                     dtype=torch.float64)])
    rois = torch.cat([torch.tensor([[0.], [1], [1], [0], [1], [0], [0], [1]], dtype=torch.float64),
                      boxes], 1)
    for scale, out, samples, aligned in ((0.5, (2, 3), 2, True), (0.25, (3, 2), 0, False),
                                         (1.0, (1, 4), -1, True), (0.5, (2, 2), 3, False)):
        got = boxes_ops.roi_align(x, rois, scale, *out, samples, aligned).tolist()
        for k, (image, *box) in enumerate(rois.tolist()):
            for c in range(3):
                plane = x[int(image), c].tolist()
                for i in range(out[0]):
                    for j in range(out[1]):
                        want = aligned_mean(plane, box, scale, out, samples, aligned, i, j)
                        assert abs(got[k][c][i][j] - want) < 1e-9, (k, c, i, j)


def test_roi_pool_is_the_greatest_pixel_of_each_bin():
    torch.manual_seed(5)
    x = torch.randn(1, 2, 8, 9, dtype=torch.float64)
    rois = torch.cat([torch.zeros(7, 1, dtype=torch.float64), random_boxes(7)], 1)
    scale, out = 0.5, (3, 2)
    got, places = boxes_ops.roi_pool(x, rois, scale, *out)
    assert places.dtype == torch.int32 and list(got.shape) == list(places.shape) == [7, 2, 3, 2]
    empty = 0
    for k, (_, *box) in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (int(math.floor(v * scale + 0.5)) for v in box)
        h, w = max(y2 - y1 + 1, 1) / out[0], max(x2 - x1 + 1, 1) / out[1]
        for c in range(2):
            for i in range(out[0]):
                for j in range(out[1]):
                    bin = [(x[0, c, a, b].item(), a * 9 + b)
                           for a in range(math.floor(i * h) + y1, math.ceil((i + 1) * h) + y1)
                           for b in range(math.floor(j * w) + x1, math.ceil((j + 1) * w) + x1)
                           if 0 <= a < 8 and 0 <= b < 9]
                    want = max(bin) if bin else (0, -1)
                    empty += not bin
                    assert (got[k, c, i, j].item(), places[k, c, i, j].item()) == want
    assert empty


def test_regions_of_images_that_are_not_there_are_refused():
    x, roi = torch.rand(2, 1, 4, 4), torch.tensor([[2., 0, 0, 1, 1]])
    raises(RuntimeError, boxes_ops.roi_align, x, roi, 1.0, 2, 2, 0, False, text='of image 2')
    raises(RuntimeError, boxes_ops.roi_pool, x, roi * -1, 1.0, 2, 2, text='of image -2')
    raises(RuntimeError, boxes_ops.roi_pool, x, roi * math.nan, 1.0, 2, 2, text='of image nan')
    raises(RuntimeError, boxes_ops.roi_align, x, roi[:, :4], 1.0, 2, 2, 0, False, text='[K, 5]')
    raises(RuntimeError, boxes_ops.roi_align, x, roi, 1.0, 0, 2, 0, False, text='not positive')


def test_an_operator_of_torchvision_that_is_missing_is_refused_by_name():
    from fxfront.missing import Unsupported
    raises(Unsupported, boxes_ops._roi_pool_backward, torch.rand(1, 4, 4, 4), torch.rand(1, 5), 1.0, 2, 2, 0,
           text='torchvision._roi_pool_backward')


# ---- traces that ask for values

def traced(model, *inputs, tier='hinted'):
    """(the trace, True where it computes what the model does)"""
    module, _, _ = _hints.trace(copy.deepcopy(model), [x.clone() for x in inputs], tier)
    want, got = model(*[x.clone() for x in inputs]), module(*[x.clone() for x in inputs])
    return module, same(got, want)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a.shape == b.shape and torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b


def names(module):
    return [getattr(n.target, '__name__', n.target) for n in module.graph.nodes]


class Chooser(nn.Module):
    """As detectors choose: by a mask, then the best, then by labels that occur."""

    def forward(self, x):
        at = torch.where(x > 0.5)[0]
        count = min(at.numel(), 4)
        best, index = x[at].topk(count)
        for label in torch.unique(index % 3):
            if label == 1:
                best = best + 1
        return best[best > 1.0], x.nonzero(), int(best.sum().item())


def test_how_many_elements_are_chosen_is_asked_of_the_example():
    torch.manual_seed(6)
    x = torch.rand(20)
    for tier in ('hinted', 'concrete'):
        module, right = traced(Chooser(), x, tier=tier)
        assert right and 'topk' in names(module) and 'unique' in names(module), module.graph


class Device(nn.Module):
    def forward(self, x):
        scale = torch.as_tensor([2.0, 3.0], device=x.device)
        y = x * scale
        if x.device.type == 'cpu':
            y = y + 1
        return y if y.max() > 1 else -y


def test_a_device_that_is_asked_for_is_that_of_the_example():
    for tier in ('hinted', 'concrete'):
        module, right = traced(Device(), torch.rand(3, 2), tier=tier)
        assert right and 'add' in names(module) and 'neg' not in names(module), module.graph


class Written(nn.Module):
    """What is written in place decides, though nothing that the question names was computed by it."""

    def __init__(self):
        super().__init__()
        self.register_buffer('seen', torch.zeros(3))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        before = x.min()
        self.relu(x)
        x[0] = 100.0
        seen = self.seen
        seen += x[:3]
        if x.sum() > 50 and x.min() >= 0 and before < 0 and seen[0] == 100:
            return x * 2
        return x * 3


def test_what_was_written_before_is_seen_and_the_modules_buffers_stay():
    x = torch.tensor([-1.0, -2.0, 0.5, 0.25])
    model = Written()
    module, _, _ = _hints.trace(model, [x.clone()], 'hinted')
    assert model.seen.tolist() == [0, 0, 0]
    multiplied = [n.args[1] for n in module.graph.nodes if n.op == 'call_function'
                  and n.target.__name__ == 'mul']
    assert multiplied == [2], module.graph
    assert same(module(x.clone()), torch.tensor([200.0, 0, 1, 0.5]))


class Late(nn.Module):
    """A value that is asked for first, and again after it was written."""

    def forward(self, x):
        y = x + 1
        total = 1 if y.sum() > 0 else 2
        y.mul_(-1)
        return y * total, (3 if y.sum() > 0 else 4)


def test_a_value_is_asked_for_before_and_after_it_is_written():
    module, right = traced(Late(), torch.ones(2))
    assert right, module.graph


# ---- torchvision's own

SYSTEM = '/usr/lib/python3/dist-packages'


def detector(name):
    if os.path.isdir(SYSTEM) and SYSTEM not in sys.path:
        sys.path.append(SYSTEM)
    try:
        import torchvision.models.detection as detection
        build = getattr(detection, name)
    except (ImportError, AttributeError) as e:
        raise Skip(f'the source of torchvision is not here: {e}')
    if '--light' in sys.argv:
        raise Skip('takes too long under the sanitizers')
    torch.manual_seed(0)
    return build(weights=None, weights_backbone=None).eval()


def test_a_single_shot_detector():
    module, right = traced(detector('ssdlite320_mobilenet_v3_large'), torch.rand(1, 3, 96, 96))
    assert right and names(module).count('nms') > 1


def test_a_detector_of_two_stages():
    model = detector('fasterrcnn_mobilenet_v3_large_320_fpn')
    module, right = traced(model, torch.rand(1, 3, 96, 96))
    assert right and 'nms' in names(module) and '_multiscale_roi_align' in names(module)


main(globals())
