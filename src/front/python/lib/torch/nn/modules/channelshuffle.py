"""torch.nn.modules.channelshuffle"""
from .. import functional as F
from ._define import layer

ChannelShuffle = layer('ChannelShuffle(groups)', 'groups=',
                       'F.channel_shuffle(input, self.groups)')
