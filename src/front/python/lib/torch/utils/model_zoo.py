"""torch.utils.model_zoo: the old name of parts of torch.hub."""
from torch.hub import load_state_dict_from_url, load_url  # noqa: F401
