"""Our games through this package, over every transport.

``shm``, ``socket``, ``tcp`` and ``inproc`` call ``env.step(actions)``. With ``, single`` that is the ``step`` of a
single environment against a random opponent; ``, into`` is ``env.step_into(buffer)``; ``, packed`` has planes of bits.
With ``, buffer`` every result goes into a rollout buffer, ``env.step(actions, out=buffer[t])``. With ``, two blocks``
stepping is double-buffered: one half of the games is stepped while the answer of the other half is read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import blockyard
from blockyard.transport.server import find_library

from ..servers import Server, ours
from ..stepper import Stepper

TRACE = 64  # recorded steps; enough that games end and are reset
ROOM = 4  # steps in a rollout buffer; enough that it does not stay in the cache


@functools.cache
def server() -> Server:
    """Return the server of all games of this process."""
    return ours("--listen=tcp:127.0.0.1:0")


def place(transport: str) -> dict[str, Any]:
    """Return the arguments of an environment for a transport; the library is built if there is none."""
    if transport == "inproc":
        find_library(build=True)
        return {"transport": transport}
    unix, tcp = server().said["ready"]
    return {"address": tcp} if transport == "tcp" else {"address": unix, "transport": transport}


def record(env: Any, seed: int, steps: int = TRACE) -> list[Any]:
    """Return the random legal actions of the first steps after a reset; those of a single environment to its end."""
    rng, moves, vector = np.random.default_rng(seed), list[Any](), getattr(env, "vector", env)
    env.reset(seed=seed)
    for _ in range(steps):
        actions = vector.sample_actions(rng).astype(np.uint16)
        moves.append(actions if vector is env else int(actions[0]))
        _, _, terminated, truncated, _ = env.step(moves[-1])
        if vector is not env and (terminated or truncated):
            break
    return moves


def plain(env: Any, moves: list[Any]) -> None:
    """Step with each of the moves."""
    step = env.step
    for move in moves:
        step(move)


def buffered(env: Any) -> Callable[[Any, list[Any]], None]:
    """Return what steps into a rollout buffer."""
    buffer = env.buffer(ROOM)

    def play(env: Any, moves: list[Any]) -> None:
        step = env.step
        for t, move in enumerate(moves):
            step(move, out=buffer[t % ROOM])

    return play


def into(env: Any) -> Callable[[Any, list[Any]], None]:
    """Return what steps with actions in a buffer, and returns nothing."""
    buffer = env.buffer(ROOM)

    def play(env: Any, moves: list[Any]) -> None:
        step, actions = env.step_into, buffer.actions
        for move in moves:
            actions[0] = move
            step(buffer)

    return play


class Games(Stepper):
    """An environment that plays its own trace again and again; resets are not timed."""

    def __init__(self, env: Any, others: list[int], play: Any = plain, seed: int = 1, steps: int = TRACE) -> None:
        vector = getattr(env, "vector", env)
        size, about = vector.engine.transport.handle.slab_len, {"blockyard": blockyard.__version__}
        super().__init__(vector.num_games, size, about, others, vector.num_envs)
        self.env, self.loop, self.seed, self.moves = env, play, seed, record(env, seed, steps)
        self.at = len(self.moves)

    def prepare(self, want: int) -> int:
        if self.at >= len(self.moves):
            self.env.reset(seed=self.seed)
            self.at = 0
        return min(want, len(self.moves) - self.at)

    def play(self, steps: int) -> None:
        begin, self.at = self.at, self.at + steps
        self.loop(self.env, self.moves[begin : self.at])


class Halves(Stepper):
    """Two blocks of games: the server steps one while the client reads the answer of the other."""

    def __init__(self, halves: list[Games]) -> None:
        self.halves = halves
        envs, size, rows = (sum(getattr(half, of) for half in halves) for of in ("envs", "size", "rows"))
        super().__init__(envs, size, halves[0].about, halves[0].others, rows)
        self.buffers = [half.env.buffer(ROOM) for half in halves]

    def prepare(self, want: int) -> int:
        return min(half.prepare(want) for half in self.halves)

    def play(self, steps: int) -> None:
        blocks = [(half.env, half.moves, buffer) for half, buffer in zip(self.halves, self.buffers, strict=True)]
        begin = self.halves[0].at
        for t in range(begin, begin + steps):
            for env, moves, buffer in blocks:
                if t > begin:
                    env.step_wait()
                env.step_async(moves[t], out=buffer[t % ROOM])
        for half in self.halves:
            half.env.step_wait()
            half.at += steps

    def close(self) -> None:
        for half in self.halves:
            half.close()


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games over one transport; options are game and envs."""
    transport, _, extra = name.partition(", ")
    game, envs = options["game"], options["envs"]
    where, others = place(transport), [] if transport == "inproc" else [server().pid]
    if extra == "single":
        return Games(blockyard.make(game, seed=1, illegal="random", **where), others)
    if extra == "two blocks":
        half = envs // 2
        parts = [(half, 1), (envs - half, 1 + half)]
        made = [blockyard.BlockVectorEnv(game, n, seed=seed, opponents=None, **where) for n, seed in parts]
        return Halves([Games(env, others, seed=seed) for env, (_, seed) in zip(made, parts, strict=True)])
    if extra == "packed":
        where["packed"] = True
    env = blockyard.make_vec(game, envs, seed=1, opponents=None, **where)
    loops: dict[str, Any] = {"buffer": buffered, "into": into}
    return Games(env, others, loops[extra](env) if extra in loops else plain)
