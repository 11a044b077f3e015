"""What environments show: the current position, opponents, single rows, texts, pictures, counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from gymnasium.core import RenderFrame
from numpy.typing import NDArray

from ..formats.arguments import Ids
from ..formats.opponents import Opponents, OpponentStats, has_policies
from ..formats.packing import unpack
from ..rendering.svg import Svg, game_picture, page
from .attributes import OWN
from .opponents import OpponentSeats, free
from .policies import PolicyGames
from .results import LegalActions
from .seating import Seating
from .steps import SteppedEnv


class GymVectorEnv(SteppedEnv):
    """Games on a server as Gymnasium knows vector environments: the part of :class:`BlockVectorEnv` that shows them."""

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

    def legal_actions(self, env_ids: Ids = None) -> LegalActions:
        """Return the legal actions of the rows of these games, in CSR form."""
        return LegalActions.read(self._requests.pages("legal", env_ids))

    def sample_actions(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a random legal action for every row, int64 (num_envs,); ``ignored_action`` if it need not act."""
        return self.legal_actions().sample(rng)

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

    def _specs_of(self, opponents: NDArray[np.uint16]) -> list[Any]:
        """Return the specs of what infos have as ``opponent``: one for each row, or a list of them."""
        specs: list[Any] = np.array(self.opponent_specs, object)[opponents].tolist()
        return specs

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents, from the next episode of each game on.

        Args:
            opponents: as in :func:`blockyard.make_vec`. A spec or a mixture is for all seats that have opponents; a
                dict by seat changes only the seats in it. Local weights files are read now.

        Raises:
            RequestError, LimitError: the server refuses a spec, or you drive the seat; nothing has changed.
            TypeError, ValueError, OSError: opponents is malformed, or a file cannot be read.
        """
        self._requests.check("set_opponents")
        if has_policies(opponents) and isinstance(self._opponents, OpponentSeats):
            self._opponents.check_seats()
            seating = Seating.of(self._game, self._options, self._batch, self._transport, self._opponents)
            self._take_policies(PolicyGames(seating))
        self._opponents.set(opponents)

    def opponent_stats(self, *, reset: bool = False) -> dict[str, OpponentStats]:
        """Return wins, draws, losses and score against each opponent, by its name in :attr:`opponent_specs`.

        Each finished episode counts once, also in rollouts; episodes that ``reset`` abandons do not count. With
        ``reset=True`` counting starts again from zero.
        """
        self._requests.check("opponent_stats")
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
        if name in self._added:
            return tuple(v(*args, **kwargs) if callable(v) else v for v in self._added[name])
        if own := OWN.get(name):
            return tuple(own(self, *args, **kwargs))
        have = ", ".join(sorted({*OWN, *self._added}))
        raise AttributeError(f"rows have no attribute {name!r}, they have {have}; set_attr adds attributes")

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
        if name in OWN:
            raise AttributeError(f"set_attr: {name!r} of a row cannot be changed; choose another name")
        out = tuple(values) if isinstance(values, (list, tuple)) else (values,) * self.num_envs
        if len(out) != self.num_envs:
            raise ValueError(f"set_attr({name!r}): got {len(out)} values, want one for each of {self.num_envs} rows")
        self._added[name] = out

    # -- text ---------------------------------------------------------------------------

    @overload
    def text(self, actions: int | np.integer[Any]) -> str: ...
    @overload
    def text(self, actions: Sequence[int] | NDArray[Any]) -> list[str]: ...
    def text(self, actions: Any) -> str | list[str]:
        """Return an action as text, such as ``"r2 x4 y17 spin"``; or a list of texts for several actions.

        Raises:
            RequestError: an action is outside of the action space.
        """
        self._requests.check("text")
        texts: str | list[str] = self._transport.retry(lambda: self.client.text(self.game_spec.name, actions))
        return texts

    @overload
    def parse(self, texts: str) -> int: ...
    @overload
    def parse(self, texts: list[str] | tuple[str, ...]) -> NDArray[np.int64]: ...
    def parse(self, texts: str | list[str] | tuple[str, ...]) -> int | NDArray[np.int64]:
        """Return the action that a text stands for, the inverse of :meth:`text`; or int64 (n,) for several texts.

        Whether the action is legal now is another question: see ``action_masks``.

        Raises:
            RequestError: a text is no action; the message shows it, and an example of one that is.
        """
        self._requests.check("parse")
        return self._transport.retry(lambda: self.client.parse(self.game_spec.name, texts))

    def observation_texts(self, env_ids: Ids = None, *, legal: bool = True) -> list[str]:
        """Return the observation of each row of these games as plain text without colour codes.

        A text says whose turn it is, shows the position and the pieces to come, as far as they are known, and lists
        the legal actions as :meth:`text` writes them, separated by ``"; "``.

        Args:
            env_ids: indices of games; None means all.
            legal: whether to list the legal actions.

        Raises:
            NeedsResetError: the environment was not reset yet.
        """
        self.client.require("parse", "observation_texts")
        pages = self._requests.pages("observe_text", env_ids, {"legal": bool(legal)})
        return [text for page in pages for text in page["texts"]]

    # -- pictures -----------------------------------------------------------------------

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every row's game, num_envs of them; None without a ``render_mode`` and with ``"human"``.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3), each game a request to the server. ``"human"``
        displays the first game after every reset and step.
        """
        if self.render_mode in (None, "human"):
            return None
        return tuple(shown for i in range(self.num_games) for shown in [self.picture(i)] * self.rows_per_game)

    def _repr_html_(self) -> str:
        """Return what a notebook displays: the game and its size, and pictures of the first games."""
        games = "1 game" if self.num_games == 1 else f"{self.num_games:,} games"
        rows = "" if self.num_envs == self.num_games else f" · {self.num_envs:,} rows"
        words = f"{games}{rows} · {self.game_spec.actions:,} actions · {self.autoreset_mode.value}"
        return page(self.game_spec.id, words, self.picture, self.num_games)

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
        own = {"actions": self._batch.illegal.actions, "illegal": self._batch.illegal.illegal}
        own |= {} if place is None else {"rung": place.tolist()}
        return self._transport.retry(self.client.stats) | {"env": own}

    def ping(self) -> None:
        """Check that the server answers; raise ServerGoneError if it does not."""
        self._transport.retry(self.client.ping)

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; the local server stops if no other environment uses it."""
        self._games.end()
        if self._dropped is not None:
            self._dropped.detach()
        free(self._transport, self._opponents.user, self._own_client)
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
