"""What the server says about a game and about an environment it opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

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
        mask_len: how many bytes a mask takes as bits.
        no_action: the number that stands for making no choice.
        planes_shape: (C, H, W) of the planes.
        planes_high: the greatest value a plane holds.
        cell_bits: how many bits a cell takes in packed boards.
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
    cell_bits: int
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
                cell_bits=planes.get("bits", 8),
                plane_names=tuple(planes["names"]),
                global_names=tuple(globals_["names"]),
                opponents=tuple(d.get("opponents") or ()),
                max_episode_steps=d.get("max_episode_steps", 0),
                raw=d,
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProtocolError(f"describe: the server's description of a game lacks something: {error!r}") from error

    @property
    def packed_len(self) -> int:
        """How many bytes the packed boards of one seat take."""
        return (int(np.prod(self.planes_shape)) * self.cell_bits + 7) // 8

    def observation_space(self, packed: bool = False) -> spaces.Dict:
        """Return what one seat sees: ``planes`` uint8 (C, H, W) and ``globals`` float32 (G,).

        With packed boards ``bits``, uint8 (packed_len,), is in the place of the planes.
        """
        described = self.raw["globals"]
        low, high = (
            np.broadcast_to(np.asarray(described.get(key, inf), np.float32), (len(self.global_names),))
            for key, inf in (("low", -np.inf), ("high", np.inf))
        )
        numbers = spaces.Box(low, high, dtype=np.float32)
        if packed:
            return spaces.Dict({"bits": spaces.Box(0, 255, (self.packed_len,), np.uint8), "globals": numbers})
        return spaces.Dict(
            {"planes": spaces.Box(0, self.planes_high, self.planes_shape, np.uint8), "globals": numbers}
        )

    def action_space(self) -> spaces.Discrete:
        """Return the choices of one seat; which are legal now, the action mask says."""
        return spaces.Discrete(self.actions)


# What every slab holds, beside the boards as planes or as bits. A mask may be left out.
FIELDS = ("globals", "seat", "reward", "terminated", "truncated", "score")


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
        names = {f.name for f in fields}
        if missing := set(FIELDS) - names | ({"planes"} if names.isdisjoint({"planes", "bits"}) else set()):
            raise ProtocolError(f"open: the slab has no field {sorted(missing)}")
        return handle
