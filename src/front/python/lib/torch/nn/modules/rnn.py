"""torch.nn.modules.rnn: recurrent layers and cells. Their step is the library's own operator."""
import math

import torch
from torch import _VF

from .. import init
from ..parameter import Parameter
from .module import Module

_GATES = {'RNN_TANH': 1, 'RNN_RELU': 1, 'GRU': 3, 'LSTM': 4}


class RNNBase(Module):
    __constants__ = ['mode', 'input_size', 'hidden_size', 'num_layers', 'bias', 'batch_first',
                     'dropout', 'bidirectional', 'proj_size']

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False,
                 dropout=0., bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        if not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError('dropout should be a number in range [0, 1] representing the '
                             'probability of an element being zeroed')
        if proj_size < 0:
            raise ValueError('proj_size should be a positive integer or zero to disable '
                             'projections')
        if proj_size >= hidden_size:
            raise ValueError('proj_size has to be smaller than hidden_size')
        if mode not in _GATES:
            raise ValueError('Unrecognized RNN mode: ' + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        gates = _GATES[mode] * hidden_size
        out = proj_size if proj_size > 0 else hidden_size
        self._all_weights = []
        for index in range(num_layers):
            for suffix in ('', '_reverse')[:2 if bidirectional else 1]:
                width = input_size if index == 0 else out * (2 if bidirectional else 1)
                shapes = {'weight_ih': (gates, width), 'weight_hh': (gates, out)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size > 0:
                    shapes['weight_hr'] = (proj_size, hidden_size)
                names = []
                for name, shape in shapes.items():
                    names.append(f'{name}_l{index}{suffix}')
                    setattr(self, names[-1], Parameter(torch.empty(shape, dtype=dtype)))
                self._all_weights.append(names)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _flat_weights(self):
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        pass

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f'{self.input_size}, {self.hidden_size}'
        for name, default in (('proj_size', 0), ('num_layers', 1), ('bias', True),
                              ('batch_first', False), ('dropout', 0), ('bidirectional', False)):
            if getattr(self, name) != default:
                text += f', {name}={getattr(self, name)}'
        return text

    def _zeros(self, input, batched, width, batch=None):
        directions = 2 if self.bidirectional else 1
        if batch is None:
            batch = input.size(0 if self.batch_first else 1) if batched else 1
        return torch.zeros(self.num_layers * directions, batch, width, dtype=input.dtype)

    def _run_packed(self, packed, hx, function, *states):
        """Each sequence by itself, at its own length."""
        sizes = packed.batch_sizes.tolist()
        starts = [sum(sizes[:t]) for t in range(len(sizes))]
        rows = [[start + i for start, size in zip(starts, sizes) if size > i]
                for i in range(sizes[0])]
        order = packed.sorted_indices
        if hx is not None and order is not None:
            hx = tuple(h.index_select(1, order) for h in hx)
        outputs, lasts = [], []
        for i, indices in enumerate(rows):
            input = packed.data.index_select(0, torch.tensor(indices)).unsqueeze(1)
            state = tuple(h[:, i:i + 1] for h in hx) if hx is not None else \
                tuple(self._zeros(input, True, width, batch=1) for width in states)
            output, *last = function(input, state if len(states) > 1 else state[0],
                                     self._flat_weights, self.bias, self.num_layers, self.dropout,
                                     self.training, self.bidirectional, False)
            outputs.append(output.squeeze(1))
            lasts.append(last)
        place = {row: at for at, row in enumerate(row for indices in rows for row in indices)}
        back = torch.tensor([place[row] for row in range(len(place))])
        data = torch.cat(outputs).index_select(0, back)
        last = [torch.cat(parts, 1) for parts in zip(*lasts)]
        if packed.unsorted_indices is not None:
            last = [h.index_select(1, packed.unsorted_indices) for h in last]
        return type(packed)(data, *packed[1:]), last

    def _run(self, input, hx, function, *states):
        if hasattr(type(input), 'batch_sizes'):
            return self._run_packed(input, hx, function, *states)
        batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input = input.unsqueeze(batch_dim)
            hx = hx if hx is None else tuple(h.unsqueeze(1) for h in hx)
        if hx is None:
            hx = tuple(self._zeros(input, True, width) for width in states)
        output, *last = function(input, hx if len(states) > 1 else hx[0], self._flat_weights,
                                 self.bias, self.num_layers, self.dropout, self.training,
                                 self.bidirectional, self.batch_first)
        if not batched:
            output = output.squeeze(batch_dim)
            last = [h.squeeze(1) for h in last]
        return output, last


class RNN(RNNBase):
    def __init__(self, *args, **kwargs):
        self.nonlinearity = kwargs.pop('nonlinearity', 'tanh')
        modes = {'tanh': 'RNN_TANH', 'relu': 'RNN_RELU'}
        if self.nonlinearity not in modes:
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'")
        if 'proj_size' in kwargs:
            raise ValueError('proj_size argument is only supported for LSTM, not RNN or GRU')
        super().__init__(modes[self.nonlinearity], *args, **kwargs)

    def forward(self, input, hx=None):
        function = _VF.rnn_tanh if self.mode == 'RNN_TANH' else _VF.rnn_relu
        output, last = self._run(input, None if hx is None else (hx,), function, self.hidden_size)
        return output, last[0]


class GRU(RNNBase):
    def __init__(self, *args, **kwargs):
        if 'proj_size' in kwargs:
            raise ValueError('proj_size argument is only supported for LSTM, not RNN or GRU')
        super().__init__('GRU', *args, **kwargs)

    def forward(self, input, hx=None):
        output, last = self._run(input, None if hx is None else (hx,), _VF.gru, self.hidden_size)
        return output, last[0]


class LSTM(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__('LSTM', *args, **kwargs)

    def forward(self, input, hx=None):
        output, last = self._run(input, hx, _VF.lstm, self.proj_size or self.hidden_size,
                                 self.hidden_size)
        return output, tuple(last)


class RNNCellBase(Module):
    __constants__ = ['input_size', 'hidden_size', 'bias']

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        for name, width in (('weight_ih', input_size), ('weight_hh', hidden_size)):
            setattr(self, name, Parameter(torch.empty((num_chunks * hidden_size, width),
                                                      dtype=dtype)))
        for name in ('bias_ih', 'bias_hh'):
            self.register_parameter(
                name, Parameter(torch.empty(num_chunks * hidden_size, dtype=dtype)) if bias
                else None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f'{self.input_size}, {self.hidden_size}'
        if self.bias is not True:
            text += f', bias={self.bias}'
        if getattr(self, 'nonlinearity', 'tanh') != 'tanh':
            text += f', nonlinearity={self.nonlinearity}'
        return text

    def _step(self, function, input, hx, states):
        batched = input.dim() == 2
        if hx is None:
            shape = (input.size(0) if batched else 1, self.hidden_size)
            hx = [torch.zeros(*shape, dtype=input.dtype) for _ in range(states)]
        elif not batched:
            hx = [h.unsqueeze(0) for h in hx]
        if not batched:
            input = input.unsqueeze(0)
        result = function(input, tuple(hx) if states > 1 else hx[0], self.weight_ih,
                          self.weight_hh, self.bias_ih, self.bias_hh)
        if states == 1:
            return result if batched else result.squeeze(0)
        return tuple(result) if batched else tuple(r.squeeze(0) for r in result)


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity='tanh', device=None,
                 dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ('tanh', 'relu'):
            raise RuntimeError(f'Unknown nonlinearity: {self.nonlinearity}')
        function = _VF.rnn_tanh_cell if self.nonlinearity == 'tanh' else _VF.rnn_relu_cell
        return self._step(function, input, None if hx is None else [hx], 1)


class LSTMCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=4, dtype=dtype)

    def forward(self, input, hx=None):
        return self._step(_VF.lstm_cell, input, hx, 2)


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, num_chunks=3, dtype=dtype)

    def forward(self, input, hx=None):
        return self._step(_VF.gru_cell, input, None if hx is None else [hx], 1)
