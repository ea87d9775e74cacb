"""torch.nn.utils.parametrizations: by the older functions, which compute the same weight."""
from .spectral_norm import spectral_norm  # noqa: F401
from .weight_norm import weight_norm  # noqa: F401
