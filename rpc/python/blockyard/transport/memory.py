"""The arrays of one step, as the server's answer to ``open`` describes them, and memory for one step or many."""

from __future__ import annotations

import mmap
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ProtocolError

Ids = NDArray[np.uint32]  # indices of games
# The arrays of every step, beside the boards, which are ``planes`` or ``bits``. ``mask`` and ``illegal`` are optional.
REQUIRED_FIELDS = ("globals", "seat", "reward", "terminated", "truncated", "score")
# Fields with one entry per row. The others have one entry per game.
ROW_FIELDS = {"planes", "bits", "globals", "mask", "seat", "illegal"}
# Those about the candidates of each row, with ``actions="afterstates"``; features, or planes and globals.
CANDIDATE_FIELDS = ("candidate", *(f"candidate_{key}" for key in ("reward", "done", "features", "planes", "globals")))
ROW_FIELDS.update(CANDIDATE_FIELDS)


@dataclass(frozen=True)
class Field:
    """One array in the memory of a step; offset in bytes from its start, the first axis is rows or games."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Field:
        """Return the field that an entry of the server's layout describes."""
        return cls(d["name"], np.dtype(d["dtype"]), tuple(d["shape"]), d["off"])

    @property
    def nbytes(self) -> int:
        """How many bytes of the slab the array takes."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


@dataclass(frozen=True)
class Handle:
    """An open environment on the server."""

    number: int  # names it in requests
    games: int
    seats: int  # of each game
    players: tuple[int, ...]  # the seats that this client drives, ascending
    rows_per_game: int  # one for each driven seat; with ``rows="acting"``, for each that acts at the same time
    rows: int  # games * rows_per_game
    fields: tuple[Field, ...]  # the arrays of a step
    slab_len: int  # bytes of a step
    state_len: int  # bytes of the state of one game
    opponents: list[str] = field(default_factory=list, compare=False)  # that ``opponent`` counts; set_opponents adds

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Handle:
        """Read the result of ``open``; raise ProtocolError if it lacks an entry, or arrays lie outside the memory."""
        try:
            fields = tuple(map(Field.from_wire, d["layout"]))
            handle = cls(
                **{name: d[name] for name in ("seats", "rows", "slab_len", "state_len")},
                number=d["h"],
                games=d["num_envs"],
                players=tuple(d["players"]),
                rows_per_game=d["rows_per_env"],
                fields=fields,
                opponents=list(d.get("opponents") or ()),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"open: the server's answer lacks an entry: {error!r}") from error
        for f in fields:
            if f.offset < 0 or f.offset + f.nbytes > handle.slab_len:
                raise ProtocolError(f"open: field {f.name} lies outside the {handle.slab_len} bytes of a step")
        names = {f.name for f in fields}
        boards = {"planes"} if names.isdisjoint({"planes", "bits", "candidate"}) else set()
        if missing := set(REQUIRED_FIELDS) - names | boards:
            raise ProtocolError(f"open: the memory of a step has no field {sorted(missing)}")
        return handle


def span(name: str, start: int, end: int, per: int) -> slice:
    """Return where the entries of games from start to end lie in a field; per is the number of rows of a game."""
    per = per if name in ROW_FIELDS else 1
    return slice(start * per, end * per)


def resized(one: Handle, games: int) -> Handle:
    """Return the handle that a server with another number of games would have announced."""
    fields, at, per = [], 0, one.rows_per_game
    for f in one.fields:
        placed = Field(f.name, f.dtype, (span(f.name, 0, games, per).stop, *f.shape[1:]), -(-at // 64) * 64)
        fields.append(placed)
        at = placed.offset + -(-placed.nbytes // 8) * 8
    return replace(one, number=-1, games=games, rows=games * per, fields=tuple(fields), slab_len=at)


# Over a socket, HEAD bytes of message head come before the arrays of a step. The memory keeps LEAD bytes
# free before the arrays, so that head and arrays are received in one piece and the arrays stay aligned.
LEAD, HEAD = 64, 13
# Counts the references to an object. Interpreters without it never reuse memory.
_references: Callable[[Any], int] | None = getattr(sys, "getrefcount", None)
_TRIES = 4  # entries that are checked before new memory is allocated
_SPARE = 4  # above this many entries, free memory may be released
_MOST = 8  # entries: whoever keeps one array keeps a whole one


class StepMemory:
    """The memory of one step and the arrays in it: those of :class:`RolloutBuffer`, without the axis of time.

    What may be missing is None: ``planes`` or ``bits``, ``mask`` (bit a & 7 of byte a >> 3 is action a), ``illegal``.
    ``seat`` is 255 in rows that do not act.
    """

    frame: memoryview | None = None  # HEAD bytes and the arrays behind them as one piece; None if they are not one
    slot: int | None = None  # number of this memory in memory shared with the server; None if it is private
    actions: NDArray[np.uint16] | None = None  # shared, (rows,): the server takes those of the next step from here
    addresses: tuple[int, int] | None = None  # cached: of actions and of the memory
    generation = 0  # incremented each time the memory is reused
    pooled = False  # it is reused only when nobody refers to it: then small arrays are copied, so as not to keep it
    acting: NDArray[np.bool_] | None = None  # cached, (rows,): whether the row must act in the next step
    own_index: NDArray[np.intp] | None = None  # cached, (rows,): of each row's own seat in arrays of (games, seats)
    unpacked: NDArray[np.bool_] | None = None  # cached, (rows, actions): the unpacked mask
    parts: list[StepMemory] | None = None  # cached: those of each server, for games on several

    def __init__(self, handle: Handle, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        """Take the arrays of all fields."""
        self._fields, self.size = handle.fields, handle.slab_len  # size: bytes of a step, as the server sends it
        self.arrays = arrays  # by name, with the dtypes of the wire
        self.planes = arrays.get("planes")
        self.bits = arrays.get("bits")
        self.globals = arrays["globals"]
        self.mask = arrays.get("mask")
        self.seat = arrays["seat"]
        self.reward = arrays["reward"]
        self.score = arrays["score"]
        self.terminated = arrays["terminated"].view(np.bool_)
        self.truncated = arrays["truncated"].view(np.bool_)
        self.illegal = arrays["illegal"].view(np.bool_) if "illegal" in arrays else None
        # (rows,), views of the rewards and scores of each row's own seat; None if no such view exists.
        self.own_reward, self.own_score = _own_view(handle, self.reward), _own_view(handle, self.score)

    @classmethod
    def over_arrays(cls, handle: Handle, given: Mapping[str, NDArray[Any]]) -> StepMemory:
        """Return step memory over arrays of the caller, in which each is checked; other fields get new memory."""
        if not isinstance(given, Mapping):
            raise TypeError(f"out: want buffer[t], or a dict of arrays by field, got {given!r:.100}")
        if unknown := set(given) - {f.name for f in handle.fields}:
            raise ValueError(f"out: unknown fields {sorted(unknown)}; want some of {[f.name for f in handle.fields]}")
        arrays = {}
        for f in handle.fields:
            array = given[f.name] if f.name in given else np.empty(f.shape, f.dtype)
            dtype = np.dtype(np.uint8) if array.dtype == np.bool_ and f.dtype == np.uint8 else array.dtype
            if dtype != f.dtype or array.shape != f.shape:
                raise ValueError(f"out[{f.name!r}]: want {f.dtype} {f.shape}, got {array.dtype} {array.shape}")
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise ValueError(f"out[{f.name!r}]: want a C-contiguous, writable array; make one with np.empty")
            arrays[f.name] = array.view(f.dtype)
        return cls(handle, arrays)

    @classmethod
    def separate(cls, handle: Handle) -> StepMemory:
        """Return memory with an array of its own for each field: whoever keeps one keeps no other."""
        self = cls.over_arrays(handle, {})
        self.pooled = True
        return self

    def fill(self, data: bytes | memoryview) -> None:
        """Copy the arrays of a step, as the server sends them, to where they belong."""
        if self.frame is not None:
            self.frame[HEAD:] = data
            return
        for f in self._fields:
            np.copyto(self.arrays[f.name], np.ndarray(f.shape, f.dtype, data, f.offset))

    def check(self, handle: Handle) -> None:
        """Raise ValueError unless steps of these games fit: memory of others has other arrays."""
        if self._fields is not handle.fields and self._fields != handle.fields:
            raise ValueError("buffer: it is that of an environment with other arrays; use this one's buffer()")

    def reuse(self) -> StepMemory:
        """Prepare for the next step: drop what was cached, and invalidate lazy values of the last step."""
        self.generation += 1
        self.unpacked = self.own_index = self.acting = None
        return self


def _own_view(handle: Handle, per_seat: NDArray[Any]) -> NDArray[Any] | None:
    """Return the entries of each row's own seat as a view (rows,) of an array (games, seats); None if impossible."""
    if handle.rows_per_game != len(handle.players):
        return None
    if len(handle.players) == 1:
        return per_seat[:, handle.players[0]]
    return per_seat.reshape(-1) if handle.players == tuple(range(handle.seats)) else None


class MemoryPool:
    """Reuses step memory that nobody refers to: clearing fresh pages costs more than the step of a small game.

    Whoever keeps the arrays of many steps gets memory that is not of the pool.
    """

    def __init__(self, make: Callable[[], StepMemory | None], forget: bool = True) -> None:
        """make returns new memory, or None for now; forget: entries may be dropped, and released when unused."""
        self._make, self._forget = make, forget
        # Least recently checked first: memory and its arrays, and the number of references to them when there is no
        # other than the pool's.
        self._entries: deque[tuple[list[Any], int]] = deque()

    def get(self) -> StepMemory | None:
        """Return memory that nobody else refers to; None if there is none, and no more may be had."""
        entries, references = self._entries, _references
        if references is None:
            return self._make()
        for _ in range(min(_TRIES, len(entries))):
            views, unused = entries[0]
            entries.rotate(-1)
            if sum(map(references, views)) == unused:
                if len(entries) > _SPARE and self._forget and sum(map(references, entries[0][0])) == entries[0][1]:
                    entries.popleft()
                return views[0].reuse()  # type: ignore[no-any-return]
        new = self._make() if len(entries) < _MOST else None
        if new is None:
            return None
        new.pooled = True
        views = [new, *new.arrays.values()]  # whoever holds a view of the memory refers to one of these
        del new
        entries.append((views, sum(map(references, views))))
        return views[0]  # type: ignore[no-any-return]


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
        memories: the memory of each step.
    """

    def __init__(
        self, handle: Handle, steps: int, memory: Any, stride: int, actions_at: int, first: int | None, lead: int = 0
    ) -> None:
        """Create the arrays in memory; step t begins at byte t * stride, its actions actions_at bytes later."""
        self.steps, self.first_slot = steps, first
        self.memories: list[StepMemory] = []
        view = memoryview(memory)
        for t, at in enumerate(range(lead, lead + steps * stride, stride)):
            step = StepMemory(
                handle, {f.name: np.ndarray(f.shape, f.dtype, memory, at + f.offset) for f in handle.fields}
            )
            step.frame = view[at - HEAD : at + handle.slab_len] if lead else None
            step.slot = None if first is None else first + t
            step.actions = np.ndarray((handle.rows,), "<u2", memory, t * stride + actions_at)
            self.memories.append(step)
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
        return self.memories[t].reuse()

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["arrays"][name]  # type: ignore[no-any-return]
        except KeyError:
            fields = sorted(self.__dict__.get("arrays", ()))
            raise AttributeError(f"a rollout buffer has no field {name!r}, only {fields}") from None

    def __reduce__(self) -> Any:
        raise TypeError("a rollout buffer cannot be copied or pickled: pass copies of what is in its arrays")

    def memory(self, t: int) -> StepMemory:
        """Return the memory of step t for reading: unlike ``buffer[t]`` this invalidates nothing."""
        return self.memories[t]


def private_buffer(handle: Handle, steps: int) -> RolloutBuffer:
    """Return a buffer of steps in memory of this process alone, each step aligned to 64 bytes.

    The memory is unmapped when nobody refers to it any more.
    """
    actions_at = LEAD + -(-handle.slab_len // 64) * 64
    stride = -(-(actions_at + 2 * handle.rows) // 64) * 64
    return RolloutBuffer(handle, steps, mmap.mmap(-1, steps * stride), stride, actions_at, None, LEAD)
