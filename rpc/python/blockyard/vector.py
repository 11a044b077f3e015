"""The vector environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .arguments import copy_actions, game_name, opponents_by_seat, positive, reset_mask
from .attributes import Attributes
from .errors import BlockyardError
from .recorder import Path, Recorded, start_with
from .rows import Obs as Obs
from .rows import StepResult
from .seeding import Seed, check_seeds, reset_requests
from .transport.address import Tls
from .transport.memory import StepMemory
from .transport.over_socket import SocketTransport
from .transport.session import Session
from .transport.sharded import open_shards
from .transport.shared_memory import TRANSPORTS, choose_transport

# Where a step's result goes, if the caller chooses: ``buffer[t]``, or arrays by field.
Out = StepMemory | Mapping[str, NDArray[Any]] | None

RENDER_MODES = ["ansi", "rgb_array", "human"]


class BlockVectorEnv(Recorded, Attributes, VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """Many games that the server steps together; a ``gymnasium.vector.VectorEnv``.

    One row is one seat that the client drives. By default each game has one driven seat, so there are as
    many rows as games. In a game of two seats that act at the same time, ``opponents=None`` gives each game
    two rows, next to each other in every array: row i is game ``i // rows_per_game``, seat
    ``players[i % rows_per_game]``, with that seat's observation, action and reward. ``num_envs`` counts
    rows, ``num_games`` counts games. A policy thus trains against itself on a flat batch.

    Observations are dicts of ``planes``, uint8 (num_envs, C, H, W), and ``globals``, float32 (num_envs, G).
    With ``packed=True``, ``bits`` replaces ``planes``; :meth:`unpack` converts them. Rewards are float64
    (num_envs,), ``terminated`` and ``truncated`` bool (num_envs,). Infos are

    ===============  ==========================  =========================================================
    ``action_mask``  int8 (num_envs, actions)    1 where an action is legal; unpacked when first read
    ``score``        int32 (num_envs,)           points of the row's seat so far
    ``final_obs``    object (num_envs,)          SAME_STEP only: the last observation of an ended episode
    ``final_info``   dict                        SAME_STEP only: its ``action_mask`` and ``score``
    ===============  ==========================  =========================================================

    Each ``key`` comes with a boolean array ``_key`` of the rows in which it is valid. The ``action_mask``
    in ``final_info`` is all zero for a terminated episode; for a truncated one it has the actions that were
    legal.

    Attributes:
        game_spec: the game's specification.
        num_games: number of games.
        rows_per_game: rows of each game.
        players: the seats that the client drives, ascending.
        seats: seats of each game.
        client: the session with the server; with several servers, the first.
        autoreset_mode: when a game that ended is reset.
        packed: whether observations have ``bits`` instead of ``planes``.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        client: Session | None = None,
        address: str | Sequence[str] | None = None,
        token: str | None = None,
        tls: Tls = None,
        timeout: float = 30.0,
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
        first: int = 0,
        render_mode: str | None = None,
        record: Path | Mapping[str, Any] | None = None,
    ) -> None:
        """Create the environment; arguments as in :func:`blockyard.make_vec`.

        Args:
            client: a session to use instead of a new connection.
            first: index of the first game, if these games are a part of a larger environment; seeds and draws
                depend on it.
        """
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode {render_mode!r}: want None or one of {RENDER_MODES}")
        if not copy and operator.index(slots) < 2:
            raise ValueError(f"slots: want at least 2, got {slots}")
        if transport not in TRANSPORTS:
            raise ValueError(f"transport {transport!r}: want one of {TRANSPORTS}")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self._with_mask, self.packed = mask, packed
        options: dict[str, Any] = {"autoreset": self.autoreset_mode.value, "reward": reward, "illegal": illegal}
        if max_episode_steps is not None:
            options["max_episode_steps"] = operator.index(max_episode_steps)
        offset = operator.index(first)

        def open_one(session: Session, games: int, start: int) -> SocketTransport:
            self.game_spec = session.describe(game_name(game))
            where = {"num_envs": games, "first": offset + start}
            handle = session.open(self.game_spec.name, self._open_options(session, options | where, seats, opponents))
            try:
                return choose_transport(session, handle, transport)
            except BlockyardError:
                if client is not None and client.connection.open:
                    client.connection.call("close", handle.number)
                raise

        self._own_client = client is None
        self._transport = open_shards(
            positive("num_envs", num_envs), address, open_one, token=token, timeout=timeout, tls=tls, client=client
        )
        try:
            self.client, self._handle = self._transport.client, self._transport.handle
            self._first_seed = check_seeds(seed, self._handle.games)
            self._ring, self._turn = None if copy else self._transport.ring(slots), 0
        except BaseException:
            self._transport.close(self._own_client)
            raise
        self.render_mode = render_mode
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": 4, "autoreset_mode": self.autoreset_mode}
        self._set_sizes()
        if record is not None:
            try:
                start_with([self], record)
            except BaseException:
                self.close()
                raise

    def _open_options(
        self, session: Session, options: dict[str, Any], seats: int | None, opponents: Mapping[int, str] | str | None
    ) -> dict[str, Any]:
        """Return the options of the request ``open``, after checking that the server supports them."""
        count = self.game_spec.min_seats if seats is None else seats
        options = options | {"seats": count, "rows": "acting", "opponents": opponents_by_seat(opponents, count)}
        if not self._with_mask and "fields" in session.features:
            options["fields"] = ["planes", "globals", "seat"]
        if self.packed:
            session.require("packed", "packed=True")
            options["packed"] = True
        if options["first"]:
            session.require("first", "address of several servers, or first=")
        else:
            del options["first"]
        return options

    def _set_sizes(self) -> None:
        """Set what follows from the handle: sizes, spaces, arrays."""
        h = self._handle
        self.num_games, self.seats, self.players, self.rows_per_game = h.games, h.seats, h.players, h.rows_per_game
        self.num_envs = h.rows
        self._set_row_indices()
        self.single_observation_space = self.game_spec.observation_space(self.packed)
        self.single_action_space = self.game_spec.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._actions = np.zeros(h.rows, "<u2")
        self._afterstate_calls = 0
        self._seeded = np.zeros(h.games, np.bool_)
        self._memory: StepMemory | None = None
        self._extra = {}
        self._pending: tuple[Any, StepMemory, NDArray[np.intp] | None] | None = None

    # -- resetting ------------------------------------------------------------------

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: an int s seeds game i with s + i; a list seeds each game separately, with None for a game without a
                seed. A game without a seed continues its own sequence if it was seeded before; otherwise it is
                seeded from the operating system's entropy.
            options: ``{"reset_mask": bool (num_envs,)}`` resets only the selected rows. The dict is not modified.

        Returns:
            The observations of all rows, and infos, which are valid in the rows that were reset.

        Raises:
            TypeError, ValueError: the seed or the mask is malformed; the message says how.
        """
        self._refuse_pending("reset")
        if unknown := set(options or ()) - {"reset_mask"}:
            raise ValueError(f"options: unknown {sorted(unknown)}; the only option is 'reset_mask'")
        chosen = np.ones(self.num_games, np.bool_)
        if options and "reset_mask" in options:
            chosen = reset_mask(options["reset_mask"], self.num_envs, self.rows_per_game)
        seed = check_seeds(seed, self.num_games)
        memory = self._next_memory()
        for request in reset_requests(self._first_seed if seed is None else seed, chosen, self._seeded):
            self._transport.show(memory, "reset", request)
        self._first_seed = None
        self._seeded |= chosen
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._memory = memory
        if self.render_mode == "human":
            self._display()
        return memory.observation(), self._infos(memory, self._rows_of(chosen))

    # -- stepping -------------------------------------------------------------------

    def step(self, actions: Any, *, out: Out = None) -> StepResult:
        """Step every row with an action, and wait for the result.

        Args:
            actions: integers (num_envs,). The actions of rows that need not act, such as those of games that
                NEXT_STEP is about to reset, are ignored.
            out: where to put the result: ``buffer[t]`` of :meth:`buffer`, or a dict of C-contiguous arrays by
                field, with the names, dtypes and shapes of ``buffer[t].arrays``; some fields may be left out. step
                then returns these arrays.

        Returns:
            Observations, rewards, terminated, truncated, infos; see the class.

        Raises:
            IllegalActionError: an action is not legal, with ``illegal="error"``; no game was stepped.
            NeedsResetError: an episode is over (DISABLED) or was never started; no game was stepped.
            ServerGoneError: the server exited.
            TypeError, ValueError: the actions have the wrong dtype or shape.
        """
        memory, row, before = self._prepare("step", actions, out)
        self._transport.step(row, memory)
        self._memory = memory
        if self.render_mode == "human":
            self._display()
        return self._step_result(memory, before)

    def step_async(self, actions: Any, *, out: Out = None) -> None:
        """Send the actions of a step without waiting; :meth:`step_wait` returns the result."""
        memory, row, before = self._prepare("step_async", actions, out)
        self._pending = (self._transport.post_step(row, memory), memory, before)

    def step_wait(self) -> StepResult:
        """Wait for the step that :meth:`step_async` sent, and return what :meth:`step` returns."""
        if self._pending is None:
            raise RuntimeError("step_wait: no step is in progress; call step_async first")
        (future, memory, before), self._pending = self._pending, None
        self._transport.wait(future)
        self._memory = memory
        if self.render_mode == "human":
            self._display()
        return self._step_result(memory, before)

    def _prepare(
        self, method: str, actions: Any, out: Out
    ) -> tuple[StepMemory, NDArray[np.uint16], NDArray[np.intp] | None]:
        """Return the memory for the result, the actions to send, and each row's seat now if that varies."""
        if self._pending is not None or self.closed:
            self._refuse_pending(method)
        if self._sources:
            self._fetch_records()
        memory = self._next_memory() if out is None else self._memory_over(out)
        row = self._actions if memory.actions is None else memory.actions
        if row is not actions:
            copy_actions(actions, row)
        return memory, row, self._own_index(self._memory) if self._varying and self._memory is not None else None

    def _refuse_pending(self, method: str) -> None:
        if self._pending is not None:
            raise RuntimeError(f"{method}: a step is in progress; call step_wait first")
        if self.closed:
            raise BlockyardError(f"{method}: the environment is closed; create a new one")

    def _memory_over(self, out: StepMemory | Mapping[str, NDArray[Any]]) -> StepMemory:
        return out.reuse() if isinstance(out, StepMemory) else StepMemory.over_arrays(self._handle, out)

    def _next_memory(self) -> StepMemory:
        if self._ring is None:
            return self._transport.memory()
        self._turn = (self._turn + 1) % len(self._ring)
        return self._ring[self._turn].reuse()

    # -- opponents, pictures, closing -------------------------------------------------------------------

    @property
    def transport(self) -> str:
        """Transport of steps: ``"shm"``, ``"socket"``, or ``"split"`` for several servers."""
        return self._transport.name

    def set_opponent(self, seat: int, spec: str) -> None:
        """Replace the opponent of a seat, from the next episode of each game on.

        Raises:
            RequestError: the client drives that seat, or the server does not know the spec.
        """
        self._call("set_opponents", {seat: spec})

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every game, num_games of them; None without a ``render_mode`` and with ``"human"``.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3). Each game is a request to the server;
        :meth:`picture` renders a single game. ``"human"`` displays the first game after every reset and step.
        """
        if self.render_mode in (None, "human"):
            return None
        return tuple(self.picture(i) for i in range(self.num_games))

    def stats(self) -> dict[str, Any]:
        """Return the server's counters."""
        return self.client.stats()

    def ping(self) -> None:
        """Check that the server answers.

        Raises:
            ServerGoneError: it does not.
        """
        self.client.ping()

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; this stops the local server if no other environment uses it."""
        self._end_recording()
        self._transport.close(self._own_client)

    def __del__(self) -> None:
        """Do nothing, unlike Gymnasium before 1.4: closing here could interrupt another environment's request."""

    def __repr__(self) -> str:
        rows = f"num_envs={self.num_envs}" + (f", num_games={self.num_games}" if self.rows_per_game > 1 else "")
        players = ", ".join(map(str, self.players))
        state = f"{self.autoreset_mode.value}, {self.transport}" + (", closed" if self.closed else "")
        name = self.spec.id if self.spec else self.game_spec.id
        return f"{type(self).__name__}({name}, {rows}, seats driven: {players} of {self.seats}, {state})"

    def __enter__(self) -> BlockVectorEnv:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
