graph():
    %scores : [#users=1] = placeholder[target=scores]
    %scale : [#users=1] = placeholder[target=scale]
    %mul : [#users=1] = call_function[target=operator.mul](args = (%scores, %scale), kwargs = {})
    return mul
