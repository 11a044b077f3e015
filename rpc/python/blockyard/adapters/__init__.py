"""The environments as other libraries want them: a single environment, PettingZoo, Stable-Baselines3, RLlib, TorchRL."""
