"""What the server says about a game and about an environment it opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .errors import ProtocolError


@dataclass(frozen=True)
class GameFacts:
    """A game's facts, as ``describe`` gives them.

    Attributes:
        name: the server's name, such as ``"blockbattle"``.
        id: the Gymnasium id without its namespace, such as ``"BlockBattle-v0"``.
        rules: version of the rules; a recorded game replays only under the same.
        variants: names of other profiles of the same contest.
        min_seats, max_seats: how many can play.
        rows: most seats that act at once.
        turn: ``"single"``, ``"alternating"`` or ``"simultaneous"``.
        actions: size of the action space.
        max_legal: the most actions ever legal at once.
        no_action: the number that stands for making no choice.
        planes_shape: (C, H, W) of the planes.
        planes_high: the greatest value a plane holds.
        plane_names: C names.
        global_names: G names.
        opponents: specs of players the server has.
        max_episode_steps: the step limit if none is asked for; 0 is none.
        raw: the whole answer of the server.
    """

    name: str
    id: str
    rules: int
    variants: tuple[str, ...]
    min_seats: int
    max_seats: int
    rows: int
    turn: str
    actions: int
    max_legal: int
    mask_len: int
    no_action: int
    planes_shape: tuple[int, int, int]
    planes_high: int
    plane_names: tuple[str, ...]
    global_names: tuple[str, ...]
    opponents: tuple[str, ...]
    max_episode_steps: int
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> GameFacts:
        """Read the result of ``describe``."""
        try:
            planes, globals_ = d["planes"], d["globals"]
            c, h, w = planes["shape"]
            return cls(
                name=d["name"],
                id=d["id"],
                rules=d["rules"],
                variants=tuple(d.get("variants") or ()),
                min_seats=d["seats"][0],
                max_seats=d["seats"][1],
                rows=d["rows"],
                turn=d["turn"],
                actions=d["actions"],
                max_legal=d["max_legal"],
                mask_len=d["mask_len"],
                no_action=d["no_action"],
                planes_shape=(c, h, w),
                planes_high=planes["high"],
                plane_names=tuple(planes["names"]),
                global_names=tuple(globals_["names"]),
                opponents=tuple(d.get("opponents") or ()),
                max_episode_steps=d.get("max_episode_steps", 0),
                raw=d,
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProtocolError(f"describe: the server's description of a game lacks something: {error!r}") from error

    def observation_space(self) -> spaces.Dict:
        """Return what one seat sees: ``planes`` uint8 (C, H, W) and ``globals`` float32 (G,)."""
        described = self.raw["globals"]
        low, high = (
            np.broadcast_to(np.asarray(described.get(key, inf), np.float32), (len(self.global_names),))
            for key, inf in (("low", -np.inf), ("high", np.inf))
        )
        return spaces.Dict(
            {
                "planes": spaces.Box(0, self.planes_high, self.planes_shape, np.uint8),
                "globals": spaces.Box(low, high, dtype=np.float32),
            }
        )

    def action_space(self) -> spaces.Discrete:
        """Return the choices of one seat; which are legal now, the action mask says."""
        return spaces.Discrete(self.actions)


# What a slab holds; the mask may be left out.
FIELDS = ("planes", "globals", "mask", "seat", "reward", "terminated", "truncated", "score")


@dataclass(frozen=True)
class Field:
    """One array inside a slab."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Handle:
    """An environment on the server, as ``open`` announced it."""

    number: int
    games: int  # games at once
    seats: int  # players of each
    players: tuple[int, ...]  # the seats we drive
    rows_per_game: int
    rows: int
    fields: tuple[Field, ...]
    slab_len: int
    state_len: int

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Handle:
        """Read the result of ``open``, and refuse a layout that does not hold together."""
        try:
            fields = tuple(Field(f["name"], np.dtype(f["dtype"]), tuple(f["shape"]), f["off"]) for f in d["layout"])
            handle = cls(
                number=d["h"],
                games=d["num_envs"],
                seats=d["seats"],
                players=tuple(d["players"]),
                rows_per_game=d["rows_per_env"],
                rows=d["rows"],
                fields=fields,
                slab_len=d["slab_len"],
                state_len=d["state_len"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"open: the server's answer lacks something: {error!r}") from error
        for f in fields:
            if f.offset < 0 or f.offset + int(np.prod(f.shape)) * f.dtype.itemsize > handle.slab_len:
                raise ProtocolError(f"open: field {f.name} lies outside the slab")
        if missing := set(FIELDS) - {"mask"} - {f.name for f in fields}:
            raise ProtocolError(f"open: the slab has no field {sorted(missing)}")
        return handle


class Slab:
    """The memory of one step and the arrays inside it.

    Attributes:
        bytes: the memory, for the socket to write into.
        planes: uint8 (rows, C, H, W).
        globals: float32 (rows, G).
        mask: uint8 (rows, ceil(actions / 8)), bit a & 7 of byte a >> 3; None if left out.
        seat: uint8 (rows,), 255 where nobody acts.
        reward: float32 (games, seats).
        terminated, truncated: bool (games,).
        score: int32 (games, seats).
        generation: raised each time the memory is used anew.
    """

    __slots__ = (
        "arrays",
        "bytes",
        "generation",
        "globals",
        "mask",
        "planes",
        "reward",
        "score",
        "seat",
        "terminated",
        "truncated",
        "unpacked",
    )

    def __init__(self, handle: Handle) -> None:
        memory = np.empty(handle.slab_len, np.uint8)
        self.bytes = memory.data
        self.generation = 0
        self.arrays: dict[str, np.ndarray[Any, Any]] = {
            f.name: np.ndarray(f.shape, f.dtype, memory, f.offset) for f in handle.fields
        }
        self.planes = self.arrays["planes"]
        self.globals = self.arrays["globals"]
        self.mask = self.arrays.get("mask")
        self.seat = self.arrays["seat"]
        self.reward = self.arrays["reward"]
        self.score = self.arrays["score"]
        self.terminated = self.arrays["terminated"].view(np.bool_)
        self.truncated = self.arrays["truncated"].view(np.bool_)
        self.unpacked: NDArray[np.bool_] | None = None

    def reuse(self) -> Slab:
        """Make ready for the next step; what was handed out of it holds no more."""
        self.generation += 1
        self.unpacked = None
        return self

    def masks(self, actions: int) -> NDArray[np.bool_]:
        """Return the masks, bool (rows, actions), unpacked once."""
        if self.unpacked is None:
            packed = self.packed_masks()
            self.unpacked = np.unpackbits(packed, axis=1, count=actions, bitorder="little").view(np.bool_)
        return self.unpacked

    def packed_masks(self) -> NDArray[np.uint8]:
        """Return the masks as they came."""
        if self.mask is None:
            raise RuntimeError("the environment was made with mask=False; ask legal_actions() instead")
        return self.mask
