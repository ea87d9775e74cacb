from torch import nn


class Shared(nn.Module):
    """One layer used twice, one weight under two names."""
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.block = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
        self.again = self.block
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        x = self.block(x)
        x = self.again(x)
        x = self.block[0](x)
        return self.head(x)
