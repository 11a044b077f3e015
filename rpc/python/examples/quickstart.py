"""Play 100 steps of 1,024 games with random legal actions."""

import argparse

import numpy as np

import blockyard

argparse.ArgumentParser(description=__doc__).parse_args()
rng = np.random.default_rng(0)
with blockyard.make_vec("BlockBattle-v0", num_envs=1024, seed=7) as env:
    obs, infos = env.reset()
    for _ in range(100):
        obs, rewards, terminated, truncated, infos = env.step(env.sample_actions(rng))
    print(env.picture(0, "text"))
    print({name: array.shape for name, array in obs.items()}, f"mean score {infos['score'].mean():.2f}")
