# a convolution and its batch normalisation, without an activation
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv : [#users=1] = call_module[target=class:Conv*](args = (%x,), kwargs = {})
    %bn : [#users=1] = call_module[target=class:BatchNorm*](args = (%conv,), kwargs = {})
    return bn
