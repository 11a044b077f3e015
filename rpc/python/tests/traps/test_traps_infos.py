"""What is written to infos is read, and values that choose nothing are refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from conftest import GAME, Server, begun

import blockyard
from blockyard.pettingzoo import parallel_env


def test_what_is_written_to_infos_is_read(server: Server):
    with blockyard.make_vec(GAME, 2, address=server.unix, seed=1, max_episode_steps=2) as env:
        mine = np.zeros((2, env.game_spec.actions), np.int8)
        rng = np.random.default_rng(0)

        def infos():
            env.reset()
            env.step(env.sample_actions(rng))
            return env.step(env.sample_actions(rng))[4]

        for write in (
            lambda i: i.update(action_mask=mine),
            lambda i: i.update({"action_mask": mine}),
            lambda i: i.update([("action_mask", mine)]),
            lambda i: i.__ior__({"action_mask": mine}),
            lambda i: i.__setitem__("action_mask", mine),
        ):
            for got in ((i := infos()), i["final_info"], copy.copy(infos())):
                write(got)
                assert got["action_mask"] is mine
                assert dict(got)["action_mask"] is mine
                assert pickle.loads(pickle.dumps(got))["action_mask"].sum() == 0
        got = infos()
        got |= {"final_obs": "mine"}
        assert got["final_obs"] == "mine"
        last = (got := infos())["final_obs"][1]
        last.update(planes="mine")
        last |= {"globals": "mine"}
        assert got["final_obs"][1] == {"planes": "mine", "globals": "mine"}
        del got["action_mask"]
        got["final_info"].pop("action_mask")
        assert "action_mask" not in got.keys() | got["final_info"].keys()
        got["final_info"].clear()
        assert not got["final_info"]
        assert type(got) is type(infos())
        assert infos().setdefault("action_mask", mine).sum() > 0
        assert infos()["final_info"].setdefault("action_mask").sum() > 0
        got = infos()
        assert all(value is not None for _, value in (got.popitem() for _ in range(len(got))))
        got = infos()
        got.clear()
        assert not got
        assert got.setdefault("action_mask", mine) is mine


def test_values_that_choose_nothing(server: Server):
    with begun(GAME, 2, address=server.unix) as env:
        found = blockyard.features(env)
        values = np.zeros(len(found), np.float32)
        assert env.action_masks[[0, 1], found.actions[found.best(values)]].all()
        with pytest.raises(ValueError, match="shape"):
            found.best(values[:, None])
        values[3] = np.nan
        with pytest.raises(ValueError, match="entry 3 is nan"):
            found.best(values)


def test_masks_are_bool_everywhere(server: Server, closing):
    """So that ``masked_fill(~mask, -inf)`` and ``np.where(~mask, -inf, logits)`` leave the legal actions."""
    seen = []
    with blockyard.make_vec("WinTetris-v0", 3, address=server.unix, seed=1, max_episode_steps=1) as env:
        for infos in (env.reset()[1], env.step([0] * 3)[4]):
            seen += [infos["action_mask"], *([infos["final_info"]["action_mask"]] if "final_info" in infos else [])]
        seen.append(env.action_masks)
    with blockyard.make("WinTetris-v0", address=server.unix, seed=1) as env:
        seen += [env.reset()[1]["action_mask"], env.step(0)[4]["action_mask"], env.action_masks()]
        assert env.action_space.contains(env.action_space.sample(mask=seen[-1]))
    with blockyard.BlockPool("WinTetris-v0", 2, 2, address=server.unix) as pool:
        pool.async_reset()
        batch = pool.recv()
        seen += [batch.action_masks, batch.infos["action_mask"]]
    for observation in ("flat", "masked"):
        zoo = closing(parallel_env(GAME, observation=observation, address=server.unix))
        obs, infos = zoo.reset(seed=1)
        seen += [info["action_mask"] for info in infos.values()]
        seen += [one["action_mask"] for one in obs.values() if observation == "masked"]
    for mask in seen:
        assert mask.dtype == np.bool_
        assert 0 < np.count_nonzero(~mask) < mask.size
