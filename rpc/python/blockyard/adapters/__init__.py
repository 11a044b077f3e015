"""The environments as other libraries want them: Gymnasium, PettingZoo, Stable-Baselines3, RLlib, TorchRL."""
