import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=40, width=16, heads=2, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        layer = nn.TransformerEncoderLayer(width, heads, 32, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.query = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, tokens, padding):
        x = self.encoder(self.embed(tokens), src_key_padding_mask=padding)
        y, weights = self.attend(self.query.expand(2, -1, -1), x, x)
        return y.squeeze(1), weights
