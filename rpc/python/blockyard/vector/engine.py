"""The games behind an environment: where they are played, the memory of their steps, and who plays the other seats."""

import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, on_error, plain
from ..formats.arguments import Ids, check_seed, check_seeds, copy_actions, game_ids, reset_requests
from ..formats.opponents import Opponents, OpponentStats
from ..rendering.human import Display
from ..rendering.svg import Svg
from ..transport.memory import StepMemory
from .afterstates import AfterstateBatch
from .batch import Batch, Index, Obs, Rows, StepResult
from .opening import Opening
from .opponents import OpponentSeats
from .options import Options

FPS = 4
# Where a step's result goes, if the caller chooses: ``buffer[t]``, or arrays by field.
Out = StepMemory | Mapping[str, NDArray[Any]] | None
Shown = tuple[Obs, dict[str, Any]]
Prepared = tuple[StepMemory, NDArray[np.uint16], Index]


class Engine:
    """The games of one environment on its servers.

    Attributes:
        transport, opponents: what moves the steps, and who plays the other seats.
        batch: reads the memory of steps.
        ring: memory that steps overwrite in turn; None with ``copy=True``.
        first_seed: of the first reset without a seed of its own.
        resumed: the position of a checkpoint and the generation of its memory: while it is the current one, the first
            reset returns it, whatever its seed.
        pending: the step in progress.
        afterstate_calls: the seed of the last call of afterstates without one.
        fetch: called before steps; None if nothing is recorded.
        recording: the current or last Recording; None if there was none.
        ends: called when the owner of the games is collected without close, the last first.
    """

    def __init__(self, game: str, num_envs: int, options: Options) -> None:
        """Open the games."""
        self.game, self.options, self.own_client = game, options, options.client is None
        self.pending: tuple[Any, StepMemory, Index] | None = None
        self.closed = False
        self._dropped: weakref.finalize[..., Any] | None = None
        self.ends: list[Callable[[], object]] = []
        self.fetch: Callable[[], None] | None = None
        self.recording: Any = None
        opening = Opening(game, options)
        self.transport, self.spec = opening.transport(num_envs), opening.spec
        with on_error(partial(self.transport.close, self.own_client)):
            handle = self.transport.handle
            self.first_seed = check_seeds(options.seed, handle.games)
            self.batch = (Batch if options.actions == "ids" else AfterstateBatch)(self.spec, handle, options)
            self._seeded = np.zeros(handle.games, np.bool_)
            self.resumed: tuple[StepMemory, int] | None = None
            self.ring = None if options.copy else self.transport.buffer(options.slots).memories
            self._slot, self.afterstate_calls = 0, 0
            self._actions = np.zeros(handle.rows, "<u2")
            self._acted: Rows = None
            self._screen = Display(FPS) if options.render_mode == "human" else None
            self.opponents = OpponentSeats(self.transport, opening)
            self.batch.rungs = self.opponents.rungs

    # -- requests ---------------------------------------------------------------------

    def check(self, method: str) -> None:
        """Refuse a method of the environment: by RuntimeError in a step, by BlockyardError when it is closed."""
        if self.pending is not None:
            raise RuntimeError(f"{method}: a step is in progress; call step_wait first")
        if self.closed:
            raise BlockyardError(f"{method}: the environment is closed; create a new one")

    def call(self, method: str, *params: Any) -> Any:
        """Call a method of the server about the games."""
        self.check(method)
        return self.transport.call(method, *params)

    def pages(self, method: str, env_ids: Ids, *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a request about games; yield the answers, each for as many games as fit into one message."""
        self.check(method)
        return self.transport.pages(method, game_ids(env_ids, self.batch.num_games), *options)

    def picture(self, game: int, mode: str) -> Any:
        """Return a picture of one game; see :meth:`BlockVectorEnv.picture`."""
        if mode == "rgb_array":
            shown = self.call("render", game, {"mode": "rgb"})
            return np.frombuffer(shown["pixels"], np.uint8).reshape(shown["height"], shown["width"], 3).copy()
        if mode == "svg":
            title = self.spec.id if self.batch.num_games == 1 else f"{self.spec.id} · game {game}"
            return Svg.from_server(self.call("render", game, {"mode": "svg", "title": title}))
        return plain(str(self.call("render", game, {"mode": mode})), colours=mode == "ansi")

    # -- steps ------------------------------------------------------------------------

    def before_step(self, method: str) -> None:
        """Refuse a step that may not be made now, and fetch records if it is time."""
        if self.pending is not None or self.closed:
            self.check(method)
        if self.fetch is not None:
            self.fetch()

    def prepare(self, method: str, actions: Any, out: Out) -> Prepared:
        """Return the memory for the result, the actions to send, and each row's seat now if that varies."""
        self.before_step(method)
        batch = self.batch
        last = batch.memory
        before = batch.own_index(last) if batch.varying and last is not None else None
        self._acted = None if last is None else batch.complete(last, False)
        if out is None:
            memory = self.next_memory()
        elif isinstance(out, StepMemory):
            out.check(batch.handle)
            memory = out.reuse()
        else:
            memory = StepMemory.over_arrays(batch.handle, out)
        row = self._actions if memory.actions is None else memory.actions
        copy_actions(actions, row, batch.choices, self._acted)
        if last is not None and self._acted is not None:
            batch.to_ids(row, last, memory, self._acted)
        return memory, row, before

    def finish(self, memory: StepMemory, before: Index) -> StepResult:
        """Return what a step into memory returns; before as :meth:`prepare` returned it."""
        self.show(memory)
        return self.batch.result(memory, before, self._acted, lambda: self.transport.finals(memory))

    def next_memory(self) -> StepMemory:
        """Return memory for the next position; the same again until :meth:`take` gets it."""
        return self.transport.memory() if self.ring is None else self.ring[(self._slot + 1) % len(self.ring)]

    def take(self, memory: StepMemory) -> None:
        """Make this the current position."""
        if self.ring is not None and memory is self.next_memory():
            self._slot = (self._slot + 1) % len(self.ring)
            memory.reuse()
        self.batch.memory = memory

    def show(self, memory: StepMemory) -> None:
        """Make this the current position, and display its first game if the ``render_mode`` is human."""
        self.take(memory)
        if self.opponents.policies.by_name:
            self.opponents.seen(memory.arrays["opponent"])
        if self._screen is not None:
            self._screen.show(partial(self.picture, 0))

    # -- positions ----------------------------------------------------------------------

    def reset(self, seeds: int | list[int | None] | None, chosen: Rows) -> Shown:
        """Start new episodes in games, by default in all; see :meth:`BlockVectorEnv.reset`."""
        resumed, self.resumed = self.resumed, self.resumed if chosen is not None else None
        if resumed is not None and chosen is None:
            memory, generation = resumed
            if memory is self.batch.memory and memory.generation == generation:
                return self.batch.shown()
        if chosen is None:
            chosen = np.ones(self.batch.num_games, np.bool_)
        memory = self.next_memory()
        for request in reset_requests(self.first_seed if seeds is None else seeds, chosen, self._seeded):
            self.transport.show(memory, "reset", request)
        self.first_seed = self.resumed = None
        self._seeded |= chosen
        self.show(memory)
        return self.batch.shown(self.batch.rows_of(chosen))

    def resume(self, memory: StepMemory) -> None:
        """Make a position of a checkpoint the current one; the first reset returns it."""
        self._seeded[:] = True
        self.first_seed, self.opponents.policies.broken = None, False
        self.show(memory)
        self.resumed = (memory, memory.generation)

    def restore(self, states: NDArray[np.uint8], env_ids: Ids, reseed: int | None) -> Shown:
        """Restore states; see :meth:`BlockVectorEnv.restore`."""
        self.check("restore")
        ids, width = game_ids(env_ids, self.batch.num_games), self.batch.handle.state_len
        rows = np.ascontiguousarray(states)
        if rows.dtype != np.uint8 or rows.shape != (len(ids), width):
            raise ValueError(f"states: want uint8 ({len(ids)}, {width}), got {rows.dtype} {rows.shape}")
        shown = self._changed(self.transport.restore, ids, rows, reseed)
        if self.opponents.policies.broken and len(np.unique(ids)) == self.batch.num_games:
            self.opponents.policies.broken = False
        return shown

    def clone(self, src: Ids, dst: Ids, reseed: int | None) -> Shown:
        """Copy states; see :meth:`BlockVectorEnv.clone`."""
        self.check("clone")
        source, target = game_ids(src, self.batch.num_games, "src"), game_ids(dst, self.batch.num_games, "dst")
        if len(source) != len(target):
            raise ValueError(f"clone: {len(source)} sources for {len(target)} targets, want equal numbers")
        return self._changed(self.transport.clone, source, target, reseed)

    def _changed(self, change: Callable[..., None], ids: Any, what: Any, reseed: int | None) -> Shown:
        memory = self.next_memory()
        change(memory, ids, what, {} if reseed is None else {"reseed": check_seed(reseed, "reseed")})
        self.show(memory)
        return self.batch.shown()

    # -- opponents, the end -----------------------------------------------------------

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents; see :meth:`BlockVectorEnv.set_opponents`."""
        self.check("set_opponents")
        self.opponents.set(opponents)
        self.batch.rungs = self.opponents.rungs

    def opponent_stats(self, reset: bool) -> dict[str, OpponentStats]:
        """Return the results against each opponent; see :meth:`BlockVectorEnv.opponent_stats`."""
        self.check("opponent_stats")
        return self.opponents.stats(reset)

    def free_with(self, owner: object) -> None:
        """When their owner is collected, end what is in progress; on a session that stays open, free the games."""
        ends = partial(_call_all, self.ends)
        if self.own_client:
            self._dropped = weakref.finalize(owner, ends)
        else:
            self.ends.append(partial(self.opponents.free, False))
            self._dropped = weakref.finalize(owner, self.transport.client.connection.dropped.append, ends)
        self._dropped.atexit = False

    def close(self) -> None:
        """Free the games, and the session if nobody else uses it."""
        if self._dropped is not None:
            self._dropped.detach()
        self.opponents.free(self.own_client)
        self.closed = True


def _call_all(ends: list[Callable[[], object]]) -> None:
    while ends:
        ends.pop()()
