"""MaskablePPO of sb3-contrib learns the duel by self-play: every seat is a row, and one policy plays them all."""

import argparse

from sb3_contrib import MaskablePPO

import blockyard
from blockyard.sb3 import SB3VecEnv

argparse.ArgumentParser(description=__doc__).parse_args()
env = SB3VecEnv("TetrisDuel-v0", num_envs=64, opponents=None, seed=1)
model = MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=1024, learning_rate=1e-3, seed=1, verbose=1)
model.learn(100_000)
play = lambda obs, mask: model.predict(obs, action_masks=mask, deterministic=True)[0]  # noqa: E731
print(blockyard.evaluate(play, "random", game="TetrisDuel-v0", games=200))
