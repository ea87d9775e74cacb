"""networks.py: whole networks with the same weights in PyTorch and in fxscope: their outputs are compared. The model files
are made from tests/golden/models, the weights from a seed."""
import array
import json
import os
import struct
import subprocess
import tempfile

import torch
import torchvision


GOLDEN = os.path.join(os.path.dirname(__file__), '..', 'golden', 'models')
SIZES = {'inception_v3': 299}
NAMES = ['alexnet', 'resnet18', 'resnet50', 'vgg11', 'vgg16_bn', 'regnet_x_400mf', 'shufflenet_v2_x1_0', 'resnext50_32x4d', 'mobilenet_v2', 'mobilenet_v3_small', 'squeezenet1_1', 'densenet121',
         'efficientnet_b0', 'googlenet', 'inception_v3', 'mnasnet0_5', 'convnext_tiny', 'swin_t', 'vit_b_16']
CODES = {torch.float32: 'F32', torch.float64: 'F64', torch.int64: 'I64', torch.bool: 'BOOL'}


def write_safetensors(path, state):
    """A file by the format's description: length, JSON header, data."""
    header, chunks, at = {}, [], 0
    for name, t in state.items():
        raw = t.detach().contiguous().numpy().tobytes()
        header[name] = {'dtype': CODES[t.dtype], 'shape': list(t.shape), 'data_offsets': [at, at + len(raw)]}
        chunks.append(raw)
        at += len(raw)
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text + b''.join(chunks))


def model_text(name):
    """The tree, its declared parameters, the graph. MultiheadAttention does not print its heads: they are added."""
    def read(kind):
        return open(os.path.join(GOLDEN, name + kind)).read()
    tree = read('.modules.txt').replace('MultiheadAttention(\n', 'MultiheadAttention(\n          num_heads=12\n')
    declared = []
    for line in read('.params.tsv').splitlines():
        kind, path, dtype, shape = line.split('\t')
        declared.append(f'{kind} {path}: torch.{dtype}{shape}\n')
    return tree + ''.join(declared) + read('.graph.txt')


def build(name, seed):
    torch.manual_seed(seed)
    more = {'init_weights': False} if name in ('googlenet', 'inception_v3') else {}
    aux = {'aux_logits': False} if name in ('googlenet', 'inception_v3') else {}
    try:
        model = getattr(torchvision.models, name)(weights=None, **more, **aux)
    except TypeError:
        model = getattr(torchvision.models, name)(weights=None)
    with torch.no_grad():
        for key, v in model.state_dict().items():
            if key.endswith('running_mean'):
                v.normal_(0, 0.1)
            elif key.endswith('running_var'):
                v.uniform_(0.8, 1.2)
            elif key == 'heads.head.weight':  # zeros, which would compare nothing
                v.normal_(0, 0.1)
    return model.eval()


def compare(program, name, seed, folder):
    model = build(name, seed)
    path = {k: os.path.join(folder, k) for k in ('model.fx', 'weights.safetensors', 'input.raw')}
    size = SIZES.get(name, 224)
    x = torch.randn(1, 3, size, size)
    open(path['model.fx'], 'w').write(model_text(name))
    write_safetensors(path['weights.safetensors'], model.state_dict())
    open(path['input.raw'], 'wb').write(x.numpy().tobytes())
    with torch.no_grad():
        want = model(x)
    want = torch.cat([t.reshape(-1) for t in (want if isinstance(want, tuple) else [want]) if t is not None])
    p = subprocess.run([program, path['model.fx'], path['weights.safetensors'], f'1x3x{size}x{size}', path['input.raw']],
                       capture_output=True)
    if p.returncode:
        return None, p.stderr.decode().strip()
    have = torch.tensor(array.array('f', p.stdout))
    if have.shape != want.shape:
        return None, f'{have.numel()} numbers, not {want.numel()}'
    return ((have - want).abs().max() / want.abs().max()).item(), p.stderr.decode().strip()


def report(program, seed, wanted=None):
    bad = 0
    for name in NAMES:
        if wanted and wanted not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            error, said = compare(program, name, seed, folder)
        good = error is not None and error < 1e-4
        bad += not good
        print(f'{"ok" if good else "DIFFERS"} {name}: ' + (f'relative error {error:.1e}' if error is not None else said))
    print(f'{len(NAMES)} networks, {bad} differ')
    return 1 if bad else 0
