"""A configuration class, a base class that initialises, a dataclass as the result."""
import math
import torch
import torch.nn as nn
from dataclasses import dataclass
from typing import Optional, Tuple, Dict, Any


class PretrainedConfig:
    model_type = ''

    def __init__(self, **kwargs):
        for k, v in kwargs.items():
            setattr(self, k, v)

    @classmethod
    def from_dict(cls, d: Dict[str, Any]):
        return cls(**d)


class TinyConfig(PretrainedConfig):
    model_type = 'tiny'

    def __init__(self, vocab_size=100, hidden_size=16, num_heads=2, num_layers=2, act='gelu', **kw):
        self.vocab_size, self.hidden_size, self.num_heads, self.num_layers, self.act = (vocab_size, hidden_size, num_heads, num_layers, act)
        super().__init__(**kw)


ACT2FN = {'gelu': nn.GELU, 'relu': nn.ReLU}


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.h, self.d = (config.num_heads, config.hidden_size // config.num_heads)
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)

    def transpose_for_scores(self, x: torch.Tensor) -> torch.Tensor:
        new_shape = x.size()[:-1] + (self.h, self.d)
        return x.view(new_shape).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask: Optional[torch.Tensor]=None, output_attentions: bool=False):
        q, k, v = (self.transpose_for_scores(f(hidden_states)) for f in (self.query, self.key, self.value))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d)
        if attention_mask is not None:
            s = s + attention_mask
        p = s.softmax(-1)
        c = torch.matmul(p, v).permute(0, 2, 1, 3).contiguous()
        c = c.view(c.size()[:-2] + (self.h * self.d,))
        return (c, p) if output_attentions else (c,)


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = SelfAttention(config)
        self.norm = nn.LayerNorm(config.hidden_size, eps=1e-12)
        self.act = ACT2FN[config.act]()

    def forward(self, x, m):
        return self.act(self.norm(x + self.attention(x, m)[0]))


@dataclass
class ModelOutput:
    last_hidden_state: torch.FloatTensor = None
    pooler_output: Optional[torch.FloatTensor] = None


class PreTrainedModel(nn.Module):
    config_class = None

    def __init__(self, config):
        super().__init__()
        self.config = config

    def post_init(self):
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=0.02)
            if module.bias is not None:
                module.bias.data.zero_()


class Tiny(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config=TinyConfig()):
        super().__init__(config)
        self.emb = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.register_buffer('position_ids', torch.arange(512).expand((1, -1)), persistent=False)
        self.pos = nn.Embedding(512, config.hidden_size)
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_layers)])
        self.post_init()

    def get_extended(self, mask, dtype=torch.float):
        m = mask[:, None, None, :].to(dtype=dtype)
        return (1.0 - m) * torch.finfo(dtype).min

    def forward(self, input_ids, attention_mask=None, return_dict: Optional[bool]=None):
        if attention_mask is None:
            attention_mask = torch.ones(input_ids.shape, device=input_ids.device)
        m = self.get_extended(attention_mask)
        x = self.emb(input_ids) + self.pos(self.position_ids[:, :input_ids.shape[1]])
        for l in self.layer:
            x = l(x, m)
        return ModelOutput(last_hidden_state=x, pooler_output=x[:, 0])
