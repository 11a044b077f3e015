"""Memory for many steps in one piece, which a rollout fills without copying."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layout import Handle
from .memory import LEAD, StepMemory


class RolloutBuffer:
    """A rollout buffer: ``step(actions, out=buffer[t])`` or ``rollout(buffer)`` fills it.

    Create it with :meth:`blockyard.BlockVectorEnv.buffer`. With shared memory the server writes into it;
    over a socket the bytes are received into it. Either way nothing is copied. The fields are also
    attributes: ``buffer.reward`` is ``buffer.arrays["reward"]``.

    Attributes:
        steps: capacity in steps.
        arrays: by field, each with a first axis of time: ``planes`` uint8 (steps, rows, C, H, W) or ``bits`` uint8
            (steps, rows, n), ``globals`` float32 (steps, rows, G), ``mask`` uint8 (steps, rows,
            ceil(actions / 8)), ``seat`` uint8 (steps, rows), ``reward`` float32 and ``score`` int32 (steps, games,
            seats), ``terminated`` and ``truncated`` bool (steps, games); ``illegal`` bool (steps, rows), unless the
            environment was created with ``illegal="error"``; ``opponent`` uint16 (steps, games, seats), if the server
            plays a seat: indices into ``opponent_specs``, 65535 for driven seats.
        actions: uint16 (steps, rows); row t holds the actions that led to row t of the other arrays.
        first_slot: number of its first slot in shared memory; None for private memory.
    """

    def __init__(
        self, handle: Handle, steps: int, memory: Any, stride: int, actions_at: int, first: int | None, lead: int = 0
    ) -> None:
        """Create the arrays in memory; step t begins at byte t * stride, its actions actions_at bytes later."""
        self.steps, self.first_slot = steps, first
        self._memories: list[StepMemory] = []
        view = memoryview(memory)
        for t in range(steps):
            slot = None if first is None else first + t
            step = StepMemory(handle, view[t * stride : (t + 1) * stride], slot, lead)
            step.actions = np.ndarray((handle.rows,), "<u2", memory, t * stride + actions_at)
            self._memories.append(step)
        self.arrays: dict[str, NDArray[Any]] = {}
        for f in handle.fields:
            inner = np.ndarray(f.shape, f.dtype).strides
            array: NDArray[Any] = np.ndarray((steps, *f.shape), f.dtype, memory, lead + f.offset, (stride, *inner))
            self.arrays[f.name] = array.view(np.bool_) if f.name in ("terminated", "truncated", "illegal") else array
        self.actions: NDArray[np.uint16] = np.ndarray((steps, handle.rows), "<u2", memory, actions_at, (stride, 2))

    def __len__(self) -> int:
        return self.steps

    def __repr__(self) -> str:
        return f"RolloutBuffer({self.steps} steps, {self.actions.shape[1]} rows of {', '.join(self.arrays)})"

    def __getitem__(self, t: int) -> StepMemory:
        """Return the memory of step t, to be passed as ``out=``."""
        return self._memories[t].reuse()

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["arrays"][name]  # type: ignore[no-any-return]
        except KeyError:
            fields = sorted(self.__dict__.get("arrays", ()))
            raise AttributeError(f"a rollout buffer has no field {name!r}, only {fields}") from None

    def memory(self, t: int) -> StepMemory:
        """Return the memory of step t for reading: unlike ``buffer[t]`` this invalidates nothing."""
        return self._memories[t]


def private_buffer(handle: Handle, steps: int) -> RolloutBuffer:
    """Return a buffer in memory of this process alone."""
    actions_at = LEAD + -(-handle.slab_len // 64) * 64
    stride = -(-(actions_at + 2 * handle.rows) // 64) * 64
    return RolloutBuffer(handle, steps, np.zeros(steps * stride, np.uint8), stride, actions_at, None, LEAD)
