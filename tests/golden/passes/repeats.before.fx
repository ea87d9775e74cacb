Repeats()
parameter w: torch.float32[3]
graph():
    %x : [#users=4] = placeholder[target=x]
    %y : [#users=2] = placeholder[target=y]
    %sin : [#users=1] = call_function[target=torch.sin](args = (%x,), kwargs = {})
    %cos : [#users=1] = call_function[target=torch.cos](args = (%y,), kwargs = {})
    %add : [#users=4] = call_function[target=operator.add](args = (%sin, %cos), kwargs = {})
    %sin_1 : [#users=1] = call_function[target=torch.sin](args = (%x,), kwargs = {})
    %cos_1 : [#users=1] = call_function[target=torch.cos](args = (%y,), kwargs = {})
    %mul : [#users=2] = call_function[target=operator.mul](args = (%sin_1, %cos_1), kwargs = {})
    %sin_2 : [#users=1] = call_function[target=torch.sin](args = (%x,), kwargs = {})
    %sum_1 : [#users=1] = call_function[target=torch.sum](args = (%sin_2, 1), kwargs = {})
    %sin_3 : [#users=1] = call_function[target=torch.sin](args = (%x,), kwargs = {})
    %sum_2 : [#users=1] = call_function[target=torch.sum](args = (%sin_3,), kwargs = {dim: 1})
    %add_1 : [#users=1] = call_function[target=operator.add](args = (%sum_1, %sum_2), kwargs = {})
    %cat : [#users=1] = call_function[target=torch.cat](args = ([%add, %mul], 1), kwargs = {})
    %cat_1 : [#users=1] = call_function[target=torch.cat](args = ([%add, %mul], 1), kwargs = {})
    %sub : [#users=1] = call_function[target=operator.sub](args = (%cat, %cat_1), kwargs = {})
    %w : [#users=2] = get_attr[target=w]
    %add_2 : [#users=1] = call_function[target=operator.add](args = (%add, %w), kwargs = {})
    %add_3 : [#users=1] = call_function[target=operator.add](args = (%add, %w), kwargs = {})
    %mul_1 : [#users=1] = call_function[target=operator.mul](args = (%add_2, %add_3), kwargs = {})
    return (mul_1, add_1, sub)
