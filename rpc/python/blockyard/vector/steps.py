"""Resetting and stepping the games."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import copy_actions, reset_mask
from ..formats.seeding import Seed, check_seeds, reset_requests
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .batch import Batch, Obs, StepResult
from .games import Games
from .infos import FinalStep
from .requests import Requests

# Where a step's result goes, if the caller chooses: ``buffer[t]``, or arrays by field.
Out = StepMemory | Mapping[str, NDArray[Any]] | None


class Steps:
    """Sends actions and makes what comes back the current position of a batch.

    Attributes:
        seeded: bool (games,), the games that were seeded.
        first_seed: of the first reset that has no seed of its own.
        resumed: the position of a checkpoint, and the generation of its memory: while it is the current one, the
            first reset returns it, whatever its seed.
    """

    def __init__(
        self,
        requests: Requests,
        batch: Batch,
        games: Games,
        first_seed: int | list[int | None] | None,
        slots: int | None,
        show: Callable[[], None] | None,
    ) -> None:
        """Prepare to step; games are those that are recorded, and show, if any, displays a new position.

        With slots, only the arrays of so many steps exist at the same time; None: arrays are never overwritten.
        """
        self._requests, self._batch, self._games, self._show_it = requests, batch, games, show
        self.first_seed, self.seeded = first_seed, np.zeros(batch.num_games, np.bool_)
        self.resumed: tuple[StepMemory, int] | None = None
        self._ring = None if slots is None else self._transport.ring(slots)
        self._slot = 0
        self._actions = np.zeros(batch.num_envs, "<u2")
        self._acted: NDArray[np.bool_] | None = None
        self._pending: tuple[Any, StepMemory, NDArray[np.intp] | None] | None = None

    @property
    def _transport(self) -> SocketTransport:
        return self._requests.transport  # which policies as opponents replace

    @property
    def overwrites(self) -> bool:
        """Whether the arrays of a step are overwritten by later steps."""
        return self._ring is not None

    def reset(self, seed: Seed, options: dict[str, Any] | None) -> tuple[Obs, dict[str, Any]]:
        """Start new episodes; see :meth:`BlockVectorEnv.reset`."""
        self._requests.check("reset")
        batch = self._batch
        checked = check_seeds(seed, batch.num_games)
        if self.resumed is not None and not options:
            (memory, generation), self.resumed = self.resumed, None
            if memory is batch.memory and memory.generation == generation:
                return batch.shown()
        if unknown := set(options or ()) - {"reset_mask"}:
            raise ValueError(f"options: unknown {sorted(unknown)}; the only option is 'reset_mask'")
        chosen = np.ones(batch.num_games, np.bool_)
        if options and "reset_mask" in options:
            chosen = reset_mask(options["reset_mask"], batch.num_envs, batch.rows_per_game)
        memory = self.next_memory()
        for request in reset_requests(self.first_seed if checked is None else checked, chosen, self.seeded):
            self._transport.show(memory, "reset", request)
        self.first_seed = self.resumed = None
        self.seeded |= chosen
        self.show(memory)
        return batch.shown(batch.rows_of(chosen))

    def step(self, actions: Any, out: Out) -> StepResult:
        """Step every row, and wait; see :meth:`BlockVectorEnv.step`."""
        memory, row, before = self._prepare("step", actions, out)
        self._transport.step(row, memory)
        self.show(memory)
        return self._batch.result(memory, before, self._acted, self._finals)

    def into(self, memory: StepMemory) -> None:
        """Step with the actions in memory, which receives the result; see :meth:`BlockVectorEnv.step_into`."""
        if self._requests.pending or self._requests.closed:
            self._requests.check("step_into")
        if self._games.sources:
            self._games.fetch()
        assert memory.actions is not None
        self._transport.step(memory.actions, memory)
        self.show(memory)

    def post(self, actions: Any, out: Out) -> None:
        """Send the actions of a step; :meth:`wait` returns the result."""
        memory, row, before = self._prepare("step_async", actions, out)
        self._pending = (self._transport.post_step(row, memory), memory, before)
        self._requests.pending = True

    def wait(self) -> StepResult:
        """Return the result of the step that :meth:`post` sent."""
        if self._pending is None:
            raise RuntimeError("step_wait: no step is in progress; call step_async first")
        (future, memory, before), self._pending = self._pending, None
        self._requests.pending = False
        self._transport.wait(future)
        self.show(memory)
        return self._batch.result(memory, before, self._acted, self._finals)

    def show(self, memory: StepMemory) -> None:
        """Make this the current position, and display it if that was asked for."""
        self.take(memory)
        if self._show_it is not None:
            self._show_it()

    def take(self, memory: StepMemory) -> None:
        """Make this the current position."""
        if self._ring is not None and memory is self._ring[self._next_slot]:
            self._slot = self._next_slot
            memory.reuse()
        self._batch.memory = memory

    @property
    def _next_slot(self) -> int:
        return (self._slot + 1) % len(self._ring or "-")

    def resume(self, memory: StepMemory) -> None:
        """Make a position of a checkpoint the current one; the first reset returns it."""
        self.seeded[:] = True
        self.first_seed = None
        self.show(memory)
        self.resumed = (memory, memory.generation)

    def next_memory(self) -> StepMemory:
        """Return memory for the next position; the same again until :meth:`take` gets it."""
        return self._transport.memory() if self._ring is None else self._ring[self._next_slot]

    def _prepare(
        self, method: str, actions: Any, out: Out
    ) -> tuple[StepMemory, NDArray[np.uint16], NDArray[np.intp] | None]:
        """Return the memory for the result, the actions to send, and each row's seat now if that varies."""
        requests, batch = self._requests, self._batch
        if requests.pending or requests.closed:
            requests.check(method)
        if self._games.sources:
            self._games.fetch()
        last = batch.memory
        before = batch.own_index(last) if batch.varying and last is not None else None
        self._acted = None if last is None else batch.complete(last, False)
        if batch.shaping is not None and last is not None:
            over = np.zeros(batch.num_games, np.bool_) if batch.same_step else last.terminated | last.truncated
            batch.shaping.begin(last.globals, batch.rows_of(over))
        if out is None:
            memory = self.next_memory()
        else:
            memory = out.reuse() if isinstance(out, StepMemory) else StepMemory.over_arrays(batch.handle, out)
        row = self._actions if memory.actions is None else memory.actions
        copy_actions(actions, row, batch.spec.actions, self._acted)
        return memory, row, before

    def _finals(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step, for the first time after it."""
        return self._batch.final_step(self._transport.finals(new=True))
