"""Our games through this package: over shared memory and over a socket, in one piece and in two.

Names are those of the roads: ``shm`` and ``socket`` are the plain ``env.step(actions)``; with ``, buffer`` every
answer goes into a rollout buffer, ``env.step(actions, out=buffer[t])``; with ``, halves`` one half of the games is
stepped while the other half's answer is read.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blockyard
from blockyard.server.process import LocalServer

from ..stepper import Stepper

TRACE = 64  # steps that are recorded; long enough that random play loses games, which start again
ROOM = 4  # steps in a rollout buffer: enough that none is in the cache by right

Actions = NDArray[np.uint16]


@functools.cache
def server() -> LocalServer:
    """The server that all games of this process are played on."""
    return LocalServer()


@functools.cache
def trace(game: str, envs: int, seed: int) -> list[Actions]:
    """Record legal actions of every seat, TRACE steps from the reset with this seed on."""
    rng = np.random.default_rng(seed)
    with blockyard.make_vec(game, envs, address=server().address, seed=seed, opponents=None) as env:
        env.reset()
        moves = []
        for _ in range(TRACE):
            moves.append(env.sample_actions(rng).astype(np.uint16))
            env.step(moves[-1])
        return moves


class Lockstep(Stepper):
    """One vector environment that plays the trace over and over; resets between are not timed."""

    def __init__(self, road: Any, game: str, envs: int, seed: int) -> None:
        super().__init__()
        self.moves, self.seed, self.at = trace(game, envs, seed), seed, TRACE
        transport: Any
        transport, _, extra = road.partition(", ")
        self.env = blockyard.make_vec(
            game, envs, address=server().address, seed=seed, opponents=None, transport=transport
        )
        self.buffer = self.env.buffer(ROOM) if extra == "buffer" else None
        self.envs, self.rows, self.size = envs, self.env.num_envs, self.env._handle.slab_len
        self.others = [server().pid]
        self.about = {"blockyard": blockyard.__version__, "seats": self.env.rows_per_game}

    def prepare(self, want: int) -> int:
        if self.at == TRACE:
            self.env.reset(seed=self.seed)
            self.at = 0
        return min(want, TRACE - self.at)

    def play(self, steps: int) -> None:
        step, moves, buffer = self.env.step, self.moves, self.buffer
        for t in range(self.at, self.at + steps):
            step(moves[t], out=None if buffer is None else buffer[t % ROOM])
        self.at += steps

    def close(self) -> None:
        self.env.close()


class Halves(Stepper):
    """Two halves that take turns, so that the server plays one while we read the other's answer."""

    def __init__(self, road: Any, game: str, envs: int, seed: int) -> None:
        super().__init__()
        whole, half = trace(game, envs, seed), envs // 2
        self.parts: list[blockyard.BlockVectorEnv] = []
        for k, size in enumerate((half, envs - half)):
            self.parts.append(
                blockyard.BlockVectorEnv(
                    game, size, address=server().address, seed=seed + k * half, opponents=None, transport=road
                )
            )
        self.buffers = [env.buffer(ROOM) for env in self.parts]
        cut = self.parts[0].num_envs
        self.moves = [[m[:cut].copy(), m[cut:].copy()] for m in whole]
        self.seeds, self.at = (seed, seed + half), TRACE
        self.envs, self.rows = envs, sum(env.num_envs for env in self.parts)
        self.size = sum(env._handle.slab_len for env in self.parts)
        self.others = [server().pid]
        self.about = {"blockyard": blockyard.__version__, "seats": self.parts[0].rows_per_game}

    def prepare(self, want: int) -> int:
        if self.at == TRACE:
            for env, seed in zip(self.parts, self.seeds, strict=True):
                env.reset(seed=seed)
            self.at = 0
        return min(want, TRACE - self.at)

    def play(self, steps: int) -> None:
        (a, b), (to_a, to_b) = self.parts, self.buffers
        for t in range(self.at, self.at + steps):
            if t > self.at:
                a.step_wait()
            a.step_async(self.moves[t][0], out=to_a[t % ROOM])
            if t > self.at:
                b.step_wait()
            b.step_async(self.moves[t][1], out=to_b[t % ROOM])
        a.step_wait()
        b.step_wait()
        self.at += steps

    def close(self) -> None:
        for env in self.parts:
            env.close()


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games on one road: options are game, envs, seed and threads."""
    os.environ["GOMAXPROCS"] = str(options["threads"])  # of the server, when it is started
    road, _, extra = name.partition(", ")
    kind: type[Lockstep] | type[Halves] = Halves if extra == "halves" else Lockstep
    return kind(road if extra == "halves" else name, options["game"], options["envs"], options["seed"])
