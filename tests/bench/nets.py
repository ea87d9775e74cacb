"""nets.py: the networks that speed is measured on: PyTorch modules, and the same as fxscope reads them (model file, weights).
The graphs are recorded ones of tests/golden/models, or traced."""
import json
import math
import os
import struct
import sys
import warnings

import torch
import torch.fx
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "models")
IMAGES = ("resnet18", "resnet50", "mobilenet_v2", "vgg16", "densenet121", "vit_b_16")
warnings.simplefilter("ignore")


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(1, -1, self.heads, self.width).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.width), -1)
        return self.out(torch.matmul(weights, v).transpose(1, 2).reshape(1, -1, self.heads * self.width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.act, self.down = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.down(self.act(self.up(x))))


class TextEncoder(nn.Module):
    """4 layers, width 256, 4 heads, 128 tokens"""

    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(8000, 256), nn.Parameter(torch.randn(1, 128, 256) * 0.1)
        self.blocks = nn.ModuleList(Block(256, 4) for _ in range(4))
        self.head = nn.Linear(256, 8)

    def forward(self, tokens):
        x = self.token(tokens) + self.position
        for b in self.blocks:
            x = b(x)
        return self.head(x.mean(1))


class Lstm(nn.Module):
    """2 layers, width 256, 64 steps"""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(256, 256, num_layers=2, batch_first=True), nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def make(name):
    """The module in eval mode, with random weights, and its input."""
    torch.manual_seed(0)
    if name == "text_encoder":
        return TextEncoder().eval(), torch.randint(0, 8000, (1, 128))
    if name == "lstm":
        return Lstm().eval(), torch.randn(1, 64, 256)
    import torchvision
    return getattr(torchvision.models, name)(weights=None).eval(), torch.randn(1, 3, 224, 224)


def recorded(name):
    read = lambda kind: open(os.path.join(GOLDEN, name + kind)).read()
    declared = "".join("{} {}: torch.{}{}\n".format(*line.split("\t")) for line in read(".params.tsv").splitlines())
    # print(model) does not tell the number of heads
    tree = read(".modules.txt").replace("MultiheadAttention(\n", "MultiheadAttention(\n          num_heads=12\n")
    return tree + declared + read(".graph.txt")


def traced(model):
    graph = torch.fx.symbolic_trace(model).graph
    lines = [str(model)]
    for kind, tensors in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        lines += [f"{kind} {name}: {t.dtype}{list(t.shape)}" for name, t in tensors]
    return "\n".join(lines) + "\n" + str(graph) + "\n"


def write_model(name, model, path):
    has_graph = name in IMAGES and os.path.exists(os.path.join(GOLDEN, name + ".graph.txt"))
    with open(path, "w") as f:
        f.write(recorded(name) if has_graph else traced(model))


def write_weights(model, path):
    """A .safetensors file: length, JSON header, data."""
    codes = {torch.float32: "F32", torch.int64: "I64"}
    header, chunks, at = {}, [], 0
    for name, t in model.state_dict().items():
        raw = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": codes[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + len(raw)]}
        chunks.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def write_all(name, folder, onnx):
    """NAME.fx, NAME.safetensors and, if asked for, NAME.onnx; gives the input as fxscope is told of it."""
    model, x = make(name)
    base = os.path.join(folder, name)
    write_model(name, model, base + ".fx")
    write_weights(model, base + ".safetensors")
    if onnx:
        torch.onnx.export(model, x, base + ".onnx", opset_version=14, input_names=["x"])
    shape = "x".join(map(str, x.shape))
    return shape + ":int64:0..7999" if x.dtype == torch.int64 else shape


if __name__ == "__main__":  # NAME FOLDER [onnx]: in a process of its own, which ends with all its memory
    print(write_all(sys.argv[1], sys.argv[2], len(sys.argv) > 3))
