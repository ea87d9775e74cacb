# the two linear layers of a transformer's block; the activation may be any layer
graph():
    %x : [#users=1] = placeholder[target=x]
    %up : [#users=1] = call_module[target=class:Linear](args = (%x,), kwargs = {})
    %act : [#users=1] = call_module[target=class:*LU*](args = (%up,), kwargs = {})
    %down : [#users=1] = call_module[target=class:Linear](args = (%act,), kwargs = {})
    return down
