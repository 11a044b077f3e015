"""The contract of gymnasium.vector.VectorEnv."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from conftest import GAME, MODES, Server, advance, begun, play
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

import blockyard


@pytest.fixture
def env(server: Server):
    with blockyard.make_vec(GAME, 6, address=server.unix, seed=1) as env:
        yield env


def test_is_a_vector_env(env):
    assert isinstance(env, VectorEnv)
    assert env.num_envs == env.num_games == 6
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.metadata["render_modes"] == ["ansi", "rgb_array", "human"]
    assert env.unwrapped is env
    assert env.spec is None
    assert env.render_mode is None
    assert env.render() is None


def test_spaces(env):
    planes, globals_ = env.single_observation_space["planes"], env.single_observation_space["globals"]
    assert isinstance(planes, spaces.Box)
    assert planes.dtype == np.uint8
    assert planes.shape == env.game_spec.planes_shape == (2, 20, 10)
    assert globals_.dtype == np.float32
    assert globals_.shape == (len(env.game_spec.global_names),)
    assert env.single_action_space == spaces.Discrete(1601)
    assert env.observation_space == gymnasium.vector.utils.batch_space(env.single_observation_space, 6)
    assert env.action_space == spaces.MultiDiscrete([1601] * 6)


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_numbers_stay_within_their_space(server, game):
    with blockyard.make_vec(game, 32, seed=3, opponents=None, address=server.unix, max_episode_steps=60) as env:
        numbers = env.single_observation_space["globals"]
        assert (numbers.high < 2**24).mean() > 0.7  # but for what is counted without end
        assert (numbers.low <= 0).all()
        rng = np.random.default_rng(0)
        obs, _ = env.reset()
        for _ in range(150):
            obs, *_ = env.step(env.sample_actions(rng))
            assert env.observation_space.contains(obs)


def test_arrays(env):
    obs, infos = env.reset()
    assert env.observation_space.contains(obs)
    for _ in range(50):
        obs, rewards, terminated, truncated, infos = env.step(env.sample_actions(np.random.default_rng(0)))
        assert env.observation_space.contains(obs)
        assert rewards.shape == terminated.shape == truncated.shape == (6,)
        assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
        assert infos["action_mask"].shape == (6, 1601)
        assert infos["action_mask"].dtype == np.bool_
        assert infos["_action_mask"].all()
        assert infos["score"].shape == (6,)


@pytest.mark.parametrize("mode", MODES)
def test_copies_are_never_changed(server, mode):
    with blockyard.make_vec(GAME, 4, address=server.unix, autoreset_mode=mode, max_episode_steps=5) as env:
        rng, kept = np.random.default_rng(0), []
        obs, infos = env.reset(seed=3)
        for _ in range(12):
            kept.append((obs, {k: v.copy() for k, v in obs.items()}))
            if "final_obs" in infos:
                for last in filter(None, infos["final_obs"]):
                    kept.append((last, {k: v.copy() for k, v in last.items()}))
            obs, _, terminated, truncated, infos = env.step(env.sample_actions(rng))
            if mode == "Disabled" and (done := terminated | truncated).any():
                obs, infos = env.reset(options={"reset_mask": done})
        assert len(kept) == (12 if mode != "SameStep" else 20)
        for given, copy in kept:
            for k in copy:
                np.testing.assert_array_equal(given[k], copy[k])


def test_reused_memory(server):
    """copy=False returns the same few arrays in turn, with the same contents."""
    with (
        blockyard.make_vec(GAME, 4, address=server.unix, copy=False, slots=3) as ring,
        blockyard.make_vec(GAME, 4, address=server.unix) as fresh,
    ):
        rng, seen = np.random.default_rng(0), []
        a, _ = ring.reset(seed=3)
        b, _ = fresh.reset(seed=3)
        for _ in range(9):
            seen.append(id(a["planes"]))
            np.testing.assert_array_equal(a["planes"], b["planes"])
            actions = fresh.sample_actions(rng)
            a, _, _, _, infos = ring.step(actions)
            b, _, _, _, expected = fresh.step(actions)
            np.testing.assert_array_equal(infos["action_mask"], expected["action_mask"])
        assert len(set(seen)) == 3
        old = ring.step(fresh.sample_actions(rng))[4]
        advance(ring, 3, rng)
        with pytest.raises(RuntimeError, match="overwritten its memory"):
            old["action_mask"]


def test_async(env):
    env.reset(seed=5)
    first = env.sample_actions(np.random.default_rng(0))
    with pytest.raises(TypeError, match=r"rng: want numpy.random.default_rng\(seed\).*got 0"):
        env.sample_actions(0)
    with pytest.raises(RuntimeError, match="no step is in progress"):
        env.step_wait()
    env.step_async(first)
    for refused in (lambda: env.step_async(first), env.reset, env.legal_actions):
        with pytest.raises(RuntimeError, match="in progress"):
            refused()
    a = env.step_wait()
    env.reset(seed=5)
    b = env.step(first)
    np.testing.assert_array_equal(a[0]["planes"], b[0]["planes"])


def test_infos_are_a_dict_whose_masks_can_wait(env):
    _, infos = env.reset()
    assert isinstance(infos, dict)
    keys = ("action_mask", "acting", "illegal", "score", "opponent")
    assert list(infos) == [name for key in keys for name in (key, f"_{key}")]
    plain = dict(infos)
    assert type(plain) is dict
    assert plain["action_mask"].sum() > 0
    assert {**env.reset()[1]}["action_mask"] is not None
    assert env.reset()[1].copy()["action_mask"] is not None
    assert env.reset()[1].get("action_mask") is not None
    assert env.reset()[1].pop("action_mask") is not None
    assert env.reset()[1].get("nothing", 5) == 5
    infos["action_mask"] = 3
    assert infos["action_mask"] == 3


def test_mask_can_be_left_out(server):
    with blockyard.make_vec(GAME, 2, address=server.unix, mask=False) as env:
        _, infos = env.reset(seed=1)
        assert "action_mask" not in infos
        with pytest.raises(RuntimeError, match="mask=False"):
            _ = env.action_masks
        rng = np.random.default_rng(0)
        _, _, _, _, infos = env.step(env.sample_actions(rng))
        assert "action_mask" not in infos


def test_step_limit_of_numpy(server):
    with begun(GAME, 2, address=server.unix, max_episode_steps=np.int64(1)) as env:
        assert env.step(env.action_masks.argmax(1))[3].all()


def test_next_step_ignores_actions_after_the_end(server):
    how = {"autoreset_mode": "NextStep", "max_episode_steps": 4, "address": server.unix}
    with blockyard.make_vec(GAME, 3, **how) as env:
        env.reset(seed=2)
        _, _, terminated, truncated, _ = advance(env, 4, 0)
        assert truncated.all()
        assert not terminated.any()
        obs, rewards, terminated, truncated, _ = env.step(np.full(3, 1600))  # never legal at the start
        assert not (terminated | truncated).any()
        assert not rewards.any()
        assert not env.scores.any()
        assert obs["planes"].sum() == 0


def test_reward_kinds(server):
    with blockyard.make_vec(GAME, 16, address=server.unix, reward="score", opponents=None, seed=1) as env:
        rng = np.random.default_rng(1)
        env.reset()
        total, scores, ended = np.zeros(32), np.zeros(32), np.zeros(32, bool)
        for _ in range(200):
            legal = env.legal_actions()
            deepest = [max(legal[i], key=lambda a: (a % 20, rng.random()), default=0) for i in range(32)]
            _, rewards, terminated, _, infos = env.step(np.array(deepest))
            total = np.where(ended, 0, total) + rewards
            final = infos["final_info"]["score"] if terminated.any() else 0
            np.testing.assert_array_equal(total, infos["score"] + final)
            np.testing.assert_array_equal(env.scores.reshape(-1), total)
            ended, scores = terminated, np.maximum(scores, total)
        assert scores.max() > 0
    with blockyard.make_vec(GAME, 16, address=server.unix, opponents=None, seed=1) as env:
        trace = play(env, 100)
        for _, rewards, terminated, _, _ in trace[1:]:
            pairs = rewards.reshape(-1, 2)
            np.testing.assert_array_equal(pairs.sum(1), 0)
            assert not pairs[~terminated.reshape(-1, 2)].any()


def test_render(server):
    with begun(GAME, 2, address=server.unix, render_mode="ansi", seed=1) as env:
        texts = env.render()
        assert len(texts) == 2
        assert "player1" in texts[0]
        assert "round 1" in texts[0]
    with begun(GAME, 2, address=server.unix, render_mode="rgb_array", seed=1) as env:
        before = env.render()
        assert before[0].dtype == np.uint8
        assert before[0].shape == before[1].shape
        assert before[0].ndim == 3
        env.step(env.sample_actions(np.random.default_rng(0)))
        assert (env.render()[0] != before[0]).any()
        assert isinstance(env.picture(1, "text"), str)
