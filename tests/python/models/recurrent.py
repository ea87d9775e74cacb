import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, vocab=30, width=8, hidden=12, tags=5):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, tags)

    def forward(self, words):
        output, (h, c) = self.lstm(self.embedding(words))
        return self.out(output), h[-1] + c[-1]
