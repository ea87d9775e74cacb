"""torch.nn.modules.flatten"""
from ._define import layer

Flatten = layer('Flatten(start_dim=1, end_dim=-1)', 'start_dim= end_dim=',
                'input.flatten(self.start_dim, self.end_dim)')
Unflatten = layer('Unflatten(dim, unflattened_size)', 'dim= unflattened_size=',
                  'input.unflatten(self.dim, self.unflattened_size)')
