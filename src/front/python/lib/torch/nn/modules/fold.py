"""torch.nn.modules.fold"""
from .. import functional as F
from ._define import layer

Fold = layer('Fold(output_size, kernel_size, dilation=1, padding=0, stride=1)',
             'output_size= kernel_size= dilation= padding= stride=',
             'F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, '
             'self.stride)')
Unfold = layer('Unfold(kernel_size, dilation=1, padding=0, stride=1)',
               'kernel_size= dilation= padding= stride=',
               'F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)')
