"""The last observations of games that ended: more of them than fit into one message."""

from __future__ import annotations

from typing import Any

import numpy as np
from conftest import Server

import blockyard

GAMES = 4096
OPTIONS: dict[str, Any] = {
    "seats": 4, "opponents": None, "max_episode_steps": 1, "illegal": "random", "seed": 3, "autoreset_mode": "SameStep",
}  # fmt: skip


# A step of these ends some of the games.
SHORT: dict[str, Any] = {"opponents": "random", "illegal": "random", "seed": 3, "autoreset_mode": "SameStep"}


def all_end(env: blockyard.BlockVectorEnv) -> Any:
    """Let all games end in one step; return the last observations of all rows."""
    env.reset()
    return env.step(np.zeros(env.num_envs, np.int64))[-1]["final_obs"]


def test_more_than_fits_into_one_message(server: Server):
    """4,096 games with boards as observations: over TCP, over shared memory and over two servers."""
    finals = []
    for address in server.tcp, server.unix, [server.tcp, server.unix]:
        with blockyard.make_vec("Blocking-v0", GAMES, address=address, **OPTIONS) as env:
            last = all_end(env)
            final = env.final()
        finals.append(final)
        np.testing.assert_array_equal(final.games, np.arange(GAMES))
        np.testing.assert_array_equal(np.stack([obs["planes"] for obs in last]), final.planes)
        np.testing.assert_array_equal(final.planes, finals[0].planes)
        np.testing.assert_array_equal(final.mask, finals[0].mask)
    assert finals[0].planes.nbytes + finals[0].mask.nbytes > 2 * (16 << 20)


def play(env: blockyard.BlockVectorEnv, steps: int) -> list[Any]:
    """Play action 0 and return what a step that ends games says about them."""
    env.reset()
    out = []
    for _ in range(steps):
        *_, infos = env.step(np.zeros(env.num_envs, np.int64))
        if "final_obs" in infos:
            planes = [last["planes"] for last in infos["final_obs"] if last]
            out.append((infos["_final_obs"], planes, infos["final_info"]["score"]))
    return out


def test_interrupted_before_the_last_observations_are_read(server: Server, monkeypatch):
    """The next step skips those of the step before."""
    with blockyard.make_vec("WinTetris-v0", 64, address=server.tcp, **SHORT) as env:
        expected = play(env, 60)
        plain, left = type(env.engine.batch)._add_final, iter(range(1000))

        def interrupted(self: Any, *args: Any) -> Any:
            if next(left) % 2 == 0:
                raise KeyboardInterrupt
            return plain(self, *args)

        monkeypatch.setattr(type(env.engine.batch), "_add_final", interrupted)
        env.reset(seed=SHORT["seed"])
        read, ends = [], 0
        for _ in range(60):
            try:
                *_, infos = env.step(np.zeros(env.num_envs, np.int64))
            except KeyboardInterrupt:
                ends += 1
                continue
            if "final_obs" in infos:
                ends += 1
                read.append((infos["_final_obs"], infos["final_info"]["score"]))
        assert ends == len(expected) > 4
        assert len(read) == len(expected) // 2
        for (rows, score), (same_rows, _, same_score) in zip(read, expected[1::2], strict=False):
            np.testing.assert_array_equal(rows, same_rows)
            np.testing.assert_array_equal(score, same_score)


def test_two_environments_on_one_connection(server: Server):
    """The last observations of one arrive while the other one waits for its step."""
    with blockyard.connect(server.tcp) as client:
        a, b = (client.make_vec("WinTetris-v0", 64, **SHORT) for _ in range(2))
        expected = play(a, 60)
        assert len(expected) > 4
        a.reset(seed=SHORT["seed"])
        b.reset(seed=SHORT["seed"])
        zeros, got = np.zeros(64, np.int64), []
        for _ in range(60):
            a.step_async(zeros)
            b.step_async(zeros)
            last = [env.step_wait()[-1] for env in (b, a)]
            if "final_obs" in last[0]:
                got.append(last)
        assert len(got) == len(expected)
        for infos, (rows, planes, score) in zip(got, expected, strict=True):
            for one in infos:
                np.testing.assert_array_equal(one["_final_obs"], rows)
                np.testing.assert_array_equal([o["planes"] for o in one["final_obs"] if o], planes)
                np.testing.assert_array_equal(one["final_info"]["score"], score)


def test_last_observations_outlive_the_step(server: Server):
    """They are made when they are read, which may be after other steps have reused the arrays."""
    for address in server.tcp, server.unix:
        with blockyard.make_vec("WinTetris-v0", 64, address=address, **SHORT) as env:
            expected = play(env, 60)
            env.reset(seed=SHORT["seed"])
            kept, buffer = [], env.buffer(2)
            for t in range(60):
                *_, infos = env.step(np.zeros(64, np.int64), out=buffer[t % 2])
                if "final_obs" in infos:
                    kept.append(infos)
            for infos, (rows, planes, score) in zip(kept, expected, strict=True):
                np.testing.assert_array_equal(infos["_final_obs"], rows)
                np.testing.assert_array_equal([o["planes"] for o in infos["final_obs"] if o], planes)
                np.testing.assert_array_equal(infos["final_info"]["score"], score)
