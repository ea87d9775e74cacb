import torch
from torch import nn


class DenseStack(nn.Module):
    def __init__(self, width=8, depth=3):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(depth):
            self.layers.append(nn.Linear(width * (i + 1), width))
        self.heads = nn.ModuleDict({'mean': nn.Linear(width, 2), 'scale': nn.Linear(width, 2)})

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(torch.relu(layer(torch.cat(features, dim=1))))
        return {name: head(features[-1]) for name, head in self.heads.items()}
