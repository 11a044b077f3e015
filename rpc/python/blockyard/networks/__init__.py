"""Networks over the inputs of a game: features, weights, PyTorch modules."""
