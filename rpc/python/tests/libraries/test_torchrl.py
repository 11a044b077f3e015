"""The adapter to TorchRL, with TorchRL's checks, transforms, collector and losses."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import torch
from conftest import Server
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, GymEnv, TransformedEnv, check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import blockyard
from blockyard.torchrl import BlockEnv


@pytest.fixture(params=blockyard.ENV_IDS)
def game(request: pytest.FixtureRequest) -> str:
    return request.param


def test_specs(server: Server, game, closing):
    env = closing(TransformedEnv(BlockEnv(game, 3, address=server.unix, seed=1), ActionMask()))
    check_env_specs(env)


@pytest.mark.parametrize("make", [GymEnv, partial(BlockEnv, num_envs=3), partial(BlockEnv, num_envs=3, opponents=None)])
def test_a_strangers_checks(server: Server, game, make):
    """With default arguments, without a warning: TorchRL's checks, and random actions that know no masks."""
    name = f"blockyard/{game}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make(name, address=server.unix)
        check_env_specs(env)
        played = env.rollout(100, break_when_any_done=False)
        assert played.shape == (*env.batch_size, 100)
        env.close(raise_if_closed=False)


@pytest.mark.parametrize("actions", ["afterstates", "afterstate_planes"])
def test_afterstates(server: Server, actions, closing):
    """Each row chooses among candidates, as in the vector environment; TorchRL's checks pass."""
    how = {"address": server.unix, "actions": actions, "candidates": 9}
    env = closing(TransformedEnv(BlockEnv("BlockBattle-v0", 3, seed=1, **how), ActionMask()))
    check_env_specs(env)
    seen = env.rollout(20, break_when_any_done=False)
    assert seen["action_mask"].shape == (3, 20, 9)
    assert seen["action_mask"].gather(2, seen["action"][..., None]).all()
    env = closing(BlockEnv("BlockBattle-v0", 3, seed=1, **how))
    with blockyard.make_vec("BlockBattle-v0", 3, seed=1, autoreset_mode="Disabled", **how) as rows:
        first, want = env.reset(), rows.reset()[0]
        for key in want.keys() - {"mask"}:
            name = f"candidate_{key}" if key in ("reward", "done") else key
            np.testing.assert_array_equal(first[name].numpy(), want[key])


def test_rows_that_wait(server: Server, closing):
    """Their mask has one action, and they receive their seat's rewards."""
    env = closing(
        TransformedEnv(BlockEnv("TetrisDuel-v0", 8, address=server.unix, seed=1, opponents=None), ActionMask())
    )
    played = env.rollout(200, break_when_any_done=False)
    acting = played["acting"][..., 0]
    np.testing.assert_array_equal(acting[::2], ~acting[1::2])
    assert (played["action_mask"][~acting].sum(-1) == 1).all()
    assert not played["action"][~acting].any()
    rewards = played["next", "reward"][..., 0]
    assert (rewards == 1).sum() == (rewards == -1).sum() > 8


def test_who_is_the_opponent(server: Server, closing):
    """Of each row in its episode, as in the vector environment; drawn anew with each episode."""
    mixture = {"first": 1, "random": 1}
    env = closing(BlockEnv("BlockBattle-v0", 32, address=server.unix, seed=1, opponents=mixture, illegal="penalty"))
    played = env.rollout(100, break_when_any_done=False)
    assert env.env.opponent_specs == ("first", "random")
    assert played["opponent"].shape == (32, 100, 1)
    assert set(played["opponent"].unique().tolist()) == {0, 1}
    same = played["opponent"] == played["next", "opponent"]
    assert same.all()  # a step does not change the opponent: the reset does
    counted = played["opponent"][played["next", "terminated"]].bincount()
    stats = env.env.opponent_stats()
    assert counted.tolist() == [stats["first"].games, stats["random"].games]
    with_three = closing(
        BlockEnv("Blocking-v0", 2, address=server.unix, seed=1, seats=3, opponents={1: "first", 2: "random"})
    )
    assert with_three.reset()["opponent"].tolist() == [[0, 1]] * 2
    alone = closing(BlockEnv("BlockBattle-v0", 2, address=server.unix, opponents=None))
    assert "opponent" not in alone.reset()


def test_equals_the_vector_environment(server: Server, closing):
    """The same games with the same observations and rewards, each reset when it ends and not before."""
    how = {"address": server.unix, "max_episode_steps": 9}
    ours = closing(BlockEnv("BlockBattle-v0", 4, **how))
    theirs = closing(blockyard.make_vec("BlockBattle-v0", 4, autoreset_mode="Disabled", **how))
    ours.set_seed(5)
    state = ours.reset()
    obs, _ = theirs.reset(seed=5)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(60):
        np.testing.assert_array_equal(state["planes"], obs["planes"])
        np.testing.assert_array_equal(state["globals"], obs["globals"])
        np.testing.assert_array_equal(state["action_mask"], theirs.action_masks)
        state["action"] = torch.as_tensor(theirs.sample_actions(rng))
        before, state = ours.step_and_maybe_reset(state)
        obs, rewards, terminated, truncated, _ = theirs.step(before["action"].numpy())
        after = before["next"]
        np.testing.assert_array_equal(after["planes"], obs["planes"])
        np.testing.assert_array_equal(after["reward"][:, 0], rewards)
        np.testing.assert_array_equal(after["terminated"][:, 0], terminated)
        np.testing.assert_array_equal(after["truncated"][:, 0], truncated)
        done = terminated | truncated
        if done.any():
            ends += int(done.sum())
            obs, _ = theirs.reset(options={"reset_mask": done})
    assert ends >= 24


def test_rollout_plays_by_the_mask(server: Server, game, closing):
    env = closing(TransformedEnv(BlockEnv(game, 3, address=server.unix, seed=1, opponents=None), ActionMask()))
    played = env.rollout(30, break_when_any_done=False)
    assert played.batch_size == (env.batch_size[0], 30)
    chosen = played["action_mask"].gather(-1, played["action"][..., None])
    assert chosen.all()


def test_ppo_step(server: Server):
    """A collector, GAE and the clipped loss give finite gradients."""
    env = TransformedEnv(BlockEnv("BlockBattle-v0", 4, address=server.unix, max_episode_steps=10), ActionMask())
    facts = env.base_env.env.game_spec

    class Body(nn.Module):
        def __init__(self, outputs: int) -> None:
            super().__init__()
            inputs = int(np.prod(facts.planes_shape)) + len(facts.global_names)
            self.net = nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))

        def forward(self, planes, numbers):
            return self.net(torch.cat([planes.flatten(-3).float(), numbers], -1))

    actor = ProbabilisticActor(
        TensorDictModule(Body(facts.actions), in_keys=["planes", "globals"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        spec=env.action_spec,
        return_log_prob=True,
    )
    critic = ValueOperator(Body(1), in_keys=["planes", "globals"])
    collector = Collector(env, actor, frames_per_batch=80, total_frames=80)
    loss = ClipPPOLoss(actor, critic)
    for batch in collector:
        assert batch.batch_size == (4, 20)
        assert batch["next", "truncated"].sum() == 8
        GAE(gamma=0.99, lmbda=0.95, value_network=critic)(batch)
        losses = loss(batch.reshape(-1))
        total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
        total.backward()
    assert torch.isfinite(total)
    assert all(torch.isfinite(p.grad).all() for p in actor.parameters())
    collector.shutdown()


def test_refuses(server: Server):
    with pytest.raises(TypeError, match="autoreset_mode"):
        BlockEnv("BlockBattle-v0", address=server.unix, autoreset_mode="SameStep")
    for name, value in (("rows", "acting"), ("packed", True), ("mask", False), ("copy", False)):
        with pytest.raises(TypeError, match=f"{name}: cannot be set"):
            BlockEnv("BlockBattle-v0", address=server.unix, opponents=None, **{name: value})


def test_resumes_whatever_the_seed(server: Server, closing):
    env = closing(BlockEnv("BlockBattle-v0", 2, address=server.unix, seed=1))
    env.rollout(3, break_when_any_done=False)
    data, planes = env.env.checkpoint(), env.env.engine.batch.current.planes.copy()
    twin = closing(BlockEnv("BlockBattle-v0", 2, address=server.unix, checkpoint=data))
    twin.set_seed(5)
    assert (twin.reset()["planes"].numpy() == planes).all()
