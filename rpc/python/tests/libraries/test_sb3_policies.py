"""Models of Stable-Baselines3 as policies: they play on what they were trained on, or are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import stable_baselines3.common.vec_env as theirs
from conftest import GAME, Server, advance
from programs import printed
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor

import blockyard
from blockyard import policies
from blockyard.sb3 import SB3VecEnv

SMALL = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}
WRAPPED = {
    "nothing": lambda env: env,
    "a monitor": theirs.VecMonitor,
    "rewards": lambda env: theirs.VecNormalize(env, norm_obs=False),
    "everything": theirs.VecNormalize,
    "globals": lambda env: theirs.VecNormalize(env, norm_obs_keys=["globals"]),
    "below a monitor": lambda env: theirs.VecMonitor(theirs.VecNormalize(env)),
    "above a monitor": lambda env: theirs.VecNormalize(theirs.VecMonitor(env)),
}


def observed(server: Server):
    with blockyard.make_vec(GAME, 5, seed=3, address=server.unix) as env:
        obs, infos = env.reset()
        obs, *_, infos = advance(env, 9)
        return obs, infos["action_mask"]


@pytest.mark.parametrize("singles", [False, True], ids=["SB3VecEnv", "DummyVecEnv"])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_normalised_observations(server: Server, tmp_path, wrapped, singles):
    """A model plays what it would play in its own environment; one from a file needs the statistics, or is refused."""
    env = SB3VecEnv(GAME, 2, address=server.unix)
    if singles:
        env = theirs.DummyVecEnv([lambda: Monitor(blockyard.make(GAME, address=server.unix))] * 2)
    env = WRAPPED[wrapped](env)
    model = MaskablePPO("MultiInputPolicy", env, seed=1, **SMALL)
    model.learn(64)
    model.save(tmp_path / "m.zip")
    obs, mask = observed(server)
    vec, files = model.get_vec_normalize_env(), {}
    if vec is not None:
        vec.save(tmp_path / "v.pkl")
        files = {"vec_normalize": tmp_path / "v.pkl"}
    seen = obs if vec is None else vec.normalize_obs(obs)
    want = model.predict(seen, action_masks=mask, deterministic=True)[0]
    for policy in (
        policies.sb3(model, deterministic=True),
        policies.sb3(tmp_path / "m.zip", deterministic=True, **files),
        policies.sb3(MaskablePPO.load(tmp_path / "m.zip"), deterministic=True, vec_normalize=vec),
    ):
        np.testing.assert_array_equal(policy(obs, mask), want)
    if vec is not None and vec.norm_obs:
        for lost in (tmp_path / "m.zip", MaskablePPO.load(tmp_path / "m.zip")):
            with pytest.raises(ValueError, match=r"trained on normalised observations.*: pass vec_normalize="):
                policies.sb3(lost)
    elif vec is not None:
        np.testing.assert_array_equal(policies.sb3(tmp_path / "m.zip", deterministic=True)(obs, mask), want)
    env.close()


@pytest.mark.parametrize("more", [theirs.VecMonitor, theirs.VecNormalize], ids=["monitor", "normalised"])
def test_a_frame_stack_is_refused(server: Server, tmp_path, more):
    env = more(theirs.VecFrameStack(SB3VecEnv(GAME, 2, address=server.unix), 2))
    model = MaskablePPO("MultiInputPolicy", env, **SMALL)
    model.learn(32)
    model.save(tmp_path / "m.zip")
    how = {"game": GAME, "games": 2, "address": server.unix}
    with pytest.raises(ValueError, match=r"trained on globals of shape \(58,\).* gives \(29,\).*VecFrameStack"):
        blockyard.evaluate(policies.sb3(model), **how)
    if model.get_vec_normalize_env() is None:
        with pytest.raises(ValueError, match="VecFrameStack"):
            blockyard.evaluate(policies.sb3(tmp_path / "m.zip"), **how)
    packed = MaskablePPO("MultiInputPolicy", SB3VecEnv(GAME, 2, address=server.unix, packed=True), **SMALL)
    with pytest.raises(ValueError, match=r"trained on bits of shape .* gives none.*packed="):
        blockyard.evaluate(policies.sb3(packed), **how)
    assert blockyard.evaluate(policies.sb3(packed), packed=True, **how).games == 2


def test_models_without_masks_are_refused(server: Server, tmp_path, closing):
    """When they are named, not at the first move; what to do is said."""
    env = closing(SB3VecEnv(GAME, 2, address=server.unix))
    for name, model in (
        ("PPO", PPO("MultiInputPolicy", env, n_steps=8)),
        ("RecurrentPPO", RecurrentPPO("MultiInputLstmPolicy", env, n_steps=8)),
    ):
        model.save(tmp_path / f"{name}.zip")
        with pytest.raises(ValueError, match=f"{name} takes no action masks.*train sb3_contrib.MaskablePPO"):
            policies.sb3(model)
        with pytest.raises(ValueError, match=f"{name}.zip is no file that MaskablePPO.save wrote.*train sb3_contrib"):
            policies.sb3(tmp_path / f"{name}.zip")
    model = MaskablePPO("MultiInputPolicy", SB3VecEnv(GAME, 2, address=server.unix), **SMALL)
    model.save(tmp_path / "m.zip")
    for bad, error in ((tmp_path / "PPO.zip", ValueError), (tmp_path / "none", FileNotFoundError)):
        with pytest.raises(error):
            policies.sb3(tmp_path / "m.zip", vec_normalize=bad)
    with pytest.raises(ValueError, match=r"policy: it returned a tuple of 2.*predict\(\.\.\.\)\[0\]"):
        blockyard.evaluate(
            lambda obs, mask: model.predict(obs, action_masks=mask), game=GAME, games=2, address=server.unix
        )


def test_opponents_are_set_as_an_attribute(server: Server, closing):
    """``set_attr`` of arguments does what it says, or is refused."""
    env = closing(SB3VecEnv(GAME, 3, address=server.unix, opponents="random"))
    env.reset()
    env.set_attr("opponents", "first")
    env.env.set_attr("opponents", {1: "hand:ply=1"})
    env.reset()
    assert env.env.opponent_specs == ("random", "first", "hand:ply=1")
    for vec in (env, env.env):
        for name in ("reward", "seats", "max_episode_steps"):
            with pytest.raises(AttributeError, match=f"{name}' cannot be changed: create another environment"):
                vec.set_attr(name, 1)
        with pytest.raises(blockyard.RequestError, match="nobody"):
            vec.set_attr("opponents", "nobody")
    env.set_attr("mine", 4)
    assert env.get_attr("mine") == [4] * 3


def test_a_saved_model_plays_in_a_contest(tmp_path):
    """A file of ``MaskablePPO.save`` is an agent of ``host``."""
    MaskablePPO("MultiInputPolicy", SB3VecEnv(GAME, 2), seed=1, **SMALL).save(tmp_path / "m.zip")
    words = "host blockbattle --bot policy:m.zip --bot first --games 1 --json".split()
    player = json.loads(printed("-m", "blockyard", *words, cwd=tmp_path))["players"][0]
    program = player["program"]
    assert (player["name"], program["ended_early"], program["remarks"]) == ("policy:m.zip", 0, 0), program
