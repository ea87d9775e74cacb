"""torch.utils.data: enough for the classes of training scripts to be defined."""
from torch import _install

__path__ = []


class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError

    def __add__(self, other):
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item):
        return cls


class IterableDataset(Dataset):
    def __iter__(self):
        raise NotImplementedError


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __len__(self):
        return sum(map(len, self.datasets))


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __len__(self):
        return len(self.indices)


class Sampler:
    def __init__(self, data_source=None, *args, **kwargs):
        self.data_source = data_source

    def __class_getitem__(cls, item):
        return cls


class RandomSampler(Sampler):
    pass


class SequentialSampler(Sampler):
    pass


class BatchSampler(Sampler):
    pass


class WeightedRandomSampler(Sampler):
    pass


class DataLoader:
    """Holds its arguments; there is no data to load."""
    def __init__(self, dataset, batch_size=1, *args, **kwargs):
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __class_getitem__(cls, item):
        return cls


def random_split(dataset, lengths, generator=None):
    return [Subset(dataset, range(length)) for length in lengths]


def get_worker_info():
    return None


def default_collate(batch):
    return batch


_names = dict(globals())
for _part in ('dataset', 'dataloader', 'sampler', 'distributed'):
    _install.module(f'torch.utils.data.{_part}', **{k: v for k, v in _names.items()
                                                    if k[0] != '_'})
import sys  # noqa: E402
sys.modules['torch.utils.data.distributed'].DistributedSampler = Sampler
sys.modules['torch.utils.data.dataloader'].default_collate = default_collate
