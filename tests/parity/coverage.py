"""coverage.py: which names of a ranked list ([[name, repositories, uses], ...], most used first) fxscope computes.
Names that are no operation on tensors (containers, initialisers, dtypes, devices, autograd, files, optimisers) are told
apart by NOT_OPERATIONS (as are sparse tensors, and names that PyTorch does not have) and counted by themselves."""
import json
import re
import subprocess

NOT_OPERATIONS = re.compile(
    r'torch\.nn\.(Module|ModuleList|ModuleDict|Sequential|Parameter|ParameterList|ParameterDict|init\..*|utils\..*|'
    r'DataParallel|parallel\..*|functional|modules\..*|Container)$|'
    r'torch\.(no_grad|device|save|load|float\w*|half|double|int\w*|long|short|uint8|bool|complex\w*|bfloat16|dtype|'
    r'manual_seed|cuda\..*|backends\..*|jit\..*|autograd\..*|optim\..*|utils\..*|distributed\..*|hub\..*|Size|'
    r'is_grad_enabled|set_grad_enabled|enable_grad|inference_mode|compile|amp\..*|fx\..*|get_default_dtype|'
    r'set_default_dtype|channels_last|contiguous_format|preserve_format|strided|Generator|random\..*|multiprocessing\..*|'
    r'from_numpy|Tensor|FloatTensor|LongTensor|BoolTensor|get_rng_state|set_rng_state|__version__|version\..*|'
    r'nested\..*|quantization\..*|ao\..*|onnx\..*|profiler\..*|is_autocast_enabled|get_autocast_gpu_dtype|'
    r'cuda|backends|nn|optim|utils|distributed|jit|autograd|float8_\w+|memory_format|strided|qint8|quint8|finfo|iinfo|'
    r'autocast|get_autocast\w*|set_float32_matmul_precision|use_deterministic_algorithms|set_num_threads|export\..*|'
    r'_dynamo.*|_C.*|library.*|special|linalg|fft|sparse|func\..*|types.*|testing.*|package.*|storage.*|classes|ops\..*|'
    r'compiler\..*|set_printoptions|is_inference|is_storage|typename|initial_seed|seed|overrides\..*|_utils.*|'
    r'pi|vmap|jagged|sparse_coo_tensor|spmm|ByteTensor|_foreach_\w+|nn\.Indentity|nn\.L2loss|'
    r'nn\.attention.*|nn\.grad.*|nn\.quantiz.*|nn\.intrinsic.*|nn\.qat.*|nn\.common_types.*|mps.*|xpu.*)$|'
    r'Tensor\.(data|grad|grad_fn|backward|numpy|retain_grad|register_hook|is_leaf|device|dtype|shape|ndim|requires_grad|'
    r'is_cuda|lstsq|T|mT|H|layout|names|itemsize|nbytes|real|imag|_version|__class__|is_sparse|is_quantized|is_meta|is_mps|'
    r'storage|untyped_storage|data_ptr|share_memory_|pin_memory|to_sparse|to_dense|apply_|map_|set_|resize_\w*|is_shared)$')


def spellings(fxscope):
    text = subprocess.run([fxscope, 'ops'], capture_output=True, text=True, check=True).stdout
    ops, layers = text.split('\n\n')[:2]
    names = set()
    for line in ops.split('\n')[2:]:
        parts = re.split(r'\s{2,}', line.strip())
        for s in parts[5].split() if len(parts) == 6 else []:
            s = s.rstrip('!')
            names.add(s)
            if not s.endswith('_'):
                names.add(s + '_')
    at = len(re.match(r'-+\s+', layers.split('\n')[1]).group())
    return names, {line[at:].split()[0] for line in layers.split('\n')[2:] if line.strip()}


def covered(name, names, layers):
    if name.startswith('torch.nn.') and name.split('.')[-1][:1].isupper():
        return name.split('.')[-1] in layers
    tail = name.split('.')[-1]
    full = name.replace('F.', 'torch.nn.functional.', 1) if name.startswith('F.') else name
    others = {'torch.linalg.': 'torch._C._linalg.linalg_', 'torch.fft.': 'torch._C._fft.fft_',
              'torch.special.': 'torch._C._special.special_', 'torch.nn.functional.': 'torch._C._nn.'}
    found = {full, full.replace('torch.', 'torch.functional.', 1)}
    found |= {to + tail for start, to in others.items() if full.startswith(start)}
    if full.startswith('torch.nn.functional.'):
        found.add('torch.' + tail)
    return bool(found & names)


def report(fxscope, ranked):
    names, layers = spellings(fxscope)
    all_names = [row[0] for row in json.load(open(ranked))]
    operations = [n for n in all_names if not NOT_OPERATIONS.match(n)]
    missing = [n for n in operations if not covered(n, names, layers)]
    print(f'{len(all_names)} names, {len(operations)} operations on tensors, {len(operations) - len(missing)} covered '
          f'({100 * (1 - len(missing) / len(operations)):.1f} %)')
    print('missing, most used first: ' + (' '.join(missing) or 'none'))
    print('no operations: ' + ' '.join(n for n in all_names if NOT_OPERATIONS.match(n)))
    return 0
