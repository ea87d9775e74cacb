"""torch.nn.parallel: one processor, so a wrapped module is called as it is."""
from ..modules.module import Module


class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


DataParallel.__module__ = 'torch.nn.parallel.data_parallel'


class DistributedDataParallel(DataParallel):
    def __init__(self, module, *args, **kwargs):
        super().__init__(module)


DistributedDataParallel.__module__ = 'torch.nn.parallel.distributed'
