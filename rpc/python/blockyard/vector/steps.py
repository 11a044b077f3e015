"""Resetting and stepping: the methods of Gymnasium that play the games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from ..errors import BlockyardError
from ..formats.arguments import copy_actions, reset_mask
from ..formats.seeding import Seed, check_seeds, reset_requests
from ..transport.memory import StepMemory
from .batch import Obs, StepResult
from .games import Recorded
from .search import Search

# Where a step's result goes, if the caller chooses: ``buffer[t]``, or arrays by field.
Out = StepMemory | Mapping[str, NDArray[Any]] | None


class Stepping(Recorded, Search, VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """The part of BlockVectorEnv that resets and steps its games."""

    _actions: NDArray[np.uint16]
    _seeded: NDArray[np.bool_]
    _first_seed: int | list[int | None] | None
    _pending: tuple[Any, StepMemory, NDArray[np.intp] | None] | None
    _ring: list[StepMemory] | None
    _turn: int
    # The position of a checkpoint, and the generation of its memory: while it is the current one, a reset without
    # arguments returns it.
    _resumed: tuple[StepMemory, int] | None = None

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
        if self._resumed is not None and seed is None and not options:
            (memory, generation), self._resumed = self._resumed, None
            if memory is self._memory and memory.generation == generation:
                return memory.observation(), self._infos(memory)
        if unknown := set(options or ()) - {"reset_mask"}:
            raise ValueError(f"options: unknown {sorted(unknown)}; the only option is 'reset_mask'")
        chosen = np.ones(self.num_games, np.bool_)
        if options and "reset_mask" in options:
            chosen = reset_mask(options["reset_mask"], self.num_envs, self.rows_per_game)
        seed = check_seeds(seed, self.num_games)
        memory = self._next_memory()
        for request in reset_requests(self._first_seed if seed is None else seed, chosen, self._seeded):
            self._transport.show(memory, "reset", request)
        self._first_seed = self._resumed = None
        self._seeded |= chosen
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._show(memory)
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
        self._show(memory)
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
        self._show(memory)
        return self._step_result(memory, before)

    def _prepare(
        self, method: str, actions: Any, out: Out
    ) -> tuple[StepMemory, NDArray[np.uint16], NDArray[np.intp] | None]:
        """Return the memory for the result, the actions to send, and each row's seat now if that varies."""
        if self._pending is not None or self.closed:
            self._refuse_pending(method)
        if self._sources:
            self._fetch_records()
        before = self._own_index(self._memory) if self._varying and self._memory is not None else None
        self._acted = None if self._memory is None else self._memory.acting
        memory = self._next_memory() if out is None else self._memory_over(out)
        row = self._actions if memory.actions is None else memory.actions
        if row is not actions:
            copy_actions(actions, row)
        return memory, row, before

    def _show(self, memory: StepMemory) -> None:
        """Make this the current position."""
        self._memory = memory
        if self.render_mode == "human":
            self._display()

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
