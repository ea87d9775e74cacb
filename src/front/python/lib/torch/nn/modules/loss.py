"""torch.nn.modules.loss"""
from torch import Tensor

from .. import functional as F
from ._define import layer
from .module import Module


def _reduction(size_average, reduce, reduction):
    """The two old arguments, in the words of the new one."""
    if size_average is None and reduce is None:
        return reduction
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    return ('mean' if size_average else 'sum') if reduce else 'none'


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction='mean'):
        super().__init__()
        self.reduction = _reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction='mean'):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer('weight', weight)


_OLD = 'size_average=None, reduce=None'
_RULE = {'size_average': None, 'reduce': None,
         'reduction': '_reduction(size_average, reduce, reduction)'}


def _pair(name, arguments, call, forward='input, target'):
    return layer(f'{name}({arguments}{", " if arguments else ""}{_OLD}, reduction=\'mean\')', '',
                 call, forward=forward, base=_Loss, keep=_RULE)


L1Loss = _pair('L1Loss', '', 'F.l1_loss(input, target, reduction=self.reduction)')
MSELoss = _pair('MSELoss', '', 'F.mse_loss(input, target, reduction=self.reduction)')
PoissonNLLLoss = layer(
    'PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, '
    "reduction='mean')", '',
    'F.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full, '
    'eps=self.eps, reduction=self.reduction)', forward='log_input, target', base=_Loss,
    keep=_RULE)
GaussianNLLLoss = layer(
    "GaussianNLLLoss(*, full=False, eps=1e-6, reduction='mean')", '',
    'F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, '
    'reduction=self.reduction)', forward='input, target, var', base=_Loss)
KLDivLoss = layer(
    f"KLDivLoss({_OLD}, reduction='mean', log_target=False)", '',
    'F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)',
    forward='input, target', base=_Loss, keep=_RULE)
HingeEmbeddingLoss = _pair(
    'HingeEmbeddingLoss', 'margin=1.0',
    'F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)')
MultiLabelMarginLoss = _pair(
    'MultiLabelMarginLoss', '',
    'F.multilabel_margin_loss(input, target, reduction=self.reduction)')
SmoothL1Loss = layer(
    f"SmoothL1Loss({_OLD}, reduction='mean', beta=1.0)", '',
    'F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)',
    forward='input, target', base=_Loss, keep=_RULE)
HuberLoss = layer(
    "HuberLoss(reduction='mean', delta=1.0)", '',
    'F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)',
    forward='input, target', base=_Loss)
SoftMarginLoss = _pair('SoftMarginLoss', '',
                       'F.soft_margin_loss(input, target, reduction=self.reduction)')
CosineEmbeddingLoss = _pair(
    'CosineEmbeddingLoss', 'margin=0.',
    'F.cosine_embedding_loss(input1, input2, target, margin=self.margin, '
    'reduction=self.reduction)', forward='input1, input2, target')
MarginRankingLoss = _pair(
    'MarginRankingLoss', 'margin=0.',
    'F.margin_ranking_loss(input1, input2, target, margin=self.margin, '
    'reduction=self.reduction)', forward='input1, input2, target')
TripletMarginLoss = _pair(
    'TripletMarginLoss', 'margin=1.0, p=2., eps=1e-6, swap=False',
    'F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, '
    'eps=self.eps, swap=self.swap, reduction=self.reduction)',
    forward='anchor, positive, negative')
TripletMarginWithDistanceLoss = layer(
    'TripletMarginWithDistanceLoss(*, distance_function=None, margin=1.0, swap=False, '
    "reduction='mean')", '',
    'F.triplet_margin_with_distance_loss(anchor, positive, negative, '
    'distance_function=self.distance_function, margin=self.margin, swap=self.swap, '
    'reduction=self.reduction)', forward='anchor, positive, negative', base=_Loss,
    keep={'distance_function':
          'distance_function if distance_function is not None else PairwiseDistance()'})
CTCLoss = layer(
    "CTCLoss(blank=0, reduction='mean', zero_infinity=False)", '',
    'F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, '
    'self.zero_infinity)', forward='log_probs, targets, input_lengths, target_lengths',
    base=_Loss)

class NLLLoss(_WeightedLoss):
    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None,
                 reduction='mean'):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index,
                          reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    pass


class BCELoss(_WeightedLoss):
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight,
                                      reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction='mean',
                 pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer('weight', weight)
        self.register_buffer('pos_weight', pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(input, target, self.weight,
                                                  pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None,
                 reduction='mean', label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, weight=self.weight,
                               ignore_index=self.ignore_index, reduction=self.reduction,
                               label_smoothing=self.label_smoothing)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight,
                                             reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    def __init__(self, p=1, margin=1., weight=None, size_average=None, reduce=None,
                 reduction='mean'):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError('only p == 1 and p == 2 supported')
        assert weight is None or weight.dim() == 1
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin,
                                   weight=self.weight, reduction=self.reduction)


from .distance import PairwiseDistance  # noqa: E402  (the line above needs it when it runs)
