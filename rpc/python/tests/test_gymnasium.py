"""Gymnasium's own checks, its registry and its wrappers."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from conftest import GAME, MODES, Server, assert_same, play
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

import blockyard

ID = "blockyard:blockyard/BlockBattle-v0"


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_check_env(server: Server, game, closing):
    """With default arguments, without a warning."""
    env = closing(gymnasium.make(f"blockyard/{game}", address=server.unix))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_single_renders(server: Server, mode, closing):
    env = closing(gymnasium.make(ID, address=server.unix, render_mode=mode))
    env.reset(seed=1)
    assert env.render() is not None


@pytest.mark.parametrize("home", ["blockyard", "blockyard.single"])
def test_exported_datasets_find_it(server: Server, home, closing):
    """Datasets of Minari name the class of their environment: those of version 0.1.0 as ``blockyard.single``."""
    spec = gymnasium.envs.registration.EnvSpec("blockyard/WinTetris-v0", entry_point=f"{home}:BlockEnv")
    env = closing(gymnasium.make(spec, game="WinTetris-v0", address=server.unix))
    assert isinstance(env.unwrapped, blockyard.BlockEnv)


def test_registered(server: Server, closing):
    spec = gymnasium.spec("blockyard/BlockBattle-v0")
    assert spec.entry_point
    assert spec.vector_entry_point
    env = closing(gymnasium.make(ID, address=server.unix))
    assert isinstance(env.unwrapped, blockyard.BlockEnv)
    obs, info = env.reset(seed=1)
    assert env.observation_space.contains(obs)
    assert info["action_mask"].shape == (1601,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = closing(
            gymnasium.make_vec(ID, num_envs=3, address=server.unix, opponents={1: "first"}, autoreset_mode="SameStep")
        )
    assert isinstance(envs, blockyard.BlockVectorEnv)
    assert envs.num_envs == 3
    assert envs.spec.id == "blockyard/BlockBattle-v0"
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert "blockyard/BlockBattle-v0" in repr(envs)


def test_the_default_mode_is_ours(server: Server):
    """gymnasium.make_vec passes no autoreset mode, so both ways of creating an environment have the same default."""
    with gymnasium.make_vec(ID, num_envs=2, address=server.unix) as envs:
        assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_registered_vectorised_by_gymnasium(server: Server, closing):
    envs = closing(gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", address=server.unix))
    native = closing(gymnasium.make_vec(ID, num_envs=2, address=server.unix, autoreset_mode="NextStep"))
    assert_same(play(envs, 30), play(native, 30))


# Gymnasium as RLlib asks for it: it refuses without a word, and counts short (docs/gymnasium.md).
OLD = tuple(int(part) for part in gymnasium.__version__.split(".")[:2]) < (1, 4)

# What each mode permits; the others refuse the mode by name.
OBSERVING = ["NormalizeObservation", "TransformObservation", "VectorizeTransformObservation", "FlattenObservation"]


def wrap(name, env):
    match name:
        case "RecordEpisodeStatistics" | "DictInfoToList" | "NormalizeReward" | "FlattenObservation":
            return getattr(wrappers, name)(env)
        case "ClipReward":
            return wrappers.ClipReward(env, -1, 1)
        case "TransformObservation":
            return wrappers.TransformObservation(env, lambda obs: obs)
        case "VectorizeTransformObservation":
            from gymnasium.wrappers import TransformObservation

            return wrappers.VectorizeTransformObservation(
                env, TransformObservation, func=lambda o: o, observation_space=env.single_observation_space
            )
        case "NormalizeObservation":
            flat = (
                wrappers.FlattenObservation(env) if env.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP else env
            )
            return wrappers.NormalizeObservation(flat)
    raise AssertionError(name)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "name", ["RecordEpisodeStatistics", "NormalizeReward", "ClipReward", "DictInfoToList", *OBSERVING]
)
def test_wrappers(server: Server, mode, name):
    base = blockyard.make_vec(GAME, 4, address=server.unix, autoreset_mode=mode, max_episode_steps=7)
    with base:
        refused = (mode == "SameStep" and name in OBSERVING) or (mode == "Disabled" and name == "NormalizeObservation")
        if refused:
            with pytest.raises((ValueError, AssertionError), match=None if OLD else r"(?i)autoreset|mode"):
                wrap(name, base)
            return
        env, rng = wrap(name, base), np.random.default_rng(0)
        env.reset(seed=1)
        for step in range(20):
            _, _, terminated, truncated, infos = env.step(base.sample_actions(rng))
            done = terminated | truncated
            if name == "DictInfoToList":
                assert len(infos) == 4
                assert infos[0]["action_mask"].shape == (1601,)
                if mode == "SameStep" and done[0]:
                    assert infos[0]["final_obs"]["planes"].shape == (2, 20, 10)
                    assert infos[0]["final_info"]["score"] >= 0
            if name == "RecordEpisodeStatistics" and done.any():
                counted = 6 if OLD and mode == "SameStep" and step > 6 else 7
                np.testing.assert_array_equal(infos["episode"]["l"][done], counted)
            if mode == "Disabled" and done.any():
                env.reset(options={"reset_mask": done})


def test_reset_mask_is_left_in_the_options(server: Server):
    """Otherwise the statistics of games that were not reset would restart."""
    with blockyard.make_vec(GAME, 2, address=server.unix, autoreset_mode="Disabled") as base:
        env = wrappers.RecordEpisodeStatistics(base)
        env.reset(seed=1)
        rng = np.random.default_rng(0)
        for _ in range(4):
            env.step(base.sample_actions(rng))
        options = {"reset_mask": np.array([True, False])}
        base.reset(options=options)
        assert list(options) == ["reset_mask"]
        env.reset(options=dict(options))
        np.testing.assert_array_equal(env.episode_lengths, [0, 4])


def test_unknown_arguments_are_named_in_the_words_of_python(server: Server):
    """TorchRL's GymEnv passes frameskip, and leaves it out after these words."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'; want some of"):
        gymnasium.make("blockyard/WinTetris-v0", address=server.unix, frameskip=1)
