"""torch.hub: pretrained weights are not fetched, since a drawing needs none."""
from collections import OrderedDict

from fxfront.missing import Unsupported
from fxfront.notes import note

__path__ = []  # its submodules are found like a package's


class _Skipped(OrderedDict):
    """A state dict that every module takes for its own."""
    _fxscope_skipped = True

    def __missing__(self, key):
        return self

    def copy(self):
        return self


def load_state_dict_from_url(url, *args, **kwargs):
    note('pretrained weights are skipped (drawing needs none)')
    return _Skipped()


load_url = load_state_dict_from_url


def load(repo, model=None, *args, **kwargs):
    raise Unsupported(f'torch.hub.load({repo!r}) is not supported (since nothing is fetched from '
                      'the network; give the file of the model instead)')


def download_url_to_file(url, dst, *args, **kwargs):
    raise Unsupported('torch.hub.download_url_to_file is not supported (since nothing is fetched '
                      'from the network)')


def get_dir():
    import os
    return os.path.join(os.path.expanduser('~'), '.cache', 'torch', 'hub')


def set_dir(d):
    pass


def _get_torch_home():
    import os
    return os.path.dirname(get_dir())
