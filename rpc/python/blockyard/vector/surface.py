"""What environments show besides playing: rows one by one, texts, pictures, counters; Gymnasium and notebooks ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..errors import BlockyardError, plain
from ..formats.arguments import Ids, game_name
from ..formats.arrays import unpack
from ..formats.checkpoint_file import Checkpoint
from ..formats.opponents import Policy
from ..formats.spec import GameSpec
from ..rendering.svg import Svg, game_picture, page
from ..transport.session import Session
from .batch import Obs
from .checkpoint import resume, save
from .engine import FPS, Engine
from .options import RENDER_MODES, Options
from .recording import end
from .results import LegalActions

E = TypeVar("E", bound="Surface")


class Surface(VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """The part of :class:`BlockVectorEnv` that plays nothing."""

    ignored_action = 0
    """Action of a row that need not act."""
    _engine: Engine
    _given: tuple[str, int, dict[str, Any]]  # the arguments that created it

    def _describe(self) -> None:
        """Set the attributes that follow from the game and the options."""
        engine, spec, handle = self._engine, self._engine.spec, self._engine.transport.handle
        self._batch, self._handle = engine.batch, handle
        self._added: dict[str, tuple[Any, ...]] = {}  # attributes of rows
        self.client, self.game_spec = engine.transport.client, spec
        self.autoreset_mode, self.packed = engine.options.mode, engine.options.packed
        self.render_mode = engine.options.render_mode
        self.num_games, self.seats, self.players = handle.games, handle.seats, handle.players
        self.rows_per_game, self.num_envs = handle.rows_per_game, handle.rows
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": FPS, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = spec.observation_space(self.packed)
        self.single_action_space = spec.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    # -- the current position -----------------------------------------------------------

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

    @property
    def packed_masks(self) -> NDArray[np.uint8]:
        """``action_masks`` as bits: uint8 (num_envs, ceil(actions / 8)), bit a & 7 of byte a >> 3; zero-copy."""
        return self._batch.current.packed_masks()

    def sample_actions(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a random legal action for every row, int64 (num_envs,); ``ignored_action`` if it need not act."""
        return LegalActions.read(self._engine.pages("legal", None)).sample(rng)

    def unpack(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Unpack packed boards, uint8 (..., packed_len), into planes, uint8 (..., C, H, W)."""
        return unpack(bits, self.game_spec)

    @property
    def opponent_specs(self) -> tuple[str, ...]:
        """The opponents that have been in ``opponents`` so far, indexed by ``infos["opponent"]``.

        They are named as you named them. If a weights file has changed between two calls of :meth:`set_opponents`, the
        new content is another opponent, named ``SPEC@`` and the first digits of its SHA-256. Files of the same content
        are one opponent.
        """
        return self._engine.opponents.specs

    def _specs_of(self, opponents: NDArray[np.uint16]) -> list[Any]:
        """Return the specs of what infos have as ``opponent``: one for each row, or a list of them."""
        specs: list[Any] = np.array(self.opponent_specs, object)[opponents].tolist()
        return specs

    # -- single rows --------------------------------------------------------------------

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every row, or get an attribute of every row; return the results, one per row.

        Methods of a row are ``action_masks()``, bool (actions,); ``legal_actions()``, uint16, ascending; ``render()``,
        a picture of its game in the ``render_mode``, None without one; ``picture(mode)``; ``observation_text(legal=)``;
        and ``snapshot()``. Its attributes are ``game``, the index of its game, ``score``, the points of its seat,
        ``game_spec``, ``observation_space``, ``action_space``, ``render_mode``, ``metadata``, ``spec``, and those of
        :meth:`set_attr`. Methods that need the server are one request for all rows; pictures are one per game.

        Raises:
            AttributeError: rows have no such method or attribute.
        """
        if name in self._added:
            return tuple(v(*args, **kwargs) if callable(v) else v for v in self._added[name])
        if own := _ROWS.get(name):
            return tuple(own(self, *args, **kwargs))
        have = ", ".join(sorted({*_ROWS, *self._added}))
        raise AttributeError(f"rows have no attribute {name!r}, they have {have}; set_attr adds attributes")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every row; as in Gymnasium, a method is called without arguments."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Give every row an attribute, for :meth:`get_attr` and :meth:`call`; ``opponents`` replaces the opponents.

        Args:
            name: of the attribute; not one that rows have anyway, or another argument of make_vec, which raises
                AttributeError.
            values: a list or tuple with one value per row (ValueError: another length); anything else is the value of
                all rows.
        """
        if name == "opponents":
            return self._engine.set_opponents(values)
        if name in _ROWS or name in Options.__dataclass_fields__:
            what = "cannot be changed: create another environment, or choose another name"
            raise AttributeError(f"set_attr: {name!r} {what}")
        out = tuple(values) if isinstance(values, (list, tuple)) else (values,) * self.num_envs
        if len(out) != self.num_envs:
            raise ValueError(f"set_attr({name!r}): got {len(out)} values, want one for each of {self.num_envs} rows")
        self._added[name] = out
        return None

    # -- text, pictures -----------------------------------------------------------------

    @overload
    def text(self, actions: int | np.integer[Any]) -> str: ...
    @overload
    def text(self, actions: Sequence[int] | NDArray[Any]) -> list[str]: ...
    def text(self, actions: Any) -> str | list[str]:
        """Return an action as text, such as ``"r2 x4 y17 spin"``; or a list of texts for several actions.

        RequestError: an action is outside of the action space.
        """
        self._engine.check("text")
        texts: str | list[str] = self._engine.transport.retry(lambda: self.client.text(self.game_spec.name, actions))
        return texts

    @overload
    def parse(self, texts: str) -> int: ...
    @overload
    def parse(self, texts: list[str] | tuple[str, ...]) -> NDArray[np.int64]: ...
    def parse(self, texts: str | list[str] | tuple[str, ...]) -> int | NDArray[np.int64]:
        """Return the action that a text stands for, the inverse of :meth:`text`; or int64 (n,) for several texts.

        Whether the action is legal now is another question: see ``action_masks``. RequestError: a text is no action;
        the message shows it, and an example of one that is.
        """
        self._engine.check("parse")
        return self._engine.transport.retry(lambda: self.client.parse(self.game_spec.name, texts))

    def observation_texts(self, env_ids: Ids = None, *, legal: bool = True) -> list[str]:
        """Return the observation of each row of these games as plain text without colour codes.

        A text says whose turn it is, shows the position and the pieces to come, as far as they are known, and, with
        legal, lists the legal actions as :meth:`text` writes them, separated by ``"; "``. NeedsResetError: the
        environment was not reset yet.
        """
        pages = self._engine.pages("observe_text", env_ids, {"legal": bool(legal)})
        return [plain(text) for page in pages for text in page["texts"]]

    def picture(self, game: int = 0, mode: str | None = None) -> Any:
        """Return a picture of one game.

        Args:
            game: index of the game, 0 <= game < num_games.
            mode: ``"text"`` or ``"ansi"`` (text with terminal colours): str; ``"rgb_array"``: uint8 (height, width,
                3); ``"svg"``: a str that notebooks display as a picture. By default the ``render_mode`` of the
                environment, or ``"ansi"``.
        """
        return self._engine.picture(game, mode or ("rgb_array" if self.render_mode == "rgb_array" else "ansi"))

    def _repr_html_(self) -> str:
        """Return what a notebook displays: the game and its size, and pictures of the first games."""
        games = "1 game" if self.num_games == 1 else f"{self.num_games:,} games"
        rows = "" if self.num_envs == self.num_games else f" · {self.num_envs:,} rows"
        words = f"{games}{rows} · {self.game_spec.actions:,} actions · {self.autoreset_mode.value}"
        return page(self.game_spec.id, words, self.picture, self.num_games)

    def _repr_svg_(self) -> Svg | None:
        """Return a picture of the first game, for viewers without HTML; None if there is none now."""
        return game_picture(self.picture)

    def __repr__(self) -> str:
        rows = f"num_envs={self.num_envs}" + (f", num_games={self.num_games}" if self.rows_per_game > 1 else "")
        seats = "seat " if len(self.players) == 1 else "seats "
        players = seats + ", ".join(map(str, self.players))
        state = f"{self.autoreset_mode.value}, {self.transport}" + (", closed" if self.closed else "")
        name = self.spec.id if self.spec else self.game_spec.id
        return f"{type(self).__name__}({name}, {rows}, you drive {players} of {self.seats}, {state})"

    # -- the server -----------------------------------------------------------------------

    @property
    def transport(self) -> str:
        """Transport of steps: ``"inproc"``, ``"shm"``, ``"socket"``, or ``"split"`` for several servers."""
        return self._engine.transport.name

    def stats(self) -> dict[str, Any]:
        """Return counters: those of the server, and as ``env`` those of this environment.

        ``env`` has ``actions``, the number of actions of rows that had to act, and ``illegal``, the number of those
        that were illegal and were replaced; in a curriculum also ``rung``, the place of each game.
        """
        place = None if self._batch.memory is None else self._batch.places(self._batch.memory)
        own = {"actions": self._batch.illegal.actions, "illegal": self._batch.illegal.illegal}
        own |= {} if place is None else {"rung": place.tolist()}
        return self._engine.transport.retry(self.client.stats) | {"env": own}

    def ping(self) -> None:
        """Check that the server answers; raise ServerGoneError if it does not."""
        self._engine.transport.retry(self.client.ping)

    # -- copies, the end ------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy: as another environment, whose games continue those of this one. A recording is not copied.

        TypeError: it is on a connection that others use too, or its opponents cannot be continued.
        """
        game, num_envs, given = self._given
        how = "save its games with checkpoint() or snapshot(); clone() copies games within an environment"
        if not self._engine.own_client:
            raise TypeError(f"an environment on a shared connection cannot be copied or pickled: {how}")
        options, data = {key: value for key, value in given.items() if key != "record"}, None
        if self._batch.memory is not None:
            try:
                self._engine.check("checkpoint")
                data = save([self._engine]).to_bytes()
            except (BlockyardError, RuntimeError) as error:
                raise TypeError(f"this environment cannot be copied or pickled: {error}; {how}") from error
            options |= {"seed": None, "checkpoint": None}
        return _again, (type(self), game, num_envs, options, data, dict(self._engine.opponents.policies.by_name))

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; the local server stops if no other environment uses it."""
        end(self._engine)
        self._engine.close()

    def __del__(self) -> None:
        """Do nothing, unlike Gymnasium before 1.4: closing here could interrupt another environment's request."""

    def __enter__(self: E) -> E:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _again(
    kind: Callable[..., Surface],
    game: str,
    num_envs: int,
    options: dict[str, Any],
    data: bytes | None,
    policies: dict[str, Policy],
) -> Surface:
    """Create a copy of an environment with its games and the policies of now; a reset starts new episodes there."""
    env = kind(game, num_envs, **options)
    if data is not None:
        env._engine.opponents.policies.use(policies)
        resume([env._engine], Checkpoint.from_bytes(data))
        env._engine.resumed = None
    return env


def _per_game(values: Callable[..., Sequence[Any]]) -> Callable[..., list[Any]]:
    """Return what gives each row the value of its game."""
    return lambda env, *args, **how: [value for value in values(env, *args, **how) for _ in range(env.rows_per_game)]


def _pictures(env: Any, mode: str | None = None) -> list[Any]:
    return [env.picture(game, mode) for game in range(env.num_games)]


def _scores(env: Any) -> list[int]:
    batch = env._batch
    scores: list[int] = batch.per_row(batch.current.score, batch.own_index(batch.current)).tolist()
    return scores


def _same(name: str) -> Callable[..., list[Any]]:
    """Return what gives all rows an attribute of the vector environment."""
    return lambda env: [getattr(env, name)] * env.num_envs


# The methods and attributes of rows, of which each entry returns those of all rows; see :meth:`Surface.call`.
_ROWS: dict[str, Callable[..., Sequence[Any]]] = {
    "action_masks": lambda env: list(env.action_masks),
    "legal_actions": lambda env: list(env.legal_actions()),
    "render": lambda env: env.render() or [None] * env.num_envs,
    "observation_text": lambda env, legal=True: env.observation_texts(legal=legal),
    "picture": _per_game(_pictures),
    "snapshot": _per_game(lambda env: env.snapshot()),
    "game": _per_game(lambda env: range(env.num_games)),
    "score": _scores,
    "observation_space": _same("single_observation_space"),
    "action_space": _same("single_action_space"),
    **{name: _same(name) for name in ("game_spec", "render_mode", "metadata", "spec")},
}


@contextmanager
def asked(game: str | Surface, address: str | None, **how: Any) -> Iterator[tuple[Session, GameSpec]]:
    """Yield a session for a game, an id or an environment, whose own session it is then; and the game's spec."""
    if not isinstance(game, str):
        yield game.client, game.game_spec
        return
    with Session(address, **how) as session:
        yield session, session.describe(game_name(game))
