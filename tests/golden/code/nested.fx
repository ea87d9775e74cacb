Net(
  (torch): Part(
    (0): Linear(in_features=2, out_features=2, bias=True)
  )
  (trees): Part()
  (list): ModuleList(
    (0): Part(
      (act): Sequential()
    )
  )
)
buffer torch.b: torch.float32[2]
torch.fx.wrap('math.sqrt')
graph():
    %x : [#users=2] = placeholder[target=x]
    %math_sqrt : [#users=1] = call_module[target=torch](args = (%x,), kwargs = {})
    %part : [#users=1] = call_module[target=trees](args = ({k: %math_sqrt},), kwargs = {})
    %list_0 : [#users=1] = call_module[target=list.0](args = (%part,), kwargs = {})
    %sqrt : [#users=1] = call_function[target=math.sqrt](args = (4.0,), kwargs = {})
    %mul : [#users=1] = call_function[target=operator.mul](args = (%list_0, %sqrt), kwargs = {})
    return mul
torch.fx.wrap('math.sqrt')
torch.graph():
    %x : [#users=1] = placeholder[target=x]
    %_0 : [#users=1] = call_module[target=0](args = (%x,), kwargs = {})
    %b : [#users=1] = get_attr[target=b]
    %math_sqrt : [#users=1] = call_function[target=operator.add](args = (%_0, %b), kwargs = {})
    %sqrt : [#users=1] = call_function[target=math.sqrt](args = (inf,), kwargs = {})
    %part : [#users=1] = call_function[target=operator.mul](args = (%math_sqrt, %sqrt), kwargs = {})
    return part
trees.graph(self, x = {'k': '*'}) -> '*':
    %x_1 : [#users=1] = placeholder[target=x_1]
    %floor : [#users=1] = call_function[target=math.floor](args = (%x_1,), kwargs = {})
    return [floor]
list.0.graph():
    %Part : [#users=1] = placeholder[target=Part]
    %act : [#users=1] = call_module[target=act](args = (%Part,), kwargs = {})
    return act
