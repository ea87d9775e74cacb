"""Of torch.fx.experimental, what changes graphs."""
