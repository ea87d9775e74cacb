"""The reference networks from their PyTorch source: module tree, parameters, graph, code, and what
every node computes are the text that real PyTorch gives. Most come from torchvision's own source,
where the system has it; those are skipped where it has not.

usage: fxscope run networks.py FOLDER    (FOLDER holds NAME.graph.txt and the others)
"""
import os
import sys

import torch
import torch.fx as fx
import torch.nn as nn
import torch.nn.functional as F

SYSTEM = '/usr/lib/python3/dist-packages'
if os.path.isdir(SYSTEM):
    sys.path.append(SYSTEM)


class TestModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(1))
        self.main = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(True))
        self.skip = nn.Conv2d(2, 4, 3, stride=1, padding=1)

    def forward(self, x, y):
        x = self.main(x)
        y = (self.skip(y) + self.bias).clamp(0, 1)
        x_size = x.size()[-2:]
        y = F.interpolate(y, x_size, mode='bilinear', align_corners=False)
        return torch.sigmoid(x) + y


class DoubleConv(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout),
                         nn.ReLU(inplace=True), nn.Conv2d(cout, cout, 3, padding=1, bias=False),
                         nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class Up(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.up = nn.ConvTranspose2d(cin, cin // 2, 2, stride=2)
        self.conv = DoubleConv(cin, cout)

    def forward(self, low, skip):
        low = self.up(low)
        return self.conv(torch.cat([skip, low], dim=1))


class UNet(nn.Module):
    def __init__(self, cin=3, classes=2, width=32):
        super().__init__()
        w = [width * 2 ** i for i in range(5)]
        self.stem = DoubleConv(cin, w[0])
        self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), DoubleConv(a, b))
                                  for a, b in zip(w, w[1:]))
        self.up = nn.ModuleList(Up(b, a) for a, b in reversed(list(zip(w, w[1:]))))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = [self.stem(x)]
        for d in self.down:
            skips.append(d(skips[-1]))
        x = skips.pop()
        for u in self.up:
            x = u(x, skips.pop())
        return self.head(x)


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.1),
                                 nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        b, n = x.size(0), x.size(1)
        qkv = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-2, -1)) * self.scale
        scores = scores.masked_fill(mask[:, None, None, :] == 0, float('-inf'))
        x = x + self.proj((F.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class TextEncoder(nn.Module):
    def __init__(self, vocab=1000, dim=128, heads=4, layers=3, length=64):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.position = nn.Parameter(torch.zeros(1, length, dim))
        self.blocks = nn.ModuleList(EncoderBlock(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens, mask):
        x = self.token(tokens) + self.position[:, : tokens.size(1)]
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x)).log_softmax(dim=-1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 24)
        self.lstm = nn.LSTM(24, 32, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(64, 16, batch_first=True)
        self.out = nn.Linear(16, 5)

    def forward(self, tokens):
        y, (h, c) = self.lstm(self.embed(tokens))
        z, hn = self.gru(y)
        return self.out(z[:, -1]), h, c, hn


OWN = {'testmodel': TestModel, 'unet': UNet, 'text_encoder': TextEncoder, 'recurrent': Recurrent}


def build(name):
    """The network, or None where its source is not here."""
    if name in OWN:
        return OWN[name]()
    try:
        import torchvision.models as models
        models.resnet18
    except (ImportError, AttributeError):
        return None
    if hasattr(models.segmentation, name):
        return getattr(models.segmentation, name)(weights=None, weights_backbone=None)
    more = {'init_weights': False} if name in ('googlenet', 'inception_v3') else {}
    return getattr(models, name)(weights=None, **more)


FORMATS = ((torch.contiguous_format, None), (torch.channels_last, 4), (torch.channels_last_3d, 5))


def show(v):
    if isinstance(v, torch.Tensor):
        form = next((str(f) for f, rank in FORMATS if rank in (None, v.dim()) and
                     v.is_contiguous(memory_format=f)), 'None')
        return (f'{str(v.dtype)[6:]}{list(v.shape)} stride={tuple(v.stride())} '
                f'memory_format={form} requires_grad={v.requires_grad}')
    if isinstance(v, torch.Size):
        return repr(v)
    if isinstance(v, tuple):
        return '(' + ', '.join(map(show, v)) + (',' if len(v) == 1 else '') + ')'
    if isinstance(v, list):
        return '[' + ', '.join(map(show, v)) + ']'
    if isinstance(v, dict):
        return '{' + ', '.join(f'{k!r}: {show(x)}' for k, x in v.items()) + '}'
    return repr(v)


class Probe(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.rows = []

    def run_node(self, n):
        result = super().run_node(n)
        self.rows.append(f'{n.name}\t{n.op}\t{show(result)}\n')
        return result


def example(line):
    """'float32[1, 3, 224, 224]'"""
    kind, _, shape = line.strip().partition('[')
    sizes = [int(n) for n in shape.rstrip(']').split(',')]
    if kind.startswith('int'):
        return torch.ones(sizes, dtype=getattr(torch, kind))
    return torch.randn(sizes, dtype=getattr(torch, kind))


def parameters(model):
    for kind, named in (('parameter', model.named_parameters()), ('buffer', model.named_buffers())):
        for name, tensor in named:
            yield f'{kind}\t{name}\t{str(tensor.dtype)[6:]}\t{list(tensor.shape)}\n'


# Their nodes take too long to compute under the sanitizers; their graphs are compared all the same.
HEAVY = {'vgg11', 'vgg16_bn', 'wide_resnet50_2', 'densenet169', 'fcn_resnet50', 'vit_b_16',
         'convnext_tiny', 'swin_t', 'inception_v3', 'resnext50_32x4d', 'resnet50', 'densenet121'}


def texts(name, model, folder):
    """What of the network is compared: (file, text)"""
    yield 'modules.txt', str(model) + '\n'
    yield 'params.tsv', ''.join(parameters(model))
    traced = fx.symbolic_trace(model)
    yield 'graph.txt', str(traced.graph) + '\n'
    yield 'code.txt', traced.code
    if name in HEAVY and '--light' in sys.argv:
        return
    probe = Probe(traced)
    with open(os.path.join(folder, f'{name}.inputs.txt')) as lines:
        probe.run(*map(example, lines))
    yield 'meta.tsv', ''.join(probe.rows)


def compare(name, folder):
    """None where all is the same, else what differs."""
    model = build(name)
    if model is None:
        return 'skip'
    for kind, text in texts(name, model.eval(), folder):
        with open(os.path.join(folder, f'{name}.{kind}')) as file:
            expected = file.read()
        if text != expected:
            pairs = zip(text.split('\n'), expected.split('\n'))
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), -1)
            return f'{kind}, line {at + 1}: {text.split(chr(10))[at]!r} is not ' \
                   f'{expected.split(chr(10))[at]!r}'
    return None


def main(folder):
    names = sorted(f[:-len('.graph.txt')] for f in os.listdir(folder) if f.endswith('.graph.txt'))
    failures = 0
    for count, name in enumerate(names, 1):
        try:
            wrong = compare(name, folder)
        except Exception as error:
            wrong = f'{type(error).__name__}: {error}'
        if wrong == 'skip':
            print(f'ok {count} - {name} # SKIP the source of torchvision is not here')
            continue
        failures += wrong is not None
        print(f"{'not ok' if wrong else 'ok'} {count} - {name}", flush=True)
        if wrong:
            print(f'# {wrong[:500]}')
    print(f'1..{len(names)}')
    sys.exit(1 if failures else 0)


main(sys.argv[1])
