"""torch.nn.modules.dropout"""
from .. import functional as F
from ._define import layer
from .module import Module


class _DropoutNd(Module):
    __constants__ = ['p', 'inplace']

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f'dropout probability has to be between 0 and 1, but got {p}')
        self.p = p
        self.inplace = inplace

    def extra_repr(self):
        return f'p={self.p}, inplace={self.inplace}'


def _dropout(name, call):
    made = layer(f'{name}(p=0.5, inplace=False)', '', call, base=_DropoutNd)
    del made.extra_repr
    made.__init__ = _DropoutNd.__init__
    made.__module__ = __name__
    return made


Dropout = _dropout('Dropout', 'F.dropout(input, self.p, self.training, self.inplace)')
Dropout1d = _dropout('Dropout1d', 'F.dropout1d(input, self.p, self.training, self.inplace)')
Dropout2d = _dropout('Dropout2d', 'F.dropout2d(input, self.p, self.training, self.inplace)')
Dropout3d = _dropout('Dropout3d', 'F.dropout3d(input, self.p, self.training, self.inplace)')
AlphaDropout = _dropout('AlphaDropout', 'F.alpha_dropout(input, self.p, self.training)')
FeatureAlphaDropout = _dropout('FeatureAlphaDropout',
                               'F.feature_alpha_dropout(input, self.p, self.training)')
