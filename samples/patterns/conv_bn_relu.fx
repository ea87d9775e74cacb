# convolution, batch normalisation, ReLU or ReLU6: any layers of these classes
graph():
    %x : [#users=1] = placeholder[target=x]
    %conv : [#users=1] = call_module[target=class:Conv*](args = (%x,), kwargs = {})
    %bn : [#users=1] = call_module[target=class:BatchNorm*](args = (%conv,), kwargs = {})
    %relu : [#users=1] = call_module[target=class:ReLU*](args = (%bn,), kwargs = {})
    return relu
