"""torch.nn.modules: every layer class, under the module that PyTorch keeps it in. A module is read
when one of its layers is first asked for: a network uses few of them."""
import sys
from importlib import import_module
from types import ModuleType

from .module import Module

_LAYERS = {
    'activation': 'ReLU RReLU Sigmoid Hardsigmoid Tanh SiLU Mish Hardswish ELU CELU SELU GLU GELU '
                  'Hardshrink LeakyReLU LogSigmoid Softplus Softshrink Softsign Tanhshrink Softmin '
                  'Softmax LogSoftmax Threshold Softmax2d Hardtanh ReLU6 PReLU MultiheadAttention',
    'adaptive': 'AdaptiveLogSoftmaxWithLoss',
    'batchnorm': 'BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LazyBatchNorm1d '
                 'LazyBatchNorm2d LazyBatchNorm3d',
    'channelshuffle': 'ChannelShuffle',
    'container': 'Container Sequential ModuleList ModuleDict ParameterList ParameterDict',
    'conv': 'Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d '
            'LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d',
    'distance': 'PairwiseDistance CosineSimilarity',
    'dropout': 'Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout',
    'flatten': 'Flatten Unflatten',
    'fold': 'Fold Unfold',
    'instancenorm': 'InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d '
                    'LazyInstanceNorm2d LazyInstanceNorm3d',
    'linear': 'Identity Linear Bilinear LazyLinear',
    'loss': 'L1Loss MSELoss PoissonNLLLoss GaussianNLLLoss KLDivLoss HingeEmbeddingLoss '
            'MultiLabelMarginLoss SmoothL1Loss HuberLoss SoftMarginLoss CosineEmbeddingLoss '
            'MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss CTCLoss NLLLoss '
            'NLLLoss2d BCELoss BCEWithLogitsLoss CrossEntropyLoss MultiLabelSoftMarginLoss '
            'MultiMarginLoss',
    'normalization': 'LocalResponseNorm CrossMapLRN2d LayerNorm RMSNorm GroupNorm',
    'padding': 'ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d ReflectionPad2d '
               'ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d '
               'CircularPad1d CircularPad2d CircularPad3d ZeroPad1d ZeroPad2d ZeroPad3d',
    'pixelshuffle': 'PixelShuffle PixelUnshuffle',
    'pooling': 'AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d AdaptiveAvgPool1d '
               'AdaptiveMaxPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d AdaptiveAvgPool3d '
               'AdaptiveMaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d LPPool1d LPPool2d '
               'FractionalMaxPool2d FractionalMaxPool3d',
    'rnn': 'RNNBase RNN GRU LSTM RNNCellBase RNNCell LSTMCell GRUCell',
    'sparse': 'Embedding EmbeddingBag',
    'transformer': 'TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder '
                   'TransformerDecoder Transformer',
    'upsampling': 'Upsample UpsamplingNearest2d UpsamplingBilinear2d',
    'lazy': '', 'utils': '',
}
_home = {name: place for place, names in _LAYERS.items() for name in names.split()}
__all__ = ['Module', *_home]
_home['NonDynamicallyQuantizableLinear'] = 'linear'


def __getattr__(name):
    if name in _home:
        value = getattr(import_module(f'{__name__}.{_home[name]}'), name)
    elif name in _LAYERS:
        return import_module(f'{__name__}.{name}')
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_LAYERS})


class Whole(ModuleType):
    """A module some of whose names are read late: who looks at its dictionary, as vars() does, finds
    them all."""
    @property
    def __dict__(self):
        names = ModuleType.__dict__['__dict__'].__get__(self)
        for name in names.get('__all__', ()):
            if name not in names:
                names[name] = getattr(self, name)
        return names


sys.modules[__name__].__class__ = Whole
