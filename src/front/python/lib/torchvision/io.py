"""torchvision.io: names that scripts import; no image is read."""
__path__ = []


def __getattr__(name):
    if name.startswith('_'):
        raise AttributeError(name)
    from fxfront.missing import Missing, Unsupported
    return Missing(f'torchvision.io.{name}', Unsupported, 'fxscope reads no images')
