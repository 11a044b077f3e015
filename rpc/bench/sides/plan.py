"""The entrants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .race import Entrant

ENV_IDS = ("BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0")
SOLO = "WinTetris-v0"  # Tetris with one seat and one piece per step, which is compared with the peers' Tetrises
KEYS = "WinTetrisTick-v0"  # the same with one key per step

# Bytes before the actions of a step, and before its answer, on the socket.
ASK_HEAD, ANSWER_HEAD = 23, 13
# A single environment, and the step that neither checks nor returns anything.
SINGLE = ("inproc, single", "socket, single", "inproc, into")
NULL_SIZES = (1, 64, 1024, 4096, 16384)


@dataclass(frozen=True)
class Peer:
    """Another library that is measured.

    Attributes:
        side: the worker that steps it.
        adapter: its module in ``adapters``.
        pinned: the packages that pip installs.
        build: a program here that installs the rest, and its arguments; empty if there is none.
    """

    side: str
    adapter: str
    pinned: tuple[str, ...]
    build: tuple[str, ...] = ()


PEERS = (
    Peer("envpool", "envpool_side", ("envpool==1.2.5", "gymnasium==1.4.0", "numpy==2.4.6")),
    Peer(
        "pufferlib",
        "puffer_side",
        ("numpy==1.26.4", "gymnasium==0.29.1", "gym==0.23.1", "setuptools==80.9.0", "wheel==0.48.0", "Cython==3.3.1"),
        ("puffer_build.py", "3.0.0"),
    ),
    Peer("jumanji", "jumanji_side", ("jumanji==1.1.2", "jax==0.10.2")),
    Peer("tetris-gymnasium", "gym", ("tetris-gymnasium==0.3.1", "gymnasium==1.4.0")),
    Peer("openspiel", "openspiel_side", ("open-spiel==2.0.2", "numpy==2.4.6")),
)


def ours(sizes: Sequence[int], games: Sequence[str], threads: int, seed: int) -> list[Entrant]:
    """Return our games over every transport, and in process."""
    all_of_them, top = [], max(sizes)

    def add(game: str, n: int, road: str, side: str = "ours") -> None:
        options = {"game": game, "envs": n, "seed": seed, "threads": threads}
        if side == "inprocess":
            options["autoreset"] = "SameStep"  # the client's default
        label, group = f"{game}, {road}", "games" if road in ("inproc", "shm", "socket") else "roads"
        trips = n == 1 and side == "ours"
        all_of_them.append(Entrant(key(game, road, n), group, label, side, road, options, trips))

    for game in games:
        for n in sizes:
            for road in ("inproc", "shm", "socket"):
                add(game, n, road)
            add(game, n, "in process", "inprocess")
        for road in SINGLE if 1 in sizes else ():
            add(game, 1, road)
        for road in ("inproc, buffer", "shm, buffer", "socket, buffer", "shm, two blocks", "socket, two blocks"):
            if "two blocks" not in road or top > 1:
                add(game, top, road)
    if SOLO in games:
        add(KEYS, top, "shm")
    return all_of_them


def key(what: str, road: str, n: int) -> str:
    """Return the name of an entrant."""
    return f"{what} | {road} | {n}"


def floors(sizes: Sequence[int], games: Sequence[str], threads: int) -> list[Entrant]:
    """Return the limits of the machine: a bare socket and a copy of as many bytes as a game has, and a null game.

    The game is the first one; the others have bare sockets with the bytes of one environment and of the most.
    ``like`` in their options names the entrant whose message lengths ``with_lengths`` copies.
    """
    made = []
    for n in sizes:
        for name, game in [
            ("memcpy", games[0]),
            *(("socket", game) for game in (games if n in (1, max(sizes)) else games[:1])),
        ]:
            label = {"socket": "bare socket", "memcpy": "memcpy"}[name]
            options = {"envs": n, "threads": threads, "like": key(game, "socket", n)}
            made.append(
                Entrant(key(game, label, n), "floors", f"{label}, bytes of {game}", "floors", name, options, n == 1)
            )
        if n not in NULL_SIZES:
            continue
        for name in ("null, socket", "null, shm"):
            options = {"envs": n, "threads": threads}
            made.append(
                Entrant(
                    key("null", name, n), "floors", name.replace("null", "null game"), "floors", name, options, n == 1
                )
            )
        options = {"envs": n, "threads": threads, "like": key("null", "null, socket", n)}
        label = "bare socket, bytes of the null game"
        made.append(Entrant(key("null", "bare socket", n), "floors", label, "floors", "socket", options))
    return made


def with_lengths(e: Entrant, by_key: dict[str, Entrant]) -> dict[str, Any]:
    """Return the options of a floor, with the message lengths of the entrant that it is like."""
    like = by_key[e.options["like"]]
    lengths = {"ask": ASK_HEAD + 2 * like.rows, "answer": ANSWER_HEAD + like.size}
    return {k: v for k, v in e.options.items() if k != "like"} | lengths


def gymnasium(threads: int, seed: int, few: int, many: int) -> list[Entrant]:
    """Return Gymnasium's vector environments of our single environment."""
    options = {"game": SOLO, "seed": seed, "threads": threads}
    return [
        Entrant(
            key(f"gym {kind}", SOLO, n), "gymnasium", f"{label} of {SOLO}", "gym", f"{kind} ours", options | {"envs": n}
        )
        for kind, label, n in (
            ("sync", "SyncVectorEnv", few),
            ("sync", "SyncVectorEnv", many),
            ("async", "AsyncVectorEnv", few),
        )
    ]


def peers(sizes: Sequence[int], threads: int, few: int) -> list[Entrant]:
    """Return the other libraries, at the sizes that they are made for."""
    many = [n for n in sizes if n > 1] or list(sizes)
    made = []

    def add(side: str, name: str, label: str, some: Sequence[int]) -> None:
        for n in some:
            made.append(Entrant(key(side, name, n), "peers", label, side, name, {"envs": n, "threads": threads}))

    add("envpool", "tetris", "EnvPool Jumanji/Tetris-v0", sizes)
    add("envpool", "cartpole", "EnvPool CartPole-v1", many[-1:])
    add("envpool", "cartpole, async", "EnvPool CartPole-v1, asynchronous", many[-1:])
    add("pufferlib", "keys", "PufferLib Tetris (one key per step)", sizes)
    add("jumanji", "step", "Jumanji Tetris-v0, jit", many[-2:])
    add("jumanji", "scan", "Jumanji Tetris-v0, jit, 32 steps in one scan", many[-2:])
    add("tetris-gymnasium", "sync tetris", "tetris-gymnasium in SyncVectorEnv (one key per step)", [few])
    add("tetris-gymnasium", "async tetris", "tetris-gymnasium in AsyncVectorEnv (one key per step)", [few])
    add("openspiel", "vector", "OpenSpiel Othello in its SyncVectorEnv", many[:1])
    add("openspiel", "states", "OpenSpiel Othello, bare loop over states", many[:1])
    return made
