TestModel(
  (main): Sequential(
    (0): Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1))
    (1): ReLU(inplace=True)
  )
  (skip): Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
)
parameter bias: torch.float32[1]
parameter main.0.weight: torch.float32[4, 3, 1, 1]
parameter main.0.bias: torch.float32[4]
parameter skip.weight: torch.float32[4, 2, 3, 3]
parameter skip.bias: torch.float32[4]
graph():
    %x : [#users=1] = placeholder[target=x]
    %y : [#users=1] = placeholder[target=y]
    %main_0 : [#users=1] = call_module[target=main.0](args = (%x,), kwargs = {})
    %main_1 : [#users=2] = call_module[target=main.1](args = (%main_0,), kwargs = {})
    %skip : [#users=1] = call_module[target=skip](args = (%y,), kwargs = {})
    %bias : [#users=1] = get_attr[target=bias]
    %add : [#users=1] = call_function[target=operator.add](args = (%skip, %bias), kwargs = {})
    %clamp : [#users=1] = call_method[target=clamp](args = (%add, 0, 1), kwargs = {})
    %size : [#users=1] = call_method[target=size](args = (%main_1,), kwargs = {})
    %getitem : [#users=1] = call_function[target=operator.getitem](args = (%size, slice(-2, None, None)), kwargs = {})
    %interpolate : [#users=1] = call_function[target=torch.nn.functional.interpolate](args = (%clamp,), kwargs = {size: %getitem, scale_factor: None, mode: bilinear, align_corners: False, recompute_scale_factor: None, antialias: False})
    %sigmoid : [#users=1] = call_function[target=torch.sigmoid](args = (%main_1,), kwargs = {})
    %add_1 : [#users=1] = call_function[target=operator.add](args = (%sigmoid, %interpolate), kwargs = {})
    return add_1
