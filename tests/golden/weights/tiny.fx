Tiny(
  (conv): Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
  (bn): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
  (relu): ReLU()
  (pool): AdaptiveAvgPool2d(output_size=2)
  (fc): Linear(in_features=16, out_features=3, bias=True)
)
parameter scale: torch.float32[3]
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv : [#users=1] = call_module[target=conv](args = (%x,), kwargs = {})
    %bn : [#users=1] = call_module[target=bn](args = (%conv,), kwargs = {})
    %relu : [#users=1] = call_module[target=relu](args = (%bn,), kwargs = {})
    %pool : [#users=1] = call_module[target=pool](args = (%relu,), kwargs = {})
    %flatten : [#users=1] = call_function[target=torch.flatten](args = (%pool, 1), kwargs = {})
    %fc : [#users=1] = call_module[target=fc](args = (%flatten,), kwargs = {})
    %scale : [#users=1] = get_attr[target=scale]
    %mul : [#users=1] = call_function[target=operator.mul](args = (%fc, %scale), kwargs = {})
    return mul
