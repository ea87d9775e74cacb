"""A recurrent layer over packed sequences."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence, PackedSequence


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(20, 6, padding_idx=0)
        self.l = nn.LSTM(6, 4, batch_first=True, bidirectional=True)
        self.o = nn.Linear(8, 3)

    def forward(self, tokens, lengths):
        x = self.e(tokens)
        p = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        y, (h, c) = self.l(p)
        y, n = pad_packed_sequence(y, batch_first=True, total_length=tokens.shape[1])
        last = torch.cat([h[-2], h[-1]], dim=-1)
        return (self.o(y), self.o(last), n)
