"""The vector environment."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..errors import BlockyardError
from ..formats.arguments import Illegal, Reward, Rows, autoreset, game_name, integer, one_of, positive
from ..formats.checkpoint_file import Checkpoint
from ..formats.opponents import Lineup, Opponents
from ..formats.seeding import Seed, check_seeds
from ..transport.address import Address, Tls
from ..transport.heal_options import Healing, healing_of
from ..transport.healing import HealingTransport, Reopen
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from ..transport.session import Session
from ..transport.sharded import open_shards
from ..transport.shared_memory import TRANSPORTS, choose_transport
from .attributes import Attributes
from .batch import Obs as Obs
from .checkpoint import Checkpoints, resume
from .games import Path, start_with
from .illegal import IllegalActions
from .steps import Stepping

RENDER_MODES = ["ansi", "rgb_array", "human"]


@dataclass(frozen=True)
class Order:
    """What an environment asks servers for: arguments of :class:`BlockVectorEnv`, options of the method ``open``."""

    game: str
    options: dict[str, Any]
    seats: int | None
    opponents: Opponents
    transport: str
    own_client: bool


def reopening(env: BlockVectorEnv, games: int, start: int, lineup: Lineup) -> Reopen:
    """Return what opens games again, with the opponents of lineup or, if they are resumed, with some."""
    ref = weakref.ref(env)  # a transport does not keep its environment alive
    some = Lineup(dict.fromkeys(lineup.wire, "random"))

    def reopen(session: Session, resumed: bool) -> SocketTransport:
        env = ref()
        if env is None:
            raise BlockyardError("the environment of this server is gone")
        return env._open_games(session, games, start, some if resumed else lineup)

    return reopen


class BlockVectorEnv(Attributes, Stepping, Checkpoints):
    """Many games that the server steps together; a ``gymnasium.vector.VectorEnv``.

    One row is one seat that the client drives, in every game. By default each game has one driven seat, so there
    are as many rows as games. With ``opponents=None`` a game of two seats has two rows, next to each other in every
    array: row i is game ``i // rows_per_game``, seat ``players[i % rows_per_game]``, with that seat's observation,
    action and reward. ``num_envs`` counts rows, ``num_games`` counts games. A policy thus trains against itself on a
    flat batch.

    In turn-based games the rows of the other seats wait. A waiting row goes on observing the game and receives its
    seat's rewards, and the end of the game ends the episode of all its rows in the same step. Its only legal action is
    ``ignored_action``, 0, and whatever action it is given is ignored.

    Observations are dicts of ``planes``, uint8 (num_envs, C, H, W), and ``globals``, float32 (num_envs, G).
    With ``packed=True``, ``bits`` replaces ``planes``; :meth:`unpack` converts them. Rewards are float64
    (num_envs,), ``terminated`` and ``truncated`` bool (num_envs,). Infos are

    ===============  ==========================  =========================================================
    ``action_mask``  int8 (num_envs, actions)    1 where an action is legal; unpacked when first read
    ``acting``       bool (num_envs,)            whether the row's next action is played; False for a row that
                                                 waits, or whose game NEXT_STEP is about to reset
    ``illegal``      bool (num_envs,)            whether the row's last action was illegal and was replaced;
                                                 not with ``illegal="error"``
    ``score``        int32 (num_envs,)           points of the row's seat so far
    ``opponent``     uint16 (num_envs,)          who plays the other seat: an index into ``opponent_specs``; uint16
                                                 (num_envs, n) with n > 1 such seats, in their order; absent with none
    ``final_obs``    object (num_envs,)          SAME_STEP only: the last observation of an ended episode
    ``final_info``   dict                        SAME_STEP only: its other infos at the end
    ===============  ==========================  =========================================================

    Each ``key`` comes with a boolean array ``_key`` of the rows in which it is valid. No row of a mask is ever all
    zero: a row that need not act has ``ignored_action``. So has the ``action_mask`` in ``final_info``, except that a
    truncated episode keeps the actions that were legal.

    Attributes:
        ignored_action: 0, the only legal action of a row that need not act.
        game_spec: the game's specification.
        num_games: number of games.
        rows_per_game: rows of each game.
        players: the seats that the client drives, ascending.
        seats: seats of each game.
        client: the session with the server; with several servers, the first.
        autoreset_mode: when a game that ended is reset.
        packed: whether observations have ``bits`` instead of ``planes``.
    """

    ignored_action = 0

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        client: Session | None = None,
        address: str | Address | Sequence[str] | None = None,
        token: str | None = None,
        tls: Tls = None,
        timeout: float = 30.0,
        seed: Seed = None,
        seats: int | None = None,
        opponents: Opponents = "random",
        rows: Rows = "seat",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        reward: Reward | None = None,
        illegal: Illegal | None = None,
        max_episode_steps: int | None = None,
        mask: bool = True,
        copy: bool = True,
        slots: int = 2,
        packed: bool = False,
        transport: Literal["auto", "shm", "socket"] = "auto",
        first: int = 0,
        render_mode: str | None = None,
        record: Path | Mapping[str, Any] | None = None,
        checkpoint: bytes | None = None,
        heal: bool | Healing = False,
        snapshot_every: int = 64,
        heal_timeout: float = 60.0,
    ) -> None:
        """Create the environment; arguments as in :func:`blockyard.make_vec`.

        Args:
            client: a session to use instead of a new connection.
            heal: as in make_vec; or how these games, a part of a larger environment, heal.
            first: index of the first game, if these games are a part of a larger environment; seeds and draws
                depend on it.
        """
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode {render_mode!r}: want None or one of {RENDER_MODES}")
        if not copy and integer("slots", slots) < 2:
            raise ValueError(f"slots: want at least 2, got {slots}")
        one_of("transport", transport, TRANSPORTS)
        self.autoreset_mode = autoreset(autoreset_mode)
        self._with_mask, self.packed = mask, packed
        self._illegal = IllegalActions(None if illegal is None else one_of("illegal", illegal, get_args(Illegal)))
        options: dict[str, Any] = {
            "autoreset": self.autoreset_mode.value,
            "rows": one_of("rows", rows, get_args(Rows)),
            "illegal": self._illegal.treatment,
        }
        if reward is not None:
            options["reward"] = one_of("reward", reward, get_args(Reward))
        if max_episode_steps is not None:
            options["max_episode_steps"] = integer("max_episode_steps", max_episode_steps)
        self._first = integer("first", first)
        if checkpoint is not None and seed is not None:
            raise ValueError("seed: the games of a checkpoint have seeds of their own; leave out seed or checkpoint")

        healing = healing_of(heal, address, client, tls, heal_timeout, snapshot_every)
        if healing is not None:
            options["log"] = True

        self._ordered = Order(game, options, seats, opponents, transport, client is None)

        def open_one(session: Session, games: int, start: int) -> SocketTransport:
            if healing is None:
                return self._open_games(session, games, start)
            session.require("replay", "heal=True")
            inner = self._open_games(session, games, start)
            assert self._lineup is not None
            whole = HealingTransport(inner, reopening(self, games, start, self._lineup), healing, self._first + start)
            whole.upload(self._user, self.game_spec.name, self._lineup.files)
            return whole

        self._own_client = client is None
        self._transport = open_shards(
            positive("num_envs", num_envs), address, open_one, token=token, timeout=timeout, tls=tls, client=client
        )
        try:
            self.client, self._handle = self._transport.client, self._transport.handle
            self._first_seed = check_seeds(seed, self._handle.games)
            same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
            self._shared_final = self._transport.share_final() if same_step else None
            self._ring, self._turn = None if copy else self._transport.ring(slots), 0
        except BaseException:
            self._transport.close(self._own_client)
            raise
        self.render_mode = render_mode
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": 4, "autoreset_mode": self.autoreset_mode}
        self._set_sizes()
        try:
            if record is not None:
                start_with([self], record)
            if checkpoint is not None:
                resume([self], Checkpoint.from_bytes(checkpoint))
        except BaseException:
            self.close()
            raise

    def _open_games(self, session: Session, games: int, start: int, lineup: Lineup | None = None) -> SocketTransport:
        """Open games from start on, at first or, with these opponents, once more."""
        order = self._ordered
        spec = session.describe(game_name(order.game))
        if start > 0 or lineup is not None:
            self.game_spec.check_same(spec, str(session.connection.address))
        if lineup is None:
            self.game_spec = spec
        where = {"num_envs": games, "first": self._first + start}
        options = self._open_options(session, order.options | where, order.seats, order.opponents)
        if lineup is None:
            lineup = self._lineup
            assert lineup is not None
        handle = self._open(session, options | {"opponents": lineup.wire}, lineup.files)
        try:
            return choose_transport(session, handle, order.transport)
        except BlockyardError:
            if not order.own_client and session.connection.open:
                session.connection.call("close", handle.number)
                session.uploads.release(self._user)
            raise

    def _open_options(
        self, session: Session, options: dict[str, Any], seats: int | None, opponents: Opponents
    ) -> dict[str, Any]:
        """Return the options of the request ``open``, after checking that the server supports them."""
        count = self.game_spec.min_seats if seats is None else positive("seats", seats)
        options = options | {"seats": count, "opponents": self._enlist(session, opponents, count)}
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

    # -- pictures, closing -------------------------------------------------------------------

    @property
    def transport(self) -> str:
        """Transport of steps: ``"shm"``, ``"socket"``, or ``"split"`` for several servers."""
        return self._transport.name

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every game, num_games of them; None without a ``render_mode`` and with ``"human"``.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3). Each game is a request to the server;
        :meth:`picture` renders a single game. ``"human"`` displays the first game after every reset and step.
        """
        if self.render_mode in (None, "human"):
            return None
        return tuple(self.picture(i) for i in range(self.num_games))

    def stats(self) -> dict[str, Any]:
        """Return counters: those of the server, and as ``env`` those of this environment.

        ``env`` has ``actions``, the number of actions of rows that had to act, and ``illegal``, the number of those
        that were illegal and were replaced.
        """
        return self._transport.retry(self.client.stats) | {"env": self._illegal.stats()}

    def ping(self) -> None:
        """Check that the server answers.

        Raises:
            ServerGoneError: it does not.
        """
        self._transport.retry(self.client.ping)

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; this stops the local server if no other environment uses it."""
        self._end_recording()
        self._transport.close(self._own_client)
        self._dismiss()

    def __del__(self) -> None:
        """Do nothing, unlike Gymnasium before 1.4: closing here could interrupt another environment's request."""

    def __repr__(self) -> str:
        rows = f"num_envs={self.num_envs}" + (f", num_games={self.num_games}" if self.rows_per_game > 1 else "")
        seats = "seat " if len(self.players) == 1 else "seats "
        players = seats + ", ".join(map(str, self.players))
        state = f"{self.autoreset_mode.value}, {self.transport}" + (", closed" if self.closed else "")
        name = self.spec.id if self.spec else self.game_spec.id
        return f"{type(self).__name__}({name}, {rows}, you drive {players} of {self.seats}, {state})"

    def __enter__(self) -> BlockVectorEnv:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
