"""Functions of recurrent networks and attention, which take their weights as arguments; and a few of a kind of their own."""
from source import tup

from . import case, layer

GATES = {'lstm': 4, 'gru': 3, 'rnn_tanh': 1, 'rnn_relu': 1}


def gates_of(g):
    return next(n for name, n in GATES.items() if name in g.spelling)


@case('lstm', 'gru', 'rnn_tanh', 'rnn_relu', loose=1e-4)
def network(g):
    gates, n, hidden, layers = gates_of(g), g.int(1, 3), g.int(1, 3), g.int(1, 2)
    bias, both, first = g.chance(0.6), g.chance(0.4), g.chance(0.5)
    ways, params = 2 if both else 1, []
    for i in range(layers):
        for _ in range(ways):
            params += [g.tensor([gates * hidden, n if i == 0 else hidden * ways], plain=True),
                       g.tensor([gates * hidden, hidden], plain=True)]
            params += [g.tensor([gates * hidden], plain=True) for _ in 'ab'] if bias else []
    batch = g.int(1, 2)
    h, c = (g.tensor([layers * ways, batch, hidden], plain=True) for _ in 'hc')
    x = g.tensor([batch, 3, n] if first else [3, batch, n], plain=True)
    return [x, tup(h, c) if gates == 4 else h, params, bias, layers, 0.0, False, both, first], {}


@case('lstm_cell', 'gru_cell', 'rnn_tanh_cell', 'rnn_relu_cell', loose=1e-4)
def cell(g):
    gates, n, hidden, batch = gates_of(g), g.int(1, 3), g.int(1, 3), g.int(1, 2)
    h, c = (g.tensor([batch, hidden]) for _ in 'hc')
    weights = [g.tensor([gates * hidden, n]), g.tensor([gates * hidden, hidden])]
    weights += [g.tensor([gates * hidden]), g.tensor([gates * hidden])] if g.chance(0.7) else []
    return [g.tensor([batch, n]), tup(h, c) if gates == 4 else h] + weights, {}


@case('multi_head_attention_forward', loose=1e-4)
def attention(g):
    batch, targets, sources, heads = g.int(1, 2), g.int(1, 3), g.int(1, 3), g.int(1, 2)
    q, k = g.tensor([targets, batch, 4]), g.tensor([sources, batch, 4])
    kwargs = {'training': False, **attention_masks(g, batch, targets, sources, heads),
              **g.some(need_weights=False, average_attn_weights=False)}
    in_weight, v, more = g.tensor([12, 4]), k, g.chance(0.2)
    if g.chance(0.3):
        kdim, vdim, in_weight = g.int(1, 3), g.int(1, 3), None
        k, v = g.tensor([sources, batch, kdim]), g.tensor([sources, batch, vdim])
        kwargs.update(use_separate_proj_weight=True, q_proj_weight=g.tensor([4, 4]), k_proj_weight=g.tensor([4, kdim]),
                      v_proj_weight=g.tensor([4, vdim]))
    return [q, k, v, 4, heads, in_weight, g.tensor([12]) if g.chance(0.7) else None, g.tensor([1, 1, 4]) if more else None,
            g.tensor([1, 1, 4]) if more else None, g.chance(0.2), 0.0, g.tensor([4, 4]), g.tensor([4])], kwargs


def attention_masks(g, batch, targets, sources, heads, names=('attn_mask', 'key_padding_mask')):
    """Masks of bools never hide all."""
    out = {}
    if g.chance(0.4):
        sizes = [targets, sources] if g.chance(0.7) else [batch * heads, targets, sources]
        out[names[0]] = g.tensor(sizes, 'float32', grad=False)
        if g.chance(0.4):
            out[names[0]] = g.tensor(sizes, 'bool', plain=True)
            out[names[0]]['t']['data'] = [i % sources > 0 and g.chance(0.5) for i in range(batch * heads * targets * sources)][
                :len(out[names[0]]['t']['data'])]
    if g.chance(0.3):
        out[names[1]] = g.tensor([batch, sources], 'bool', plain=True)
        out[names[1]]['t']['data'] = [i % sources > 0 and g.chance(0.5) for i in range(batch * sources)]
    return out


def layer_style(g):
    return {'d_model': 4, 'nhead': g.int(1, 2), 'dim_feedforward': g.int(1, 5), 'batch_first': g.chance(0.5),
            **g.some(activation=g.pick('relu', 'gelu'), norm_first=True, layer_norm_eps=1e-3, dropout=0.3)}


def sequence(g, style, n, batch):
    return g.tensor([batch, n, 4] if style['batch_first'] else [n, batch, 4])


@layer('TransformerEncoderLayer', 'TransformerEncoder')
def encoder(g):
    style, batch, n = layer_style(g), g.int(1, 2), g.int(1, 3)
    stack = g.spelling == 'nn.TransformerEncoder'
    args = [sequence(g, style, n, batch)] if g.chance(0.85) else [g.tensor([n, 4])]
    batch = batch if len(args[0]['t']['sizes']) == 3 else 1
    masks = attention_masks(g, batch, n, n, style['nhead'])
    padding = masks.get('key_padding_mask') if len(args[0]['t']['sizes']) == 3 else None
    args += [masks.get('attn_mask'), padding][:g.int(0, 2)]
    if not stack:
        return style, args
    return {'encoder_layer': {'dict': style}, 'num_layers': g.int(1, 2), **g.some(norm=True)}, args


def both_masks(g, batch, n, m, heads):
    own, other = attention_masks(g, batch, n, n, heads), attention_masks(g, batch, n, m, heads)
    return [own.get('attn_mask'), other.get('attn_mask'), own.get('key_padding_mask'), other.get('key_padding_mask')]


@layer('TransformerDecoderLayer', 'TransformerDecoder')
def decoder(g):
    style, batch, n, m = layer_style(g), g.int(1, 2), g.int(1, 3), g.int(1, 3)
    args = [sequence(g, style, n, batch), sequence(g, style, m, batch)]
    args += both_masks(g, batch, n, m, style['nhead'])[:g.pick(0, 0, 2, 4)]
    if g.spelling == 'nn.TransformerDecoderLayer':
        return style, args
    return {'decoder_layer': {'dict': style}, 'num_layers': g.int(1, 2), **g.some(norm=True)}, args


@layer('Transformer')
def transformer(g):
    style, batch, n, m = layer_style(g), g.int(1, 2), g.int(1, 3), g.int(1, 3)
    args = [sequence(g, style, m, batch), sequence(g, style, n, batch)]
    if g.chance(0.5):
        own, memory, own_padding, memory_padding = both_masks(g, batch, n, m, style['nhead'])
        source = attention_masks(g, batch, m, m, style['nhead'])
        args += [source.get('attn_mask'), own, memory, source.get('key_padding_mask'), own_padding, memory_padding]
    return {**style, 'num_encoder_layers': g.int(1, 2), 'num_decoder_layers': g.int(0, 1)}, args


WINDOW = 'shifted_window_attention'


@case(WINDOW, loose=1e-4)
def window_attention(g):
    heads, n = g.int(1, 2), 4
    bias = [g.tensor([3 * n]), g.tensor([n])]
    return [g.tensor([g.int(1, 2), g.int(2, 5), g.int(2, 5), n]), g.tensor([3 * n, n]), g.tensor([n, n]),
            g.tensor([1, heads, 4, 4]), [2, 2], heads], {
                'shift_size': [1, 1] if g.chance(0.5) else [0, 0], 'qkv_bias': bias[0], 'proj_bias': bias[1],
                **g.some(logit_scale=g.tensor([heads, 1, 1], 'float32', 0, 2))}


@case('relative_position_bias')
def position_bias(g):
    return [g.tensor([9, 2]), g.indices([16], 9), [2, 2]], {}


@case('patch_merging_pad')
def patch_merging(g):
    return [g.tensor([g.int(1, 2), g.int(1, 5), g.int(1, 5), g.int(1, 2)])], {}


@case('trapezoid', loose=1e-4)
def trapezoid(g):
    y = g.tensor(g.full(1, 3))
    sizes = y['t']['sizes']
    if g.chance(0.4):
        return [y], {**g.some(dx=g.pick(2, 0.5)), **g.some(dim=g.dim(sizes))}
    return [y, g.tensor(sizes if g.chance(0.5) else sizes[-1:])], {}


@case('dist', loose=1e-4)
def dist(g):
    sizes = g.full(0, 3)
    return [g.tensor(sizes), g.tensor(g.broadcast_of(sizes))], g.some(p=g.pick(1, 2.0, 0, 3))


@case('logit_within', loose=1e-4)
def logit_within(g):
    return [g.tensor(g.shape(), g.pick('float32', 'float64'), 0, 1), g.pick(0.1, 0.25)], {}


@case('cuda')
def cpu(g):
    return [g.tensor(g.shape(), g.any())], {}
