"""RLlib's env runners and PPO on native vector environments."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import ray
from conftest import Server
from gymnasium.vector import AutoresetMode

import blockyard
from blockyard.rllib import MaskedVectorEnv, create, ppo_config


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_what_runners_see(server: Server, game, closing):
    env = closing(create({"game": game, "num_envs": 6, "address": server.unix, "opponents": None}))
    assert env.num_envs == 6
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    obs, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert env.observation_space.contains(obs)
        assert env.single_observation_space.contains({key: value[2] for key, value in obs.items()})
        assert obs["action_mask"].any(1).all()
        np.testing.assert_array_equal(obs["action_mask"] > 0, env.env.action_masks)
        obs, _, _, _, infos = env.step(env.env.sample_actions(rng))
        assert {"score", "acting", "illegal"} <= set(infos)
        assert "action_mask" not in infos


@pytest.mark.parametrize(("runners", "actions"), [(0, "ids"), (1, "ids"), (0, "afterstates")])
def test_ppo(runners, actions):
    """Two rounds of training; an illegal action would make the server refuse the step."""
    how = {"opponents": None, "max_episode_steps": 15, "actions": actions, "illegal": "error"}
    config = ppo_config("BlockBattle-v0", num_env_runners=runners, num_envs_per_env_runner=4, **how)
    config.training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
    config.debugging(seed=1)
    algorithm = config.build_algo()
    try:
        for _ in range(2):
            result = algorithm.train()
        assert result["env_runners"]["num_env_steps_sampled_lifetime"] >= 256
        assert np.isfinite(result["learners"]["default_policy"]["total_loss"])
    finally:
        algorithm.stop()


def test_episodes():
    """The step that resets a game is not part of an episode."""
    algorithm = ppo_config(
        "BlockBattle-v0", num_envs_per_env_runner=4, opponents=None, max_episode_steps=15
    ).build_algo()
    try:
        steps, cut, over = Counter(), set(), set()
        for _ in range(8):
            for episode in algorithm.env_runner.sample(num_timesteps=32):
                steps[episode.id_] += len(episode)
                cut |= {episode.id_} if episode.is_truncated else set()
                over |= {episode.id_} if episode.is_terminated else set()
        assert len(cut | over) >= 12
        assert {steps[i] for i in cut} == {15}
        assert all(1 <= steps[i] <= 15 for i in over)  # a game may be lost before
    finally:
        algorithm.stop()


def test_refuses(server: Server):
    with pytest.raises(ValueError, match="vector_entry_point"):
        create({"game": "BlockBattle-v0"})
    with pytest.raises(ValueError, match="'game'"):
        create({"num_envs": 2})
    with pytest.raises(ValueError, match="multiple of 2"):
        create({"game": "BlockBattle-v0", "num_envs": 3, "opponents": None, "address": server.unix})
    for name, value in (("rows", "acting"), ("packed", True), ("mask", False), ("copy", False)):
        with pytest.raises(TypeError, match=f"{name}: cannot be set"):
            create({"game": "BlockBattle-v0", "num_envs": 2, "opponents": None, name: value})
    with (
        blockyard.make_vec("BlockBattle-v0", address=server.unix, autoreset_mode="SameStep") as env,
        pytest.raises(ValueError, match="NextStep"),
    ):
        MaskedVectorEnv(env)


def test_resumes_whatever_the_seed(server: Server, closing):
    how = {"game": "BlockBattle-v0", "num_envs": 4, "opponents": None, "address": server.unix}
    env = closing(create(how | {"seed": 1}))
    env.reset()
    env.step(env.env.sample_actions(np.random.default_rng(0)))
    data, seen = env.env.checkpoint(), env.observations(env.env.engine.batch.shown()[0])
    twin = closing(create(how | {"checkpoint": data}))
    np.testing.assert_array_equal(twin.reset(seed=7)[0]["observations"], seen["observations"])
