"""Games on a server that are stepped together: opening, resetting and stepping them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..formats.arguments import copy_actions, game_name, positive, reset_mask
from ..formats.opponents import has_policies
from ..formats.seeding import Seed, check_seeds, reset_requests
from ..formats.spec import BatchedActions, GameSpec
from ..rendering.frames import Frame
from ..rendering.human import Display
from ..rendering.rgb import rgb
from ..rendering.svg import svg
from ..transport.buffer import RolloutBuffer
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from ..transport.session import Session
from .batch import Batch, IllegalActions, Obs, StepResult
from .games import Games
from .infos import FinalStep
from .opening import Opening
from .opponents import OpponentSeats, free
from .options import RENDER_MODES, Options
from .policies import PolicyGames
from .requests import Requests
from .seating import Seating
from .shaping import Shaping

FPS = 4
# Where a step's result goes, if the caller chooses: ``buffer[t]``, or arrays by field.
Out = StepMemory | Mapping[str, NDArray[Any]] | None


class SteppedEnv(VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """Many games that a server steps together: the part of :class:`BlockVectorEnv` that opens and steps them."""

    ignored_action = 0
    _transport: SocketTransport
    _opponents: OpponentSeats | PolicyGames
    _dropped: Any = None

    def __init__(self, game: str, num_envs: int, options: Options) -> None:
        self._own_client = options.client is None
        self._game, self._options = game, options
        if has_policies(options.opponents):
            seating = Seating(game, positive("num_envs", num_envs), options)
            self._transport, spec = PolicyGames(seating), seating.spec
        else:
            opening = Opening(game, options)
            self._transport, spec = opening.transport(num_envs), opening.spec
        try:
            self._build(options, spec, self._transport)
            if isinstance(self._transport, PolicyGames):
                self._take_policies(self._transport)
            else:
                self._opponents = OpponentSeats(self._transport, spec.name, opening.lineup, opening.user)
                self._free_when_dropped()
        except BaseException:
            self._transport.close(self._own_client)
            raise

    def _take_policies(self, games: PolicyGames) -> None:
        record = self._games  # the games do not keep the environment alive
        self._transport = self._requests.transport = self._opponents = games
        self._batch.handle, self._batch.shared_final, self._batch.seating = games.handle, None, games.seating
        games.seating.opened = lambda table: record.join(games.parts_of(table))
        self._free_when_dropped()

    def _free_when_dropped(self) -> None:
        """On a session that stays open, free the games when this environment is collected."""
        if self._dropped is not None:
            self._dropped.detach()
        if not self._own_client:
            closing = partial(free, self._transport, self._opponents.user, False)
            self._dropped = weakref.finalize(self, self.client.connection.dropped.append, closing)
            self._dropped.atexit = False

    def _build(self, options: Options, spec: GameSpec, transport: SocketTransport) -> None:
        """Set the attributes that follow from the game and the options."""
        handle, mode = transport.handle, options.mode
        same_step = mode is AutoresetMode.SAME_STEP
        self._first_seed = check_seeds(options.seed, handle.games)  # of the first reset without a seed of its own
        how = {"packed": options.packed, "with_mask": options.mask, "same_step": same_step}
        self._batch = Batch(spec, handle, IllegalActions(options.illegal), **how)
        self._batch.shared_final = transport.share_final() if same_step else None
        self._batch.shaping = Shaping(spec) if options.reward == "shaped" else None
        self._requests = Requests(transport)
        self._games = Games(self._requests, handle.players)
        self._afterstate_calls = 0  # the seed of the next call of afterstates
        self._added: dict[str, tuple[Any, ...]] = {}  # attributes of rows
        self._screen = Display(FPS) if options.render_mode == "human" else None
        self._seeded = np.zeros(handle.games, np.bool_)
        # The position of a checkpoint and the generation of its memory: while it is the current one, the first reset
        # returns it, whatever its seed.
        self._resumed: tuple[StepMemory, int] | None = None
        self._ring = None if options.copy else transport.ring(options.slots)  # memory that steps overwrite
        self._slot = 0
        self._actions = np.zeros(handle.rows, "<u2")
        self._acted: NDArray[np.bool_] | None = None
        self._pending: tuple[Any, StepMemory, NDArray[np.intp] | None] | None = None
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
        self._requests.check("reset")
        batch, checked = self._batch, check_seeds(seed, self.num_games)
        memory, generation = self._resumed or (None, 0)
        if memory is not None and not options:
            self._resumed = None
            if memory is batch.memory and memory.generation == generation:
                super().reset(seed=seed if isinstance(seed, int) else None)
                return batch.shown()
        if unknown := set(options or ()) - {"reset_mask"}:
            raise ValueError(f"options: unknown {sorted(unknown)}; the only option is 'reset_mask'")
        chosen = np.ones(self.num_games, np.bool_)
        if options and "reset_mask" in options:
            chosen = reset_mask(options["reset_mask"], self.num_envs, self.rows_per_game)
        memory = self._next_memory()
        for request in reset_requests(self._first_seed if checked is None else checked, chosen, self._seeded):
            self._transport.show(memory, "reset", request)
        self._first_seed = self._resumed = None
        self._seeded |= chosen
        self._show(memory)
        super().reset(seed=seed if isinstance(seed, int) else None)
        return batch.shown(batch.rows_of(chosen))

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
        memory, row, before = self._prepare("step", actions, out)
        self._transport.step(row, memory)
        self._show(memory)
        return self._batch.result(memory, before, self._acted, self._new_finals)

    def step_into(self, buffer: RolloutBuffer, t: int = 0) -> None:
        """Step with ``buffer.actions[t]`` into its step t, quickly: nothing is checked, returned or counted."""
        memory = buffer[t]
        self._before_step("step_into")
        assert memory.actions is not None
        self._transport.step(memory.actions, memory)
        self._show(memory)

    def step_async(self, actions: Any, *, out: Out = None) -> None:
        """Send the actions of a step without waiting; :meth:`step_wait` returns the result."""
        memory, row, before = self._prepare("step_async", actions, out)
        self._pending = (self._transport.post_step(row, memory), memory, before)
        self._requests.pending = True

    def step_wait(self) -> StepResult:
        """Wait for the step that :meth:`step_async` sent, and return what :meth:`step` returns."""
        if self._pending is None:
            raise RuntimeError("step_wait: no step is in progress; call step_async first")
        (future, memory, before), self._pending = self._pending, None
        self._requests.pending = False
        self._transport.wait(future)
        self._show(memory)
        return self._batch.result(memory, before, self._acted, self._new_finals)

    # -- the memory of steps --------------------------------------------------------------

    def _before_step(self, method: str) -> None:
        """Refuse a step that may not be made now, and fetch records if it is time."""
        if self._requests.pending or self._requests.closed:
            self._requests.check(method)
        if self._games.sources:
            self._games.fetch()

    def _prepare(
        self, method: str, actions: Any, out: Out
    ) -> tuple[StepMemory, NDArray[np.uint16], NDArray[np.intp] | None]:
        """Return the memory for the result, the actions to send, and each row's seat now if that varies."""
        self._before_step(method)
        batch = self._batch
        last = batch.memory
        before = batch.own_index(last) if batch.varying and last is not None else None
        self._acted = None if last is None else batch.complete(last, False)
        if batch.shaping is not None and last is not None:
            over = np.zeros(batch.num_games, np.bool_) if batch.same_step else last.terminated | last.truncated
            batch.shaping.begin(last.globals, batch.rows_of(over))
        if out is None:
            memory = self._next_memory()
        else:
            memory = out.reuse() if isinstance(out, StepMemory) else StepMemory.over_arrays(batch.handle, out)
        row = self._actions if memory.actions is None else memory.actions
        copy_actions(actions, row, batch.spec.actions, self._acted)
        return memory, row, before

    def _new_finals(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step, for the first time after it."""
        return self._batch.final_step(self._transport.finals(new=True))

    def _next_memory(self) -> StepMemory:
        """Return memory for the next position; the same again until :meth:`_take` gets it."""
        return self._transport.memory() if self._ring is None else self._ring[(self._slot + 1) % len(self._ring)]

    def _take(self, memory: StepMemory) -> None:
        if self._ring is not None and memory is self._next_memory():
            self._slot = (self._slot + 1) % len(self._ring)
            memory.reuse()
        self._batch.memory = memory

    def _show(self, memory: StepMemory) -> None:
        """Make this the current position, and display its first game if the ``render_mode`` is human."""
        self._take(memory)
        if self._screen is not None:
            self._screen.show(partial(self.picture, 0))

    def _resume(self, memory: StepMemory) -> None:
        """Make a position of a checkpoint the current one; the first reset returns it."""
        self._seeded[:] = True
        self._first_seed = None
        self._show(memory)
        self._resumed = (memory, memory.generation)

    def picture(self, game: int = 0, mode: str | None = None) -> Any:
        """Return a picture of one game.

        Args:
            game: index of the game, 0 <= game < num_games.
            mode: ``"text"`` or ``"ansi"`` (text with terminal colours): str; ``"rgb_array"``: uint8 (height, width,
                3); ``"svg"``: a str that notebooks display as a picture. By default the ``render_mode`` of the
                environment, or ``"ansi"``.
        """
        if mode is None:
            mode = self.render_mode if self.render_mode in ("rgb_array", "svg") else "ansi"
        if mode not in ("svg", "rgb_array"):
            return self._requests.call("render", game, {"mode": mode})
        frame = Frame.from_wire(self._requests.call("render", game, {"mode": "frame"}))
        if mode == "rgb_array":
            return rgb(frame)
        name = self.game_spec.id
        return svg(frame, name if self.num_games == 1 else f"{name} · game {game}")


@contextmanager
def asked(game: str | SteppedEnv, address: str | None, **how: Any) -> Iterator[tuple[Session, GameSpec]]:
    """Yield a session for a game, an id or an environment, whose own session it is then; and the game's spec."""
    if not isinstance(game, str):
        yield game.client, game.game_spec
        return
    with Session(address, **how) as session:
        yield session, session.describe(game_name(game))
