"""torch.nn.modules.distance"""
from .. import functional as F
from ._define import layer

PairwiseDistance = layer(
    'PairwiseDistance(p=2., eps=1e-6, keepdim=False)', '',
    'F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)', forward='x1, x2',
    keep={'p': None, 'norm': 'p'})
CosineSimilarity = layer(
    'CosineSimilarity(dim=1, eps=1e-8)', '',
    'F.cosine_similarity(x1, x2, self.dim, self.eps)', forward='x1, x2')
