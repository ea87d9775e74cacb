"""torchvision.extension: there are no compiled operators."""


def _has_ops():
    return False


def _load_library(name):
    pass


def _assert_has_ops():
    from fxfront.missing import Unsupported
    raise Unsupported('an operator of torchvision that is written in C++ is not supported')
