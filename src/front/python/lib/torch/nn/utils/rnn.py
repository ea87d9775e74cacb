"""torch.nn.utils.rnn: sequences of several lengths in one tensor."""
from collections import namedtuple

import torch


class PackedSequence(namedtuple('PackedSequence', ['data', 'batch_sizes', 'sorted_indices',
                                                   'unsorted_indices'])):
    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)


PackedSequence.__module__ = 'torch.nn.utils.rnn'


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        row = s.new_full((longest, *s.shape[1:]), padding_value)
        row[:s.size(0)] = s
        rows.append(row)
    return torch.stack(rows, 0 if batch_first else 1)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """The steps of all sequences, one after the other, longest sequence first."""
    lengths = [int(n) for n in torch.as_tensor(lengths).tolist()]  # known, where a trace has them
    order = None
    if batch_first:
        input = input.transpose(0, 1)
    if enforce_sorted:
        if any(a < b for a, b in zip(lengths, lengths[1:])):
            raise RuntimeError('`lengths` array must be sorted in decreasing order when '
                               '`enforce_sorted` is True. You can pass `enforce_sorted=False`')
    else:
        order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        lengths = [lengths[i] for i in order]
        input = input.index_select(1, torch.tensor(order))
    if not lengths or lengths[-1] <= 0:
        raise RuntimeError('Length of all samples has to be greater than 0')
    sizes = [sum(length > t for length in lengths) for t in range(lengths[0])]
    data = torch.cat([input[t, :size] for t, size in enumerate(sizes)])
    back = None if order is None else torch.tensor(
        sorted(range(len(order)), key=order.__getitem__))
    return PackedSequence(data, torch.tensor(sizes),
                          None if order is None else torch.tensor(order), back)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    sizes = [int(size) for size in sequence.batch_sizes.tolist()]
    longest = len(sizes) if total_length is None else total_length
    if longest < len(sizes):
        raise ValueError('Expected total_length to be at least the length of the longest sequence '
                         f'in input, but got total_length={total_length} and max sequence length '
                         f'being {len(sizes)}')
    output = sequence.data.new_full((longest, sizes[0], *sequence.data.shape[1:]), padding_value)
    at = 0
    for t, size in enumerate(sizes):
        output[t, :size] = sequence.data[at:at + size]
        at += size
    lengths = torch.tensor([sum(size > i for size in sizes) for i in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        output = output.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return (output.transpose(0, 1) if batch_first else output), lengths


def pack_sequence(sequences, enforce_sorted=True):
    return pack_padded_sequence(pad_sequence(sequences), [s.size(0) for s in sequences],
                                enforce_sorted=enforce_sorted)
