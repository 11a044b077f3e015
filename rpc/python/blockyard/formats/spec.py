"""What the server says about a game: its seats, its spaces, its opponents."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ..errors import ProtocolError

# The bound of numbers that are counted without end, such as points: float32 counts no further.
MOST = 2.0**24
_AS_THEY_ARE = ("name", "id", "rules", "rows", "turn", "actions", "max_legal", "mask_len", "no_action", "reward")


class Actions(spaces.Discrete):  # type: ignore[type-arg,unused-ignore]
    """The actions of a row; sampled with an ``action_mask``, which is bool, where Gymnasium wants int8."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return a random action, with a mask one for which it is True; or one drawn with these probabilities."""
        return super().sample(None if mask is None else np.asarray(mask, np.int8), probability)


class BatchedActions(spaces.MultiDiscrete):  # type: ignore[type-arg,unused-ignore]
    """The actions of all rows; sampled with their masks."""

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[Any]:
        """Return a random action for each row, with masks one for which its mask is True."""
        return super().sample(None if mask is None else tuple(np.asarray(one, np.int8) for one in mask), probability)


@batch_space.register
def _(space: Actions, n: int = 1) -> BatchedActions:
    """Return the actions of n rows, also where Gymnasium makes a vector environment of single ones."""
    return BatchedActions([int(space.n)] * n)


@dataclass(frozen=True)
class GameSpec:
    """The specification of a game, as the server's method ``describe`` gives it.

    Attributes:
        name: the server's name, such as ``"blockbattle"``.
        id: the Gymnasium id without its namespace, such as ``"BlockBattle-v0"``.
        rules: version of the rules; a recorded game can be replayed only with the same version.
        variants: names of other rule sets of the same contest, such as ``"blockbattle:classic"``.
        min_seats, max_seats: bounds of the number of seats.
        rows: largest number of seats that act at the same time.
        turn: ``"single"``, ``"alternating"`` or ``"simultaneous"``.
        actions: number of actions; an action is 0 <= a < actions.
        max_legal: largest number of actions that can be legal at the same time.
        mask_len: bytes of a packed action mask, ceil(actions / 8).
        no_action: the number that stands for "no action".
        planes_shape: (C, H, W) of the planes.
        planes_high: largest value in a plane.
        cell_bits: bits per cell of packed boards: 1, 2, 4 or 8.
        plane_names: names of the C planes.
        global_names: names of the G globals.
        opponents: specs of the opponents that the server offers.
        max_episode_steps: the default step limit; 0 means none.
        reward: the default reward, ``"result"``; or ``"score"`` in games of one seat, whose result is always the same.
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
    reward: str
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> GameSpec:
        """Read the result of ``describe``; raise ProtocolError if an entry is missing or has the wrong type."""
        try:
            planes, (c, h, w) = d["planes"], d["planes"]["shape"]
            return cls(
                **{name: d[name] for name in _AS_THEY_ARE},
                variants=tuple(d.get("variants") or ()),
                min_seats=d["seats"][0],
                max_seats=d["seats"][1],
                planes_shape=(c, h, w),
                planes_high=planes["high"],
                cell_bits=planes.get("bits", 8),
                plane_names=tuple(planes["names"]),
                global_names=tuple(d["globals"]["names"]),
                opponents=tuple(d.get("opponents") or ()),
                max_episode_steps=d.get("max_episode_steps", 0),
                raw=d,
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProtocolError(f"describe: the server's description of a game lacks an entry: {error!r}") from error

    def __repr__(self) -> str:
        seats = str(self.min_seats) if self.min_seats == self.max_seats else f"{self.min_seats} to {self.max_seats}"
        return (
            f"GameSpec({self.id}, seats={seats}, {self.turn}, actions={self.actions}, planes={self.planes_shape}, "
            f"globals={len(self.global_names)})"
        )

    @property
    def packed_len(self) -> int:
        """Bytes of the packed boards of one row."""
        return (int(np.prod(self.planes_shape)) * self.cell_bits + 7) // 8

    def check_same(self, other: GameSpec, where: str) -> None:
        """Raise ProtocolError unless another server plays the same game; where names it."""
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if f.compare and f.name not in ("variants", "opponents") and mine != theirs:
                what = f"the server at {where} plays another version of {self.name} than the first one"
                how = f"{f.name} is {theirs!r:.60}, not {mine!r:.60}"
                raise ProtocolError(f"address: {what}: {how}; start servers of the same version")

    def observation_space(self, packed: bool = False) -> spaces.Dict:
        """Return the observation space of one row: ``planes`` uint8 (C, H, W) and ``globals`` float32 (G,).

        With packed=True, ``bits``, uint8 (packed_len,), replaces ``planes``. All bounds are finite.
        """
        described = self.raw["globals"]
        low, high = (
            np.clip(np.full(len(self.global_names), described.get(key, end), np.float32), -MOST, MOST)
            for key, end in (("low", -MOST), ("high", MOST))
        )
        numbers = spaces.Box(low, high, dtype=np.float32)
        if packed:
            return spaces.Dict({"bits": spaces.Box(0, 255, (self.packed_len,), np.uint8), "globals": numbers})
        return spaces.Dict({"planes": spaces.Box(0, self.planes_high, self.planes_shape, np.uint8), "globals": numbers})

    def action_space(self) -> Actions:
        """Return the action space of one row; the action mask says which actions are legal now."""
        return Actions(self.actions)
