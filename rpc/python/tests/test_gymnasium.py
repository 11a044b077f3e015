"""Gymnasium's own checks, its registry and its wrappers."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from conftest import GAME, MODES, Server, assert_same, copied, pairs, play
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

import blockyard

ID = "blockyard:blockyard/BlockBattle-v0"


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_check_env(server: Server, game):
    """With default arguments, without a warning."""
    env = gymnasium.make(f"blockyard/{game}", address=server.unix)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_single_renders(server: Server, mode):
    env = gymnasium.make(ID, address=server.unix, render_mode=mode)
    env.reset(seed=1)
    assert env.render() is not None
    env.close()


@pytest.mark.parametrize("home", ["blockyard", "blockyard.single"])
def test_exported_datasets_find_it(server: Server, home):
    """Datasets of Minari name the class of their environment: those of version 0.1.0 as ``blockyard.single``."""
    spec = gymnasium.envs.registration.EnvSpec("blockyard/WinTetris-v0", entry_point=f"{home}:BlockEnv")
    env = gymnasium.make(spec, game="WinTetris-v0", address=server.unix)
    assert isinstance(env.unwrapped, blockyard.BlockEnv)
    env.close()


def test_registered(server: Server):
    spec = gymnasium.spec("blockyard/BlockBattle-v0")
    assert spec.entry_point
    assert spec.vector_entry_point
    env = gymnasium.make(ID, address=server.unix)
    assert isinstance(env.unwrapped, blockyard.BlockEnv)
    obs, info = env.reset(seed=1)
    assert env.observation_space.contains(obs)
    assert info["action_mask"].shape == (1601,)
    env.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(
            ID, num_envs=3, address=server.unix, opponents={1: "first"}, autoreset_mode="SameStep"
        )
    assert isinstance(envs, blockyard.BlockVectorEnv)
    assert envs.num_envs == 3
    assert envs.spec.id == "blockyard/BlockBattle-v0"
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert "blockyard/BlockBattle-v0" in repr(envs)
    envs.close()


def test_the_default_mode_is_ours(server: Server):
    """gymnasium.make_vec passes no autoreset mode, so both ways of creating an environment have the same default."""
    with gymnasium.make_vec(ID, num_envs=2, address=server.unix) as envs:
        assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_registered_vectorised_by_gymnasium(server: Server):
    envs = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", address=server.unix)
    native = gymnasium.make_vec(ID, num_envs=2, address=server.unix, autoreset_mode="NextStep")
    assert_same(play(envs, 30), play(native, 30))
    envs.close()
    native.close()


def test_single_truncates_by_gymnasium_too(server: Server):
    env = gymnasium.make(ID, address=server.unix, max_episode_steps=3)
    _, info = env.reset(seed=1)
    for i in range(3):
        _, _, _, truncated, info = env.step(int(info["action_mask"].argmax()))
        assert truncated == (i == 2)
    env.close()


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


def single(server: Server, **kwargs):
    return lambda: blockyard.make(GAME, address=server.unix, **kwargs)


@pytest.mark.parametrize(("mode", "limit"), pairs(MODES, [None, 9]))
def test_equals_a_vector_of_singles(server: Server, mode, limit):
    """Observations, rewards, flags and infos, to the last byte and dtype, final ones included."""
    kwargs = {"max_episode_steps": limit, "opponents": "random"}
    n = 5
    theirs = SyncVectorEnv([single(server, **kwargs) for _ in range(n)], autoreset_mode=mode)
    ours = blockyard.make_vec(GAME, n, address=server.unix, autoreset_mode=mode, **kwargs)
    a, b = play(ours, 150), play(theirs, 150)
    ended = sum(int((step[2] | step[3]).sum()) for step in a if len(step) == 5)
    assert ended >= n
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        x, y = forgive(x, limit), forgive(y, limit)
        assert_same(x, y, f"step {i}")
    theirs.close()
    ours.close()


def forgive(step, limit):
    """Remove the values of infos in rows where they are not valid, and values documented as unknown."""
    infos = copied(step[-1])
    if "final_info" in infos and limit:  # the last mask of a truncated episode
        final = infos["final_info"]
        final["_action_mask"] = final["_action_mask"] & ~step[3]
    for level in (infos, infos.get("final_info", {})):
        for key in ("action_mask", "acting", "illegal", "score"):
            if key in level:
                level[key][~level[f"_{key}"]] = 0
    return (*step[:-1], infos)


def test_unknown_arguments_are_named_in_the_words_of_python(server: Server):
    """TorchRL's GymEnv passes frameskip, and leaves it out after these words."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'; want some of"):
        gymnasium.make("blockyard/WinTetris-v0", address=server.unix, frameskip=1)
