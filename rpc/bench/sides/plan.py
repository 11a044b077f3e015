"""The entrants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .race import Entrant

ENV_IDS = ("BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0")
SOLO = "WinTetris-v0"  # Tetris with one seat and one piece per step, which is compared with the peers' Tetrises
KEYS = "WinTetrisTick-v0"  # the same with one key per step

# Bytes before the actions of a step, and before its answer, on the socket.
ASK_HEAD, ANSWER_HEAD = 23, 13
# How a game is stepped: at every size; one game, by a single environment or by the step that neither checks nor returns
# anything; the most games.
ROADS = ("inproc", "shm", "socket")
SINGLE = ("inproc, single", "socket, single", "inproc, into")
TOP = ("inproc, buffer", "shm, buffer", "socket, buffer", "shm, packed", "socket, packed", "tcp")
BLOCKS = ("shm, two blocks", "socket, two blocks")
NULL_SIZES = (1, 64, 1024, 4096, 16384)  # of the null games that servers have
FEW, MANY = 16, 64  # numbers of environments where opening or stepping is slow


def key(what: str, road: str, n: int) -> str:
    """Return the name of an entrant."""
    return f"{what} | {road} | {n}"


def ours(sizes: Sequence[int], games: Sequence[str]) -> list[Entrant]:
    """Return our games over every transport, and in process."""
    made, top = [], max(sizes)

    def add(game: str, n: int, road: str, side: str = "ours") -> None:
        group, options = "games" if road in ROADS else "roads", {"game": game, "envs": n}
        trips = n == 1 and side == "ours"
        made.append(Entrant(key(game, road, n), group, f"{game}, {road}", side, road, options, trips))

    for game in games:
        for n in sizes:
            for road in ROADS:
                add(game, n, road)
            add(game, n, "in process", "inprocess")
        for road in SINGLE if 1 in sizes else ():
            add(game, 1, road)
        for road in TOP + (BLOCKS if top > 1 else ()):
            add(game, top, road)
    if SOLO in games:
        add(KEYS, top, "shm")
    return made


def floors(sizes: Sequence[int], games: Sequence[str]) -> list[Entrant]:
    """Return the limits of the machine: a bare socket with as many bytes as a game has, and a null game.

    The game is the first one; the others have bare sockets with the bytes of one environment and of the most.
    ``like`` in their options names the entrant whose message lengths ``with_lengths`` copies.
    """
    made = []

    def add(what: str, road: str, n: int, label: str, name: str, like: str = "", trips: bool = True) -> None:
        options = {"envs": n} | ({"like": key(what, like, n)} if like else {})
        made.append(Entrant(key(what, road, n), "floors", label, "floors", name, options, trips and n == 1))

    for n in sizes:
        for game in games if n in (1, max(sizes)) else games[:1]:
            add(game, "bare socket", n, f"bare socket, bytes of {game}", "socket", "socket")
        for road in ("socket", "shm") if n in NULL_SIZES else ():
            add("null", f"null, {road}", n, f"null game, {road}", f"null, {road}")
        if n in NULL_SIZES:
            add("null", "bare socket", n, "bare socket, bytes of the null game", "socket", "null, socket", trips=False)
    return made


def with_lengths(e: Entrant, by_key: dict[str, Entrant]) -> dict[str, Any]:
    """Return the options of an entrant; a floor's with the message lengths of the entrant that it is like."""
    if "like" not in e.options:
        return e.options
    like = by_key[e.options["like"]]
    return {"envs": e.options["envs"], "ask": ASK_HEAD + 2 * like.rows, "answer": ANSWER_HEAD + like.size}


def gymnasium() -> list[Entrant]:
    """Return Gymnasium's vector environments of our single environment."""
    made = []
    for kind, n in (("Sync", FEW), ("Sync", MANY), ("Async", FEW)):
        name, label = f"{kind.lower()} ours", f"{kind}VectorEnv of {SOLO}"
        made.append(Entrant(key(name, SOLO, n), "gymnasium", label, "gym", name, {"game": SOLO, "envs": n}))
    return made


def peers(sizes: Sequence[int]) -> list[Entrant]:
    """Return the other libraries, at the sizes that they are made for."""
    many = ([n for n in sizes if n > 1] or list(sizes))[-2:]
    return [
        Entrant(key(side, name, n), "peers", label, side, name, {"envs": n})
        for side, name, label, some in (
            ("envpool", "tetris", "EnvPool Jumanji/Tetris-v0", sizes),
            ("pufferlib", "keys", "PufferLib Tetris (one key per step)", sizes),
            ("jumanji", "step", "Jumanji Tetris-v0, jit", many),
            ("jumanji", "scan", "Jumanji Tetris-v0, jit, 32 steps in one scan", many),
            ("tetris-gymnasium", "sync tetris", "tetris-gymnasium in SyncVectorEnv (one key per step)", [FEW]),
            ("tetris-gymnasium", "async tetris", "tetris-gymnasium in AsyncVectorEnv (one key per step)", [FEW]),
        )
        for n in some
    ]
