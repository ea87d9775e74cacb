"""torch.nn.modules.pixelshuffle"""
from .. import functional as F
from ._define import layer

PixelShuffle = layer('PixelShuffle(upscale_factor)', 'upscale_factor=',
                     'F.pixel_shuffle(input, self.upscale_factor)')
PixelUnshuffle = layer('PixelUnshuffle(downscale_factor)', 'downscale_factor=',
                       'F.pixel_unshuffle(input, self.downscale_factor)')
