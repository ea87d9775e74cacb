from dataclasses import dataclass, field
from typing import List, Optional

import torch
import torch.nn as nn


@dataclass
class Config:
    vocab: int = 50
    width: int = 16
    hidden: List[int] = field(default_factory=lambda: [32, 32])
    dropout: Optional[float] = 0.1


class Model(nn.Module):
    def __init__(self, config: Config = Config()):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width, padding_idx=0)
        widths = [config.width, *config.hidden]
        self.mlp = nn.Sequential(*[
            nn.Sequential(nn.Linear(a, b), nn.GELU(), nn.Dropout(config.dropout or 0.0))
            for a, b in zip(widths, widths[1:])])

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        return self.mlp(x).mean(dim=1)
