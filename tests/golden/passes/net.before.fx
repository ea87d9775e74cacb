Net(
  (conv1): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
  (bn1): BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
  (block): Sequential(
    (0): Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    (1): BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
    (2): ReLU()
    (3): Dropout(p=0.1, inplace=False)
  )
  (shared): Conv2d(8, 8, kernel_size=(1, 1), stride=(1, 1))
  (bn2): BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
  (head): Linear(in_features=8, out_features=4, bias=True)
  (drop): Dropout(p=0.5, inplace=False)
)
parameter conv1.weight: torch.float32[8, 3, 3, 3]
parameter bn1.weight: torch.float32[8]
parameter bn1.bias: torch.float32[8]
parameter block.0.weight: torch.float32[8, 8, 3, 3]
parameter block.0.bias: torch.float32[8]
parameter block.1.weight: torch.float32[8]
parameter block.1.bias: torch.float32[8]
parameter shared.weight: torch.float32[8, 8, 1, 1]
parameter shared.bias: torch.float32[8]
parameter bn2.weight: torch.float32[8]
parameter bn2.bias: torch.float32[8]
parameter head.weight: torch.float32[4, 8]
parameter head.bias: torch.float32[4]
buffer bn1.running_mean: torch.float32[8]
buffer bn1.running_var: torch.float32[8]
buffer bn1.num_batches_tracked: torch.int64[]
buffer block.1.running_mean: torch.float32[8]
buffer block.1.running_var: torch.float32[8]
buffer block.1.num_batches_tracked: torch.int64[]
buffer bn2.running_mean: torch.float32[8]
buffer bn2.running_var: torch.float32[8]
buffer bn2.num_batches_tracked: torch.int64[]
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv1 : [#users=1] = call_module[target=conv1](args = (%x,), kwargs = {})
    %bn1 : [#users=1] = call_module[target=bn1](args = (%conv1,), kwargs = {})
    %relu : [#users=3] = call_function[target=torch.nn.functional.relu](args = (%bn1,), kwargs = {inplace: False})
    %block_0 : [#users=1] = call_module[target=block.0](args = (%relu,), kwargs = {})
    %block_1 : [#users=1] = call_module[target=block.1](args = (%block_0,), kwargs = {})
    %block_2 : [#users=1] = call_module[target=block.2](args = (%block_1,), kwargs = {})
    %block_3 : [#users=1] = call_module[target=block.3](args = (%block_2,), kwargs = {})
    %add : [#users=1] = call_function[target=operator.add](args = (%block_3, %relu), kwargs = {})
    %shared : [#users=1] = call_module[target=shared](args = (%add,), kwargs = {})
    %bn2 : [#users=1] = call_module[target=bn2](args = (%shared,), kwargs = {})
    %shared_1 : [#users=1] = call_module[target=shared](args = (%relu,), kwargs = {})
    %add_1 : [#users=1] = call_function[target=operator.add](args = (%bn2, %shared_1), kwargs = {})
    %max_pool2d : [#users=1] = call_function[target=torch.nn.functional.max_pool2d](args = (%add_1, 2), kwargs = {stride: None, padding: 0, dilation: 1, ceil_mode: False, return_indices: False})
    %adaptive_avg_pool2d : [#users=1] = call_function[target=torch.nn.functional.adaptive_avg_pool2d](args = (%max_pool2d, 1), kwargs = {})
    %flatten : [#users=1] = call_function[target=torch.flatten](args = (%adaptive_avg_pool2d, 1), kwargs = {})
    %drop : [#users=1] = call_module[target=drop](args = (%flatten,), kwargs = {})
    %head : [#users=1] = call_module[target=head](args = (%drop,), kwargs = {})
    return head
