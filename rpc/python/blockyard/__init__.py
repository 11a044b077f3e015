"""Block-stacking contest games as fast vector environments.

    import blockyard

    with blockyard.make_vec("BlockBattle-v0", num_envs=1024, seed=7) as env:
        obs, infos = env.reset()
        obs, rewards, terminated, truncated, infos = env.step(env.sample_actions(rng))

The games run in a server, which is started when needed and ends with the process, or is named
by ``address=``. Importing this package registers the games with Gymnasium as
``blockyard/BlockBattle-v0`` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from gymnasium.vector import AutoresetMode

from .address import Tls
from .asking import Seed
from .buffers import Buffer
from .client import Client
from .errors import (
    AuthError,
    BadStateError,
    BlockyardError,
    BusyError,
    DrainingError,
    ForkError,
    IllegalActionError,
    InternalError,
    LimitError,
    NeedsResetError,
    OpponentError,
    ProtocolError,
    RequestError,
    ServerGone,
    ServerNotFound,
    ServerStartError,
    ServerTimeout,
    UnknownGameError,
)
from .facts import GameFacts
from .games import GAMES, register
from .packing import pack, unpack, unpack_torch
from .pool import Batch, BlockPool
from .positions import Afterstates, Final, Legal, Rollout
from .single import BlockEnv
from .slab import Slab
from .vector import BlockVectorEnv

__version__ = (Path(__file__).parent / "VERSION").read_text(encoding="ascii").strip()

__all__ = [
    "GAMES",
    "Afterstates",
    "AuthError",
    "AutoresetMode",
    "BadStateError",
    "Batch",
    "BlockEnv",
    "BlockPool",
    "BlockVectorEnv",
    "BlockyardError",
    "Buffer",
    "BusyError",
    "Client",
    "DrainingError",
    "Final",
    "ForkError",
    "GameFacts",
    "IllegalActionError",
    "InternalError",
    "Legal",
    "LimitError",
    "NeedsResetError",
    "OpponentError",
    "ProtocolError",
    "RequestError",
    "Rollout",
    "ServerGone",
    "ServerNotFound",
    "ServerStartError",
    "ServerTimeout",
    "Slab",
    "UnknownGameError",
    "connect",
    "make",
    "make_vec",
    "pack",
    "unpack",
    "unpack_torch",
]


def make_vec(
    game: str,
    num_envs: int = 1,
    *,
    address: str | Sequence[str] | None = None,
    token: str | None = None,
    tls: Tls = None,
    seed: Seed = None,
    seats: int | None = None,
    opponents: Mapping[int, str] | str | None = "random",
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    reward: str = "result",
    illegal: str = "error",
    max_episode_steps: int | None = None,
    mask: bool = True,
    copy: bool = True,
    slots: int = 2,
    packed: bool = False,
    transport: Literal["auto", "shm", "socket"] = "auto",
    timeout: float = 30.0,
    render_mode: str | None = None,
) -> BlockVectorEnv:
    """Return a vector environment of num_envs games.

    Args:
        game: ``"BlockBattle-v0"``, or a server's own name such as ``"blockbattle:classic"``.
        num_envs: games at once, at least 1. With several driven seats a game the environment's own
            ``num_envs`` is a multiple of it: one row a driven seat.
        address: of a running server, ``"unix:PATH"``, ``"tcp:HOST:PORT"`` or ``"tls:HOST:PORT"``; None starts one for
            this process, shared by all its environments. Several: the games are spread over them, and every
            byte is as one server would have it.
        token: for a server on TCP that wants one; by default ``BLOCKYARD_TOKEN``.
        tls: how a ``tls:`` server is trusted: None by the system's authorities, a path by the certificates there,
            False not at all, or an ``ssl.SSLContext``.
        seed: of the first reset that names none: s seeds game i with s + i, a list each by itself.
        seats: players of each game; by default the fewest the game allows.
        opponents: who plays the seats that are not ours, on the server: ``{1: "hand"}`` by seat, one spec for all
            but seat 0, or None: every seat is driven from here. Every game has ``random``; ``facts.opponents``
            lists the others.
        autoreset_mode: NEXT_STEP, SAME_STEP or DISABLED, the enum or its value.
        reward: ``"result"``, the change of standing (1 for a win, -1 for a loss, at the end), or ``"score"``, the
            change of the contest's points.
        illegal: what an illegal action means: ``"error"`` refuses the step, ``"penalty"`` is what the contest does
            to a missing move, ``"random"`` plays a legal one instead.
        max_episode_steps: after so many steps a game is truncated; None is the game's own default.
        mask: put ``action_mask`` into infos. False leaves masks out of what travels; legal actions can still
            be asked for.
        copy: True: every step's arrays are yours for good; their memory is used again only when you hold none of
            them any more. False: they are reused after ``slots`` steps, whoever holds them.
        slots: with copy=False, how many steps' arrays exist.
        packed: observations have ``bits``, boards of a few bits a cell, in the place of ``planes``; see
            :func:`unpack` and :func:`unpack_torch`.
        transport: ``"auto"``: memory shared with the server where it is on this machine (Linux, a unix socket) and
            can, else the socket; ``"shm"``, ``"socket"``: this way or an error.
        timeout: seconds to wait for the server before it counts as gone.
        render_mode: None, ``"ansi"`` or ``"rgb_array"``.

    Raises:
        UnknownGameError, RequestError, LimitError: the server refuses; the message says which parameter.
        ServerNotFound, ServerStartError, ServerGone, AuthError: there is no server to talk to.
        TypeError, ValueError: an argument makes no sense.
    """
    return BlockVectorEnv(
        game,
        num_envs,
        address=address,
        token=token,
        tls=tls,
        seed=seed,
        seats=seats,
        opponents=opponents,
        autoreset_mode=autoreset_mode,
        reward=reward,
        illegal=illegal,
        max_episode_steps=max_episode_steps,
        mask=mask,
        copy=copy,
        slots=slots,
        packed=packed,
        transport=transport,
        timeout=timeout,
        render_mode=render_mode,
    )


def make(
    game: str,
    *,
    address: str | None = None,
    token: str | None = None,
    tls: Tls = None,
    seed: int | None = None,
    seats: int | None = None,
    opponents: Mapping[int, str] | str | None = "random",
    reward: str = "result",
    illegal: str = "error",
    max_episode_steps: int | None = None,
    mask: bool = True,
    timeout: float = 30.0,
    render_mode: str | None = None,
) -> BlockEnv:
    """Return a single environment, with one driven seat; arguments as in make_vec."""
    return BlockEnv(
        game,
        address=address,
        token=token,
        tls=tls,
        seed=seed,
        seats=seats,
        opponents=opponents,
        reward=reward,
        illegal=illegal,
        max_episode_steps=max_episode_steps,
        mask=mask,
        timeout=timeout,
        render_mode=render_mode,
    )


def connect(
    address: str | None = None, *, token: str | None = None, tls: Tls = None, timeout: float = 30.0
) -> Client:
    """Return a session on which several environments can be opened; arguments as in make_vec."""
    return Client(address, token=token, tls=tls, timeout=timeout)


register()
