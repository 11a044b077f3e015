"""Games on a server as Gymnasium knows vector environments: what is created, reset, stepped, seen and closed."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..formats.arguments import positive
from ..formats.opponents import Opponents, OpponentStats, has_policies
from ..formats.packing import unpack
from ..formats.seeding import Seed, check_seeds
from ..formats.spec import BatchedActions, GameSpec
from ..rendering.notebook import game_picture
from ..rendering.svg import Svg
from ..transport.buffer import RolloutBuffer
from ..transport.over_socket import SocketTransport
from . import attributes
from .batch import Batch, Obs, StepResult
from .checkpoint import Checkpoints
from .games import Games
from .illegal import IllegalActions
from .opening import Opening
from .opponents import OpponentSeats
from .options import RENDER_MODES, Options
from .pictures import FPS, Pictures
from .policies import PolicyGames
from .policy_opponents import PolicyOpponents
from .requests import Requests
from .search import Search
from .seating import Seating
from .shaping import Shaping
from .steps import Out, Steps


class GymVectorEnv(VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """Many games that a server steps together: what :class:`BlockVectorEnv` has in common with other environments."""

    ignored_action = 0
    _search: Search
    _checkpoints: Checkpoints
    _dropped: Any = None

    def __init__(self, game: str, num_envs: int, options: Options) -> None:
        """Open the games."""
        self._own_client = options.client is None
        self._game, self._options = game, options
        self._transport: SocketTransport
        self._opponents: OpponentSeats | PolicyOpponents
        if has_policies(options.opponents):
            seating = Seating(game, positive("num_envs", num_envs), options)
            self._transport, spec = PolicyGames(seating), seating.spec
        else:
            opening = Opening(game, options)
            self._transport, spec = opening.transport(num_envs), opening.spec
        try:
            self._build(options, spec, self._transport)
            if isinstance(self._transport, PolicyGames):
                self._take(self._transport)
            else:
                self._opponents = OpponentSeats(self._requests, self._batch, opening.lineup, opening.user)
                self._free_when_dropped()
        except BaseException:
            self._transport.close(self._own_client)
            raise

    def _take(self, games: PolicyGames) -> None:
        """Let policies of this program be opponents in these games."""
        record = self._games  # the games do not keep the environment alive
        self._transport = self._requests.transport = games
        self._batch.handle, self._batch.shared_final, self._batch.seating = games.handle, None, games.seating
        games.seating.opened = lambda table: record.join(games.parts_of(table))
        self._opponents = PolicyOpponents(self._requests, games)
        self._free_when_dropped()

    def _free_when_dropped(self) -> None:
        """On a session that stays open, free the games when this environment is collected."""
        if self._dropped is not None:
            self._dropped.detach()
        if not self._own_client:
            free = partial(_free, self._transport, self._opponents.user)
            self._dropped = weakref.finalize(self, self.client.connection.dropped.append, free)
            self._dropped.atexit = False

    def _build(self, options: Options, spec: GameSpec, transport: SocketTransport) -> None:
        """Create the parts, and set the attributes that follow from the game and the options."""
        handle, mode = transport.handle, options.mode
        seed, same_step = check_seeds(options.seed, handle.games), mode is AutoresetMode.SAME_STEP
        how = {"packed": options.packed, "with_mask": options.mask, "same_step": same_step}
        self._batch = batch = Batch(spec, handle, IllegalActions(options.illegal), **how)
        batch.shared_final = transport.share_final() if same_step else None
        batch.shaping = Shaping(spec) if options.reward == "shaped" else None
        self._requests = Requests(transport)
        self._games = Games(self._requests, handle.players)
        self._pictures = Pictures(self._requests, spec, options.render_mode)
        show = self._pictures.display if options.render_mode == "human" else None
        slots = None if options.copy else options.slots
        self._steps = Steps(self._requests, batch, self._games, seed, slots, show)
        self._added: dict[str, tuple[Any, ...]] = {}  # attributes of rows
        self._handle, self.client, self.game_spec = handle, transport.client, spec
        self.autoreset_mode, self.packed, self.render_mode = mode, options.packed, options.render_mode
        self.num_games, self.seats, self.players = handle.games, handle.seats, handle.players
        self.rows_per_game, self.num_envs = handle.rows_per_game, handle.rows
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": FPS, "autoreset_mode": mode}
        self.single_observation_space = spec.observation_space(options.packed)
        self.single_action_space = spec.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = BatchedActions([spec.actions] * self.num_envs)

    # -- playing ----------------------------------------------------------------------

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: an int s seeds game i with s + i; a list seeds each game separately, with None for a game without a
                seed. A game without a seed continues its own sequence if it was seeded before; otherwise it is
                seeded from the operating system's entropy. The first reset of an environment that was created from a
                checkpoint continues its games instead, whatever the seed.
            options: ``{"reset_mask": bool (num_envs,)}`` resets only the selected rows. The dict is not modified.

        Returns:
            The observations of all rows, and infos, which are valid in the rows that were reset.

        Raises:
            TypeError, ValueError: the seed or the mask is malformed; the message says how.
        """
        result = self._steps.reset(seed, options)
        super().reset(seed=seed if isinstance(seed, int) else None)
        return result

    def step(self, actions: Any, *, out: Out = None) -> StepResult:
        """Step every row with an action; return observations, rewards, terminated, truncated and infos; see the class.

        Args:
            actions: integers (num_envs,). The actions of rows that need not act, such as those of games that
                NEXT_STEP is about to reset, are ignored.
            out: where to put the result: ``buffer[t]`` of :meth:`buffer`, or a dict of C-contiguous arrays by
                field, with the names, dtypes and shapes of ``buffer[t].arrays``; some fields may be left out. step
                then returns these arrays.

        Raises:
            IllegalActionError: an action is not legal, with ``illegal="error"``; no game was stepped.
            NeedsResetError: an episode is over (DISABLED) or was never started; no game was stepped.
            ServerGoneError: the server exited.
            TypeError, ValueError: the actions have the wrong dtype or shape.
        """
        return self._steps.step(actions, out)

    def step_into(self, buffer: RolloutBuffer, t: int = 0) -> None:
        """Step with ``buffer.actions[t]`` into its step t, quickly: nothing is checked, returned or counted."""
        self._steps.into(buffer[t])

    def step_async(self, actions: Any, *, out: Out = None) -> None:
        """Send the actions of a step without waiting; :meth:`step_wait` returns the result."""
        self._steps.post(actions, out)

    def step_wait(self) -> StepResult:
        """Wait for the step that :meth:`step_async` sent, and return what :meth:`step` returns."""
        return self._steps.wait()

    # -- the current position -----------------------------------------------------------

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions now: bool (num_envs, actions); only id 0 for a row that need not act.

        Raises:
            NeedsResetError: the environment was not reset yet.
            RuntimeError: the environment was created with ``mask=False``.
        """
        return self._batch.current.masks(self.game_spec.actions)

    @property
    def packed_masks(self) -> NDArray[np.uint8]:
        """The action masks as bits: uint8 (num_envs, ceil(actions / 8)), bit a & 7 of byte a >> 3; zero-copy.

        Like :attr:`action_masks`, they have only id 0 for a row that need not act.
        """
        return self._batch.current.packed_masks()

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Which rows must act in the next step: bool (num_envs,)."""
        return self._batch.complete(self._batch.current, False)

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of all seats after the last step: int32 (num_games, seats)."""
        return self._batch.current.score.copy()

    @property
    def seat_rewards(self) -> NDArray[np.float32]:
        """Rewards of all seats, opponents included, in the last step: float32 (num_games, seats)."""
        return self._batch.current.reward.copy()

    def unpack(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Unpack packed boards, uint8 (..., packed_len), into planes, uint8 (..., C, H, W)."""
        return unpack(bits, self.game_spec)

    # -- opponents ----------------------------------------------------------------------

    @property
    def opponent_specs(self) -> tuple[str, ...]:
        """The opponents that have been in ``opponents`` so far, indexed by ``infos["opponent"]``.

        They are named as you named them. If a weights file has changed between two calls of :meth:`set_opponents`, the
        new content is another opponent, named ``SPEC@`` and the first digits of its SHA-256. Files of the same content
        are one opponent.
        """
        return self._opponents.specs

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents, from the next episode of each game on.

        Args:
            opponents: as in :func:`blockyard.make_vec`. A spec or a mixture is for all seats that have opponents; a
                dict by seat changes only the seats in it. Local weights files are read now.

        Raises:
            RequestError, LimitError: the server refuses a spec, or you drive the seat; nothing has changed.
            TypeError, ValueError, OSError: opponents is malformed, or a file cannot be read.
        """
        if has_policies(opponents) and isinstance(self._opponents, OpponentSeats):
            self._opponents.check_seats()
            seating = Seating.of(self._game, self._options, self._batch, self._transport, self._opponents)
            self._take(PolicyGames(seating))
            self._search.opponents = self._checkpoints.opponents = self._opponents
        self._opponents.set(opponents)

    def opponent_stats(self, *, reset: bool = False) -> dict[str, OpponentStats]:
        """Return wins, draws, losses and score against each opponent, by its name in :attr:`opponent_specs`.

        Each finished episode counts once, also in rollouts; episodes that ``reset`` abandons do not count. With
        ``reset=True`` counting starts again from zero.
        """
        return self._opponents.stats(reset)

    # -- single rows --------------------------------------------------------------------

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every row, or get an attribute of every row.

        Methods that need the server are one request for all rows, except pictures, which are one per game.

        Args:
            name: of a method or attribute; see the class.
            *args, **kwargs: of the method.

        Returns the results, one per row; raises AttributeError if rows have no such method or attribute.
        """
        return attributes.call(self, self._added, name, args, kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every row; as in Gymnasium, a method is called without arguments."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Give every row an attribute, for :meth:`get_attr` and :meth:`call`.

        Args:
            name: of the attribute; not one that rows have anyway.
            values: a list or tuple with one value per row; anything else is the value of all rows.

        Raise AttributeError if the attribute cannot be changed, and ValueError if the list has a wrong length.
        """
        self._added[name] = attributes.row_values(name, values, self.num_envs)

    # -- pictures -----------------------------------------------------------------------

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every row's game, num_envs of them; None without a ``render_mode`` and with ``"human"``.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3), each game a request to the server. ``"human"``
        displays the first game after every reset and step.
        """
        return self._pictures.of_rows()

    def picture(self, game: int = 0, mode: str | None = None) -> Any:
        """Return a picture of one game.

        Args:
            game: index of the game, 0 <= game < num_games.
            mode: ``"text"`` or ``"ansi"`` (text with terminal colours): str; ``"rgb_array"``: uint8 (height, width,
                3); ``"svg"``: a str that notebooks display as a picture. By default the ``render_mode`` of the
                environment, or ``"ansi"``.
        """
        return self._pictures.of(game, mode)

    def _repr_html_(self) -> str:
        """Return what a notebook displays; see :class:`Pictures`."""
        return self._pictures.page(self.autoreset_mode.value)

    def _repr_svg_(self) -> Svg | None:
        """Return a picture of the first game, for viewers without HTML; None if there is none now."""
        return game_picture(self.picture)

    # -- the server -----------------------------------------------------------------------

    @property
    def transport(self) -> str:
        """Transport of steps: ``"inproc"``, ``"shm"``, ``"socket"``, or ``"split"`` for several servers."""
        return self._transport.name

    def stats(self) -> dict[str, Any]:
        """Return counters: those of the server, and as ``env`` those of this environment.

        ``env`` has ``actions``, the number of actions of rows that had to act, and ``illegal``, the number of those
        that were illegal and were replaced; in a curriculum also ``rung``, the place of each game.
        """
        place = self._batch.seating and self._batch.seating.place
        own = self._batch.illegal.stats() | ({} if place is None else {"rung": place.tolist()})
        return self._transport.retry(self.client.stats) | {"env": own}

    def ping(self) -> None:
        """Check that the server answers; raise ServerGoneError if it does not."""
        self._transport.retry(self.client.ping)

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; the local server stops if no other environment uses it."""
        self._games.end()
        if self._dropped is not None:
            self._dropped.detach()
        self._transport.close(self._own_client)
        self._opponents.close()
        self._requests.closed = True

    def __del__(self) -> None:
        """Do nothing, unlike Gymnasium before 1.4: closing here could interrupt another environment's request."""

    def __repr__(self) -> str:
        rows = f"num_envs={self.num_envs}" + (f", num_games={self.num_games}" if self.rows_per_game > 1 else "")
        seats = "seat " if len(self.players) == 1 else "seats "
        players = seats + ", ".join(map(str, self.players))
        state = f"{self.autoreset_mode.value}, {self.transport}" + (", closed" if self.closed else "")
        name = self.spec.id if self.spec else self.game_spec.id
        return f"{type(self).__name__}({name}, {rows}, you drive {players} of {self.seats}, {state})"


def _free(transport: SocketTransport, user: object) -> None:
    """Free the games of an environment that was not closed, on a session that stays open."""
    transport.close(False)
    for part in transport.parts:
        part.release(user)
