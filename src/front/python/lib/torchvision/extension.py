"""torchvision.extension: the compiled operators are fxscope's own; one that it lacks is refused by name
where it is called (torch.ops)."""


def _has_ops():
    return True


def _load_library(name):
    pass


def _assert_has_ops():
    pass
