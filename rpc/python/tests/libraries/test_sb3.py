"""The adapter to Stable-Baselines3: the same as DummyVecEnv, and usable by its algorithms."""

from __future__ import annotations

import copy
import re
import time
import warnings

import gymnasium
import numpy as np
import pytest
import stable_baselines3.common.vec_env as theirs
from conftest import Server, assert_same, copied, pairs, random_actions
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor

import blockyard
from blockyard.sb3 import SB3VecEnv

SMALL = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}}


@pytest.mark.parametrize(("game", "limit"), pairs(blockyard.ENV_IDS, [None, 9]))
def test_equals_dummy_vec_env(server: Server, game, limit, closing):
    """Every step is the same as with DummyVecEnv of single environments, with seeds and resets."""
    n, kwargs = 4, {"address": server.unix, "max_episode_steps": limit}
    ours = closing(SB3VecEnv(game, n, **kwargs))
    dummy = closing(theirs.DummyVecEnv([lambda: blockyard.make(game, **kwargs) for _ in range(n)]))
    assert isinstance(ours, theirs.VecEnv)
    assert ours.observation_space == dummy.observation_space
    assert ours.action_space == dummy.action_space
    rng, ended = np.random.default_rng(0), 0
    for seed in (7, None):  # None: the sequences that the seeds began go on
        if seed is not None:
            assert ours.seed(seed) == dummy.seed(seed)
        assert_same(dict(ours.reset()), dict(dummy.reset()))
        for step in range(120):
            assert_same(get_action_masks(ours)[0], get_action_masks(dummy))
            actions = random_actions(get_action_masks(dummy), rng)
            a, b = ours.step(actions), dummy.step(actions)
            for part in range(3):
                assert_same(a[part], dict(b[part]) if part == 0 else b[part], f"step {step}")
            for x, y in zip(a[3], b[3], strict=True):
                assert x["TimeLimit.truncated"] == y["TimeLimit.truncated"]
                assert ("terminal_observation" in x) == ("terminal_observation" in y)
                if "terminal_observation" in x:
                    ended += 1
                    assert_same(x["terminal_observation"], y["terminal_observation"])
                    assert x["score"] == y["score"]
            assert [i["score"] for i in ours.reset_infos if i["score"]] == []
    assert ended >= (n if limit or game == "BlockBattle-v0" else 0)


def test_statistics_are_a_monitors(server: Server, closing):
    kwargs = {"address": server.unix, "max_episode_steps": 11, "reward": "score"}
    ours = closing(SB3VecEnv("BlockBattle-v0", 3, **kwargs))
    dummy = closing(theirs.DummyVecEnv([lambda: Monitor(blockyard.make("BlockBattle-v0", **kwargs)) for _ in range(3)]))
    watched = closing(theirs.VecMonitor(SB3VecEnv("BlockBattle-v0", 3, **kwargs)))
    rng, episodes = np.random.default_rng(0), 0
    for env in (ours, dummy, watched):
        env.seed(1)
        env.reset()
    for _ in range(40):
        actions = random_actions(get_action_masks(dummy), rng)
        for infos in zip(*(env.step(actions)[3] for env in (ours, dummy, watched)), strict=True):
            ends = [info.get("episode") for info in infos]
            if ends[1]:
                episodes += 1
                assert ends[0]["t"] >= 0
                assert len({(e["r"], e["l"]) for e in ends}) == 1
            else:
                assert ends == [None] * 3
    assert episodes == 9


def test_masks_in_microseconds(server: Server):
    """What sb3-contrib does in each step only unpacks the masks once."""
    vec = SB3VecEnv("Blocking-v0", 256, address=server.unix)
    with vec.env as env:
        vec.reset()
        masks = get_action_masks(vec)
        assert masks.shape == (1, 256, env.game_spec.actions)
        np.testing.assert_array_equal(masks[0], env.action_masks)
        assert vec.env_method("action_masks")[0] is env.action_masks
        times = []
        for _ in range(50):
            start = time.perf_counter()
            vec.env_method("action_masks")
            times.append(time.perf_counter() - start)
        assert min(times) < 20e-6


def test_attributes(server: Server, closing):
    vec = closing(SB3VecEnv("BlockBattle-v0", 3, address=server.unix, render_mode="rgb_array"))
    vec.reset()
    assert vec.get_attr("render_mode") == ["rgb_array"] * 3
    assert vec.get_attr("num_games", indices=[0, 2]) == [3, 3]
    assert vec.get_attr("num_games", indices=-1) == [3]
    assert vec.has_attr("action_masks")
    assert is_masking_supported(vec)
    assert not vec.has_attr("nothing")
    with pytest.raises(AttributeError, match="nothing"):
        vec.get_attr("nothing")
    vec.set_attr("note", "x")
    assert vec.get_attr("note") == ["x"] * 3
    with pytest.raises(ValueError, match="must be all rows"):
        vec.set_attr("note", "y", indices=1)
    assert vec.env_method("ping") == [None] * 3
    with pytest.raises(ValueError, match="must be all rows"):
        vec.env_method("ping", indices=[0])
    assert [m.shape for m in vec.env_method("action_masks", indices=[2, 0])] == [(1601,)] * 2
    assert vec.env_is_wrapped(Monitor) == [True] * 3
    assert vec.env_is_wrapped(gymnasium.Wrapper, indices=0) == [False]
    assert vec.metadata["render_modes"] == ["human", "rgb_array"]
    assert vec.render().ndim == 3
    assert [f.shape[2] for f in vec.get_images()] == [3] * 3
    with pytest.raises(ValueError, match="reset has none"):
        vec.set_options({"x": 1})
    vec.set_options()
    vec.step_async(vec.env.sample_actions(np.random.default_rng(0)))
    vec.reset()  # a step under way is dropped


def test_what_it_refuses(server: Server, closing):
    with pytest.raises(TypeError, match="autoreset_mode"):
        SB3VecEnv("BlockBattle-v0", autoreset_mode="NextStep")
    for name, value in (("rows", "acting"), ("copy", False), ("slots", 3)):
        with pytest.raises(TypeError, match=f"{name}: cannot be set"):
            SB3VecEnv("BlockBattle-v0", address=server.unix, opponents=None, **{name: value})
    unmasked = closing(SB3VecEnv("BlockBattle-v0", 2, address=server.unix, mask=False))
    assert not is_masking_supported(unmasked)
    with pytest.raises(ValueError, match="masking"):
        MaskablePPO("MultiInputPolicy", unmasked, **SMALL).learn(1)


@pytest.mark.parametrize(("game", "wrapped"), pairs(blockyard.ENV_IDS, [False, True]))
def test_check_env(server: Server, game, wrapped, closing):
    """With default arguments it warns only that planes are not photographs."""
    env = closing(gymnasium.make(f"blockyard/{game}", address=server.unix))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(env if wrapped else env.unwrapped)
    for warning in said:
        assert re.search("minimal resolution for an image|observation space planes is an image", str(warning.message))


@pytest.mark.parametrize(("game", "seats"), pairs(blockyard.ENV_IDS, ["against random", "self-play"]))
def test_algorithms_run(server: Server, game, seats, tmp_path, closing):
    """PPO and MaskablePPO learn a little, save, load and predict, without a warning."""
    kwargs = {"opponents": None} if seats == "self-play" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        env = closing(SB3VecEnv(game, 2, address=server.unix, seed=1, max_episode_steps=20, **kwargs))
        model = MaskablePPO("MultiInputPolicy", env, seed=3, **SMALL)
        model.learn(64)
        model.save(tmp_path / "m.zip")
        again = MaskablePPO.load(tmp_path / "m.zip", env=env)
        obs = env.reset()
        for _ in range(5):
            masks = get_action_masks(env)
            actions, _ = again.predict(obs, action_masks=masks)
            needed = masks[0].any(1)
            assert masks[0][np.arange(env.num_envs), actions][needed].all()
            obs = env.step(actions)[0]
        env = closing(SB3VecEnv(game, 2, address=server.unix, illegal="random", max_episode_steps=20, **kwargs))
        normal = closing(theirs.VecNormalize(env, norm_obs=False))
        PPO("MultiInputPolicy", normal, **SMALL).learn(64)


def test_infos_name_the_opponent(server: Server, closing):
    """Against whom an episode was, for a callback's statistics."""
    env = closing(SB3VecEnv("BlockBattle-v0", 16, opponents={"random": 1, "first": 1}, seed=1, address=server.unix))
    env.reset()
    seen: dict[str, int] = {}
    for _ in range(200):
        actions = env.env.sample_actions(np.random.default_rng(0))
        for info in env.step(actions)[3]:
            if "opponent" in info:
                seen[info["opponent"]] = seen.get(info["opponent"], 0) + 1
    assert seen == {spec: s.games for spec, s in env.env.opponent_stats().items()}
    assert seen.keys() == {"random", "first"}
    several = closing(SB3VecEnv("Blocking-v0", 2, seats=3, opponents="random", seed=1, address=server.unix))
    several.reset()
    while not (
        ended := [i for i in several.step(several.env.sample_actions(np.random.default_rng(0)))[3] if "score" in i]
    ):
        pass
    assert ended[0]["opponent"] == ["random", "random"]


def test_resumes_from_a_checkpoint(server: Server, tmp_path, closing):
    """What learn() does first, a reset, returns the observations of the checkpoint, and the games go on."""
    kwargs = {"address": server.unix, "opponents": "random"}
    env = closing(SB3VecEnv("BlockBattle-v0", 4, seed=1, **kwargs))
    model = MaskablePPO("MultiInputPolicy", env, **SMALL)
    model.learn(64)
    data = env.env.checkpoint()
    actions = env.env.legal_actions().actions[env.env.legal_actions().indptr[:-1]]
    batch = env.env.engine.batch
    before = {key: value.copy() for key, value in batch.observation(batch.current).items()}
    want = env.step(actions)
    twin = closing(SB3VecEnv("BlockBattle-v0", 4, checkpoint=data, **kwargs))
    assert_same(dict(twin.reset()), before)
    got = twin.step(actions)
    for part in range(3):
        assert_same(got[part], want[part])
    seeded = closing(SB3VecEnv("BlockBattle-v0", 4, checkpoint=data, **kwargs))
    MaskablePPO("MultiInputPolicy", seeded, seed=1, **SMALL)  # seeds the environment
    assert_same(dict(seeded.reset()), before)
    MaskablePPO("MultiInputPolicy", env, seed=1, **SMALL).save(tmp_path / "m.zip")
    seeded = closing(SB3VecEnv("BlockBattle-v0", 4, checkpoint=data, **kwargs))
    MaskablePPO.load(tmp_path / "m.zip", env=seeded)  # and so does this
    assert_same(dict(seeded.reset()), before)
    model.set_env(SB3VecEnv("BlockBattle-v0", 4, checkpoint=data, **kwargs))
    model.learn(64, reset_num_timesteps=False)
    model.get_env().close()


def test_infos_belong_to_the_caller(server: Server, closing):
    env = closing(SB3VecEnv("BlockBattle-v0", 3, address=server.unix, seed=1))
    env.reset()
    for _ in range(2):
        infos = env.step(env.env.sample_actions(np.random.default_rng(0)))[3]
        assert infos == [{"TimeLimit.truncated": False}] * 3
        for info in infos:
            info["mine"] = 1


def test_copies_continue(server: Server, closing):
    env = closing(SB3VecEnv("BlockBattle-v0", 2, address=server.unix, seed=1))
    env.reset()
    twin = closing(copy.deepcopy(env))
    for part in zip(twin.step([0, 0]), env.step([0, 0]), strict=True):
        assert_same(*map(copied, part))


def test_seed_of_several_seats(server: Server, closing):
    """Seeding by the library's method plays what the argument plays."""
    how = {"address": server.unix, "opponents": None}
    one, two = closing(SB3VecEnv("BlockBattle-v0", 3, seed=5, **how)), closing(SB3VecEnv("BlockBattle-v0", 3, **how))
    two.seed(5)
    assert_same(dict(one.reset()), dict(two.reset()))


def test_checkpoints_become_opponents(server: Server, tmp_path, closing):
    """The script of a league with default arguments: train, save, and meet what was saved."""
    from blockyard import policies

    env = closing(SB3VecEnv("BlockBattle-v0", num_envs=8, address=server.unix))
    model, league = MaskablePPO("MultiInputPolicy", env, **SMALL), {}
    for k in range(2):
        model.learn(1024)
        model.save(tmp_path / f"ppo-{k}")
        league[f"ppo-{k}"] = policies.sb3(tmp_path / f"ppo-{k}.zip")
        env.env.set_opponents({1: {"random": 0.5, **dict.fromkeys(league.values(), 0.5)}})
    model.learn(1024)
    stats = env.env.opponent_stats()
    assert stats.keys() == {"random", "ppo-0", "ppo-1"}
    assert min(one.games for one in stats.values()) > 0
    obs = env.reset()
    seen = set()
    for _ in range(60):
        actions, _ = model.predict(obs, action_masks=env.env_method("action_masks")[0])
        obs, _, dones, infos = env.step(actions)
        seen |= {info["opponent"] for info, done in zip(infos, dones, strict=True) if done}
    assert seen <= stats.keys()
    assert seen
    data = env.env.checkpoint()
    opponents = {1: {"random": 1, league["ppo-0"]: 1, league["ppo-1"]: 1}}
    again = closing(SB3VecEnv("BlockBattle-v0", num_envs=8, address=server.unix, opponents=opponents, checkpoint=data))
    MaskablePPO("MultiInputPolicy", again, seed=1, **SMALL).learn(256)
    assert again.env.opponent_stats()["random"].games >= stats["random"].games
    table = blockyard.ladder({"random": "random", **league}, game="BlockBattle-v0", games=4, address=server.unix)
    assert {p.name for p in table.players} == stats.keys()
