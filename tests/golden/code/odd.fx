Odd(
  (features): Sequential(
    (0): Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1), padding=same, padding_mode=circular)
    (norm-1): FrozenNorm(4, eps=1e-05)
    (class): Hardtanh(min_val=-inf, max_val=6.0)
  )
  (block): Block(
    width=4
    (up): UpsamplingBilinear2d(scale_factor=2.0, mode=bilinear)
    (norm): FrozenNorm(4, eps=1e-05)
    (odd): Odd()
  )
  (attention): MultiheadAttention(
    (out_proj): NonDynamicallyQuantizableLinear(in_features=4, out_features=4, bias=True)
  )
  (act): Function(
    function=<function silu at 0x7f00>
  )
  (empty): ModuleList()
  (a): Linear(in_features=4, out_features=4, bias=False)
  (b): Linear(in_features=4, out_features=4, bias=False)
)
parameter scale: torch.float64[4]
parameter index: torch.int64[2]
buffer mask: torch.bool[1, 4]
buffer features.norm-1.weight: torch.float32[4]
parameter b.weight = a.weight
graph():
    %x : typing.Optional[torch.Tensor] [#users=3] = placeholder[target=x](default=None)
    %where : 'device' [#users=1] = placeholder[target=where](default=cpu)
    %features_0 : [#users=1] = call_module[target=features.0](args = (%x,), kwargs = {})
    %features_norm_1 : mod.Pair [#users=1] = call_module[target=features.norm-1](args = (%features_0,), kwargs = {})
    %to : [#users=1] = call_method[target=to](args = (%features_norm_1, %where, torch.float32), kwargs = {memory_format: torch.channels_last})
    %sqrt : typing.Tuple[int, ...] [#users=1] = call_function[target=math.sqrt](args = (2.0,), kwargs = {})
    %len_1 : [#users=1] = call_function[target=builtins.len](args = (%x,), kwargs = {})
    %userfn : __main__.UserT [#users=1] = call_function[target=__main__.userfn](args = (%to, inf, cuda:0), kwargs = {})
    %not_ : [#users=0] = call_function[target=operator.not_](args = (%userfn,), kwargs = {})
    %scale : torch.nn.parameter.Parameter [#users=1] = get_attr[target=scale]
    %add : int | None [#users=1] = call_function[target=operator.add](args = (%scale, %sqrt), kwargs = {})
    return {'out': [add, len_1], 'x': (x,)}
