"""Our games through this package, over shared memory, over a socket and in this process.

``shm``, ``socket`` and ``inproc`` call ``env.step(actions)``. With ``, single`` that is the ``step`` of a single
environment against a random opponent; ``, into`` is ``env.step_into(buffer)``. With ``, buffer`` every result goes into
a rollout buffer, ``env.step(actions, out=buffer[t])``. With ``, two blocks`` stepping is double-buffered: one half of
the games is stepped while the answer of the other half is read.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

import blockyard
from blockyard.transport.server import LocalServer, find_library

from ..stepper import Stepper

TRACE = 64  # recorded steps; enough that games end and are reset
ROOM = 4  # steps in a rollout buffer; enough that it does not stay in the cache

Actions = NDArray[np.uint16]


@functools.cache
def server() -> LocalServer:
    """Return the server of all games of this process."""
    return LocalServer()


def place(transport: str) -> str | None:
    """Return the address of the server for a transport; None for the library, which is built if there is none."""
    if transport != "inproc":
        return server().address
    find_library(build=True)
    return None


@functools.cache
def trace(game: str, envs: int, seed: int) -> list[Actions]:
    """Record random legal actions of every seat in the first TRACE steps after a reset with this seed."""
    rng = np.random.default_rng(seed)
    with blockyard.make_vec(game, envs, address=server().address, seed=seed, opponents=None) as env:
        env.reset()
        moves = []
        for _ in range(TRACE):
            moves.append(env.sample_actions(rng).astype(np.uint16))
            env.step(moves[-1])
        return moves


class Synchronous(Stepper):
    """One vector environment that plays the trace again and again; resets are not timed."""

    def __init__(self, road: Any, game: str, envs: int, seed: int) -> None:
        super().__init__()
        self.moves, self.seed, self.at = trace(game, envs, seed), seed, TRACE
        transport: Any
        transport, _, extra = road.partition(", ")
        self.env = blockyard.make_vec(
            game, envs, address=place(transport), seed=seed, opponents=None, transport=transport
        )
        self.buffer = self.env.buffer(ROOM) if extra in ("buffer", "into") else None
        self.into = extra == "into"
        self.envs, self.rows, self.size = envs, self.env.num_envs, self.env.engine.transport.handle.slab_len
        self.others = [] if transport == "inproc" else [server().process.pid]
        self.about = {"blockyard": blockyard.__version__, "seats": self.env.rows_per_game}

    def prepare(self, want: int) -> int:
        if self.at == TRACE:
            self.env.reset(seed=self.seed)
            self.at = 0
        return min(want, TRACE - self.at)

    def play(self, steps: int) -> None:
        step, moves, buffer = self.env.step, self.moves, self.buffer
        if self.into and buffer is not None:
            for t in range(self.at, self.at + steps):
                buffer.actions[0] = moves[t]
                self.env.step_into(buffer)
            self.at += steps
            return
        for t in range(self.at, self.at + steps):
            step(moves[t], out=None if buffer is None else buffer[t % ROOM])
        self.at += steps

    def close(self) -> None:
        self.env.close()


class Single(Stepper):
    """A single environment, whose opponents the server plays, and its own trace of random legal actions."""

    def __init__(self, road: Any, game: str, envs: int, seed: int) -> None:
        super().__init__()
        transport: Any = road.partition(", ")[0]
        self.env = blockyard.make(game, address=place(transport), seed=seed, transport=transport, illegal="random")
        self.seed, self.at, self.moves = seed, TRACE, list[int]()
        self.envs = self.rows = 1
        self.size = self.env.vector.engine.transport.handle.slab_len
        self.others = [] if transport == "inproc" else [server().process.pid]
        self.about = {"blockyard": blockyard.__version__}
        rng, (_, infos) = np.random.default_rng(seed), self.env.reset(seed=seed)
        while len(self.moves) < TRACE:
            self.moves.append(int(rng.choice(np.flatnonzero(infos["action_mask"]))))
            *_, terminated, truncated, infos = self.env.step(self.moves[-1])
            if terminated or truncated:
                break

    def prepare(self, want: int) -> int:
        if self.at >= len(self.moves):
            self.env.reset(seed=self.seed)
            self.at = 0
        return min(want, len(self.moves) - self.at)

    def play(self, steps: int) -> None:
        step = self.env.step
        for action in self.moves[self.at : self.at + steps]:
            step(action)
        self.at += steps

    def close(self) -> None:
        self.env.close()


class DoubleBuffered(Stepper):
    """Two blocks of games: the server steps one while the client reads the answer of the other."""

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
        self.size = sum(env.engine.transport.handle.slab_len for env in self.parts)
        self.others = [server().process.pid]
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
    """Open games over one transport; options are game, envs, seed and threads."""
    os.environ["GOMAXPROCS"] = str(options["threads"])  # for the server that is started
    road, _, extra = name.partition(", ")
    kinds: dict[str, Any] = {"two blocks": DoubleBuffered, "single": Single}
    kind = kinds.get(extra, Synchronous)
    return kind(road if extra == "two blocks" else name, options["game"], options["envs"], options["seed"])
