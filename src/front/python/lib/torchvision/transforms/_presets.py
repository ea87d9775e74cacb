"""torchvision.transforms._presets: what the entries of weights name."""
from . import _Transform
from .functional import InterpolationMode  # noqa: F401


class ImageClassification(_Transform):
    pass


class ObjectDetection(_Transform):
    pass


class SemanticSegmentation(_Transform):
    pass


class VideoClassification(_Transform):
    pass


class OpticalFlow(_Transform):
    pass
