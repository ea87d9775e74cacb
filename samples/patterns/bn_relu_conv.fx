# batch normalisation and ReLU before a convolution, as DenseNet has them
graph():
    %x : [#users=1] = placeholder[target=x]
    %bn : [#users=1] = call_module[target=class:BatchNorm*](args = (%x,), kwargs = {})
    %relu : [#users=1] = call_module[target=class:ReLU*](args = (%bn,), kwargs = {})
    %conv : [#users=1] = call_module[target=class:Conv*](args = (%relu,), kwargs = {})
    return conv
