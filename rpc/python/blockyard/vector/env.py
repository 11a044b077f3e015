"""The vector environment. ``engine.py`` has its games, ``rows.py`` its rows one by one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, overload

import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..errors import BlockyardError, on_error, plain
from ..formats.arguments import Ids, Seed, check_seed, check_seeds, game_ids, game_name, one_of, positive, reset_options
from ..formats.arrays import unpack
from ..formats.checkpoint_file import Checkpoint
from ..formats.opponents import Policy
from ..formats.spec import GameSpec
from ..rendering.svg import Svg, game_picture, page
from ..transport.memory import RolloutBuffer
from ..transport.session import Session
from .batch import Obs, StepResult
from .checkpoint import resume
from .engine import FPS, Engine, Out
from .games import Games
from .infos import FinalStep
from .options import RENDER_MODES, Options
from .recording import end
from .results import Afterstates, LegalActions, Rollout
from .rows import ROWS


class BlockVectorEnv(Games, VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """Many games that the server steps together; a ``gymnasium.vector.VectorEnv``.

    One row is one seat that the client drives, by default one in each game. With ``opponents=None`` a game of two seats
    has two rows, next to each other in every array: row i is game ``i // rows_per_game``, seat
    ``players[i % rows_per_game]``, with that seat's observation, action and reward. ``num_envs`` counts rows.

    In turn-based games the rows of the other seats wait. A waiting row goes on observing the game and receives its
    seat's rewards, and the end of the game ends the episode of all its rows in the same step. Its only legal action is
    ``ignored_action``, 0, and whatever action it is given is ignored.

    Observations are dicts of ``planes``, uint8 (num_envs, C, H, W), and ``globals``, float32 (num_envs, G).
    With ``packed=True``, ``bits`` replaces ``planes``; :meth:`unpack` converts them. Rewards are float64
    (num_envs,), ``terminated`` and ``truncated`` bool (num_envs,).

    With ``actions="afterstates"`` an action is the index of a candidate: of one of the row's legal actions, or of
    ``candidates`` of them, evenly spaced, if there are more. The n candidates of a row are in ascending order of their
    ids and come first; the other entries, up to n = ``single_action_space.n``, are zero. Observations are

    ===============  ==========================  =========================================================
    ``features``     float32 (num_envs, n, F)    of the position after the seat alone has played the candidate, see
                                                 :func:`blockyard.features`; zero if the game is over then
    ``reward``       float32 (num_envs, n)       the reward of the seat for it
    ``done``         uint8 (num_envs, n)         1 if the game is over then
    ``mask``         uint8 (num_envs, n)         1 where there is a candidate; as ``action_mask``
    ===============  ==========================  =========================================================

    With ``actions="afterstate_planes"``, ``planes``, uint8 (num_envs, n, C, H, W), and ``globals``, float32
    (num_envs, n, G), replace ``features``. Random draws, such as the next piece, are those of
    ``afterstates([game], seed=steps)``, with the number of steps in the episode. ``final_obs`` and the ``action_mask``
    in ``final_info`` are those before the last action, since a position at the end has no candidates.

    Infos are

    ===============  ==========================  =========================================================
    ``action_mask``  bool (num_envs, actions)    True where an action is legal; unpacked when first read
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

    Methods raise RuntimeError between :meth:`step_async` and :meth:`step_wait`, BlockyardError after close,
    NeedsResetError before the first reset, if they need a position, and TypeError or ValueError if an argument is
    malformed.

    Attributes:
        game_spec: the game's specification.
        num_games, rows_per_game: number of games, and rows of each.
        players, seats: the seats that the client drives, ascending, and the number of seats of each game.
        client: the session with the server; with several servers, the first.
        autoreset_mode, packed: as in :func:`blockyard.make_vec`.
        engine: the games behind it, for the rest of this package.
    """

    ignored_action = 0
    """Action of a row that need not act."""

    def __init__(self, game: str, num_envs: int = 1, **options: Any) -> None:
        """Create the environment.

        Args:
            game, num_envs: as in :func:`blockyard.make_vec`.
            **options: other arguments of :func:`blockyard.make_vec`; and ``client``, a session to use instead of a new
                connection, and ``first``, the index of the first game of a part of a larger environment.
        """
        chosen = Options.of(options)
        self._given = (game, num_envs, options)
        self.engine = Engine(game, num_envs, chosen)
        self.engine.free_with(self)
        with on_error(self.close):
            engine, spec, handle = self.engine, self.engine.spec, self.engine.transport.handle
            self._batch = engine.batch
            self._added: dict[str, tuple[Any, ...]] = {}  # attributes of rows
            self.client, self.game_spec = engine.transport.client, spec
            self.autoreset_mode, self.packed = engine.options.mode, engine.options.packed
            self.render_mode = engine.options.render_mode
            self.num_games, self.seats, self.players = handle.games, handle.seats, handle.players
            self.rows_per_game, self.num_envs = handle.rows_per_game, handle.rows
            self.metadata = {"render_modes": RENDER_MODES, "render_fps": FPS, "autoreset_mode": self.autoreset_mode}
            self.single_observation_space = engine.batch.observation_space()
            self.single_action_space = engine.batch.action_space()
            self.observation_space = batch_space(self.single_observation_space, self.num_envs)
            self.action_space = batch_space(self.single_action_space, self.num_envs)
            self._record_as(chosen.record)
            self._resume(chosen.checkpoint)

    # -- playing ----------------------------------------------------------------------

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: an int s seeds game i with s + i; a list seeds each game separately, with None for a game without a
                seed. A game without a seed continues its own sequence if it was seeded before; otherwise it is
                seeded from the operating system's entropy. The first reset of an environment that was created from a
                checkpoint continues its games instead, whatever the seed.
            options: ``{"reset_mask": bool (num_envs,)}`` resets only the selected rows. ``{"state": states}`` begins
                episodes with states of :meth:`snapshot`: its array, or a list with an array, bytes or None for each
                game; a game with None begins as by default. Both may be given: the mask selects. The dict is not
                modified.

        Returns:
            The observations of all rows, and infos, which are valid in the rows that were reset.

        Raises:
            BadStateError: an array is not a state of this game; the games have begun as by default.
        """
        self.engine.check("reset")
        seeds, state_len = check_seeds(seed, self.num_games), self._batch.handle.state_len
        chosen, put = reset_options(options, self.num_games, self.rows_per_game, state_len)
        super().reset(seed=seed if isinstance(seed, int) else None)
        shown = self.engine.reset(seeds, chosen)
        if put is not None and len(put[1]):
            self.engine.restore(*put, None)
            shown = self._batch.shown(None if chosen is None else self._batch.rows_of(chosen))
        return shown

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
        """
        memory, row, before = self.engine.prepare("step", actions, out)
        self.engine.transport.step(row, memory)
        return self.engine.finish(memory, before)

    def step_into(self, buffer: RolloutBuffer, t: int = 0) -> None:
        """Step with ``buffer.actions[t]`` into its step t, quickly: actions are not checked or counted."""
        if self.engine.options.actions != "ids":
            raise RuntimeError("step_into: a buffer has ids of actions, and these are afterstates: step(out=buffer[t])")
        memory = buffer[t]
        memory.check(self._batch.handle)
        self.engine.before_step("step_into")
        assert memory.actions is not None
        self.engine.transport.step(memory.actions, memory)
        self.engine.show(memory)

    def step_async(self, actions: Any, *, out: Out = None) -> None:
        """Send the actions of a step without waiting; :meth:`step_wait` returns the result."""
        memory, row, before = self.engine.prepare("step_async", actions, out)
        self.engine.pending = (self.engine.transport.post_step(row, memory), memory, before)

    def step_wait(self) -> StepResult:
        """Wait for the step that :meth:`step_async` sent, and return what :meth:`step` returns."""
        if self.engine.pending is None:
            raise RuntimeError("step_wait: no step is in progress; call step_async first")
        (future, memory, before), self.engine.pending = self.engine.pending, None
        self.engine.check("step_wait")
        self.engine.transport.wait(future)
        return self.engine.finish(memory, before)

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every row's game, num_envs of them; None without a ``render_mode`` and with ``"human"``.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3), each game a request to the server. ``"human"``
        displays the first game after every reset and step.
        """
        if self.render_mode in (None, "human"):
            return None
        return tuple(shown for i in range(self.num_games) for shown in [self.picture(i)] * self.rows_per_game)

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions now: bool (num_envs, actions); only id 0 for a row that need not act.

        RuntimeError: the environment was created with ``mask=False``.
        """
        return self._batch.masks(self._batch.current)

    def legal_actions(self, env_ids: Ids = None) -> LegalActions:
        """Return the legal actions of the rows of these games, in CSR form."""
        return LegalActions.read(self.engine.pages("legal", env_ids))

    def afterstates(self, env_ids: Ids = None, *, seed: int | None = None) -> Afterstates:
        """Return the position after each legal action of the rows of these games, by default of all.

        The result is large, in Block Battle about 35 positions per row: request a part of the games at a time to save
        memory. ``seed`` draws the next piece and the like, the same for all actions of a row and different for every
        row, whichever other games are in env_ids; None: different draws in each call.
        """
        self.engine.afterstate_calls += 1
        options = {"seed": self.engine.afterstate_calls if seed is None else check_seed(seed)}
        pages, spec = self.engine.pages("afterstates", env_ids, options), self.game_spec
        return Afterstates.read(pages, planes=spec.planes_shape, globals=(len(spec.global_names),))

    def final(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step; call it right after that step."""
        self.engine.check("final")
        return self._batch.final_step(self.engine.transport.finals())

    # -- states, rollouts ---------------------------------------------------------------

    def snapshot(self, env_ids: Ids = None) -> NDArray[np.uint8]:
        """Return the complete state of these games, uint8 (games, state_len).

        Another environment or server with the same game, rules version and number of seats can restore it. The internal
        state of the server's opponents is not part of it.
        """
        self.engine.check("snapshot")
        return self.engine.transport.states(game_ids(env_ids, self.num_games))

    def restore(
        self, states: NDArray[np.uint8], env_ids: Ids = None, *, reseed: int | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Restore states, uint8 (len(env_ids), state_len), rows of :meth:`snapshot`, in these games, by default in all.

        With ``reseed``, everything hidden is redrawn from this seed and the game's index, so that copies of a position
        have different futures; without, the future is that of the snapshot. Returns the observations and infos of all
        rows. BadStateError: a row is not a state of this game, and no game has changed, unless the states needed more
        than one message.
        """
        return self.engine.restore(states, env_ids, reseed)

    def clone(self, src: Ids, dst: Ids, *, reseed: int | None = None) -> tuple[Obs, dict[str, Any]]:
        """Copy the states of games src to as many games dst, pair by pair; reseed and result as in :meth:`restore`.

        An index may appear more than once in src, and once in dst.
        """
        return self.engine.clone(src, dst, reseed)

    def buffer(self, steps: int) -> RolloutBuffer:
        """Return a rollout buffer for this many steps: ``step(actions, out=buffer[t])`` or ``rollout(buffer)`` fill it.

        With shared memory the server writes into it directly, so nothing is copied.
        """
        return self.engine.transport.buffer(positive("steps", steps))

    def rollout(
        self, steps: int | RolloutBuffer, policy: str = "random", *, keep: Literal["all", "last"] = "all"
    ) -> Rollout:
        """Let the server play the driven seats too, without a message per step.

        Games that end are reset, in every autoreset mode. The actions depend on the seeds of the games only, so one
        long rollout plays the same as several short ones.

        Args:
            steps: number of steps, 1 to 1,000,000; or a buffer to fill.
            policy: of the driven seats: a spec of ``game_spec.opponents``; a local file of weights is uploaded.
                RequestError: the server does not know it. LimitError: it needs more memory than the server allows.
            keep: ``"all"`` returns every step, ``"last"`` only the last.
        """
        self.engine.check("rollout")
        policy, transport = self.engine.opponents.send_policy(policy), self.engine.transport
        one_of("keep", keep, ("all", "last"))
        if isinstance(steps, RolloutBuffer):
            count, buffer = steps.steps, steps
            buffer.memories[0].check(self._batch.handle)
        else:
            count = positive("steps", steps)
            if keep == "last" and count > 1:
                transport.skip(count - 1, policy, self.engine.fetch)
            buffer = self.buffer(1 if keep == "last" else count)
        transport.rollout(buffer, policy, self.engine.fetch)
        for t in range(len(buffer)):
            self._batch.complete(buffer[t], self._batch.same_step)
        self.engine.take(buffer.memory(len(buffer) - 1))
        return Rollout(buffer, count)

    def restore_checkpoint(self, data: bytes) -> tuple[Obs, dict[str, Any]]:
        """Continue the games of a checkpoint, exactly as the environment that was saved would have.

        See docs/checkpoint.md for what may differ between the two. The opponents become those of the checkpoint; the
        record leaves out the episodes that were in progress. Returns the observations and infos of all rows.

        Raises:
            CheckpointError: data is no checkpoint, damaged, of another version, of another environment, or the server
                lacks an opponent or does not allow it; the message says which. Whatever the bytes are, there is no
                other error of theirs. Nothing has changed, unless the games needed more than one message or server, or
                have policies as opponents: then restore again or reset.
        """
        self.engine.check("restore_checkpoint")
        resume(self.engine, Checkpoint.from_bytes(data))
        self.engine.resumed = None
        return self._batch.shown()

    # -- the current position -----------------------------------------------------------

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Which rows must act in the next step: bool (num_envs,)."""
        return self._batch.complete(self._batch.current, False).copy()

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
        return self._batch.packed_masks(self._batch.current)

    def sample_actions(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a random legal action for every row, int64 (num_envs,); ``ignored_action`` if it need not act."""
        legal = self._batch.legal(self._batch.current) or LegalActions.read(self.engine.pages("legal", None))
        return legal.sample(rng)

    @property
    def candidate_ids(self) -> NDArray[np.uint16]:
        """With ``actions="afterstates"``, the id of each candidate, uint16 (num_envs, n); 65535 where there is none.

        :meth:`text`, :meth:`legal_actions`, :meth:`afterstates`, rollouts and records have actions as these ids.
        """
        return self._batch.current.arrays["candidate"].copy()

    def unpack(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Unpack packed boards, uint8 (..., packed_len), into planes, uint8 (..., C, H, W)."""
        return unpack(bits, self.game_spec)

    def specs_of(self, opponents: NDArray[np.uint16]) -> list[Any]:
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
        if own := ROWS.get(name):
            return tuple(own(self, *args, **kwargs))
        have = ", ".join(sorted({*ROWS, *self._added}))
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
            return self.engine.set_opponents(values)
        if name in ROWS or name in Options.__dataclass_fields__:
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
        self.engine.check("text")
        texts: str | list[str] = self.engine.transport.retry(lambda: self.client.text(self.game_spec.name, actions))
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
        self.engine.check("parse")
        return self.engine.transport.retry(lambda: self.client.parse(self.game_spec.name, texts))

    def observation_texts(self, env_ids: Ids = None, *, legal: bool = True) -> list[str]:
        """Return the observation of each row of these games as plain text without colour codes.

        A text says whose turn it is, shows the position and the pieces to come, as far as they are known, and, with
        legal, lists the legal actions as :meth:`text` writes them, separated by ``"; "``. NeedsResetError: the
        environment was not reset yet.
        """
        pages = self.engine.pages("observe_text", env_ids, {"legal": bool(legal)})
        return [plain(text) for page in pages for text in page["texts"]]

    def picture(self, game: int = 0, mode: str | None = None) -> Any:
        """Return a picture of one game.

        Args:
            game: index of the game, 0 <= game < num_games.
            mode: ``"text"`` or ``"ansi"`` (text with terminal colours): str; ``"rgb_array"``: uint8 (height, width,
                3); ``"svg"``: a str that notebooks display as a picture. By default the ``render_mode`` of the
                environment, or ``"ansi"``.
        """
        return self.engine.picture(game, mode or ("rgb_array" if self.render_mode == "rgb_array" else "ansi"))

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
        return self.engine.transport.name

    def stats(self) -> dict[str, Any]:
        """Return counters: those of the server, and as ``env`` those of this environment.

        ``env`` has ``actions``, the number of actions of rows that had to act, and ``illegal``, the number of those
        that were illegal and were replaced; in a curriculum also ``rung``, the place of each game.
        """
        place = None if self._batch.memory is None else self._batch.places(self._batch.memory)
        own = {"actions": self._batch.illegal.actions, "illegal": self._batch.illegal.illegal}
        own |= {} if place is None else {"rung": place.tolist()}
        return self.engine.transport.retry(self.client.stats) | {"env": own}

    def ping(self) -> None:
        """Check that the server answers; raise ServerGoneError if it does not."""
        self.engine.transport.retry(self.client.ping)

    # -- copies, the end ------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy: as another environment, whose games continue those of this one. A recording is not copied.

        TypeError: it is on a connection that others use too, or its opponents cannot be continued.
        """
        game, num_envs, given = self._given
        how = "save its games with checkpoint() or snapshot(); clone() copies games within an environment"
        if not self.engine.own_client:
            raise TypeError(f"an environment on a shared connection cannot be copied or pickled: {how}")
        options, data = {key: value for key, value in given.items() if key != "record"}, None
        if self._batch.memory is not None:
            try:
                data = self.checkpoint()
            except (BlockyardError, RuntimeError) as error:
                raise TypeError(f"this environment cannot be copied or pickled: {error}; {how}") from error
            options |= {"seed": None, "checkpoint": None}
        return _again, (type(self), (game, num_envs, options), data, dict(self.engine.opponents.policies.by_name))

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; the local server stops if no other environment uses it."""
        end(self.engine)
        self.engine.close()

    def __del__(self) -> None:
        """Do nothing, unlike Gymnasium before 1.4: closing here could interrupt another environment's request."""


def _again(kind: Any, given: Any, data: bytes | None, policies: dict[str, Policy]) -> BlockVectorEnv:
    """Create a copy of an environment with its games and the policies of now; a reset starts new episodes there."""
    game, num_envs, options = given
    env: BlockVectorEnv = kind(game, num_envs, **options)
    if data is not None:
        env.engine.opponents.policies.use(policies)
        resume(env.engine, Checkpoint.from_bytes(data))
        env.engine.resumed = None
    return env


def vector_of(env: Any) -> BlockVectorEnv:
    """Return the vector environment that env is, or has below its wrappers; TypeError if it has none."""
    own = getattr(env, "unwrapped", env)
    own = getattr(own, "vector", own)
    if not isinstance(own, BlockVectorEnv):
        raise TypeError(f"want the id of a game or an environment of this package, got {env!r:.100}")
    return own


@contextmanager
def asked(game: str | BlockVectorEnv, address: str | None, **how: Any) -> Iterator[tuple[Session, GameSpec]]:
    """Yield a session for a game, an id or an environment, whose own session it is then; and the game's spec."""
    if not isinstance(game, str):
        env = vector_of(game)
        yield env.client, env.game_spec
        return
    with Session(address, **how) as session:
        yield session, session.describe(game_name(game))
