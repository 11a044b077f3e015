"""One game as its seats see it, for libraries that know agents by name."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .errors import IllegalActionError
from .vector import BlockVectorEnv

OBSERVATIONS = ("flat", "masked", "planes")
# Libraries refuse endless bounds; no global comes near these.
BOUND = 1e6


class Table:
    """A game with some driven seats.

    Attributes:
        env: the vector environment of one game behind it.
        players: the seats we drive.
        in_turn: whether seats move one after the other.
        acting: the driven seats that are to choose now.
        terminated, truncated: whether the game is over, or was cut off.
    """

    def __init__(
        self,
        game: str,
        max_cycles: int | None,
        one_by_one: bool,
        *,
        observation: str = "flat",
        opponents: Mapping[int, str] | str | None = None,
        illegal: str = "error",
        **kwargs: Any,
    ) -> None:
        """Open it; max_cycles counts the choices of one seat if one_by_one, else steps."""
        if observation not in OBSERVATIONS:
            raise ValueError(f"observation {observation!r}: want one of {list(OBSERVATIONS)}")
        if max_cycles is not None and operator.index(max_cycles) < 1:
            raise ValueError(f"max_cycles: want at least 1, got {max_cycles}")
        if fixed := {"num_envs", "autoreset_mode", "max_episode_steps", "mask"} & kwargs.keys():
            raise TypeError(f"{sorted(fixed)}: fixed here; max_cycles ends a game early")
        self._illegal, self._observation, self._cycles = illegal, observation, max_cycles
        self._turns_a_cycle = 1
        self.env = BlockVectorEnv(
            game, 1, autoreset_mode=AutoresetMode.DISABLED, opponents=opponents, illegal=illegal, **kwargs
        )
        self.facts, self.players = self.env.facts, self.env.players
        self.in_turn = self.env.rows_per_game < len(self.players)
        if one_by_one and self.in_turn:
            self._turns_a_cycle = len(self.players)
        self.acting: tuple[int, ...] = ()
        self.terminated = self.truncated = False
        self._steps = 0
        self._seen: dict[int, dict[str, NDArray[Any]]] = {}
        self._masks: dict[int, NDArray[np.int8]] = {}
        self._nothing = np.zeros(self.facts.actions, np.int8)

    # -- spaces ---------------------------------------------------------------------

    def observation_space(self) -> spaces.Space[Any]:
        """Return a new space of what a seat sees."""
        seen = self.facts.observation_space()
        if self._observation == "planes":
            return seen
        planes, globals_ = seen["planes"], seen["globals"]
        assert isinstance(planes, spaces.Box)
        assert isinstance(globals_, spaces.Box)
        low = np.concatenate([planes.low.reshape(-1).astype(np.float32), np.maximum(globals_.low, -BOUND)])
        high = np.concatenate([planes.high.reshape(-1).astype(np.float32), np.minimum(globals_.high, BOUND)])
        flat = spaces.Box(low, high, dtype=np.float32)
        if self._observation == "flat":
            return flat
        return spaces.Dict({"observation": flat, "action_mask": spaces.Box(0, 1, (self.facts.actions,), np.int8)})

    # -- playing --------------------------------------------------------------------

    def reset(self, seed: int | None) -> None:
        """Start a game."""
        self.env.reset(seed=seed)
        self.terminated = self.truncated = False
        self._steps = 0
        self._look()

    def step(self, chosen: Mapping[int, int]) -> None:
        """Play a choice of every acting seat."""
        seats = self._row_seats()
        actions = np.array([chosen.get(seat, 0) for seat in seats], np.int64)
        _, _, terminated, truncated, _ = self.env.step(actions)
        self._steps += 1
        cut = self._cycles is not None and self._steps >= self._cycles * self._turns_a_cycle
        self.terminated = bool(terminated[0])
        self.truncated = bool(truncated[0]) or (cut and not self.terminated)
        self._look()

    def checked(self, action: Any, seat: int) -> int:
        """Return an action as a number, refusing what the seat may not play unless illegal ones have a meaning."""
        number = operator.index(action)
        known = 0 <= number < self.facts.actions
        if not known or (self._illegal == "error" and not self._masks[seat][number]):
            raise IllegalActionError(
                f"seat {seat}: action {number} is not legal here", data={"seat": seat, "action": number}
            )
        return number

    def _row_seats(self) -> list[int]:
        return [int(seat) for seat in self.env._current().seat]

    def _look(self) -> None:
        """Note who is to act now."""
        self._seen = {}
        masks = self.env.action_masks.view(np.int8)
        rows = (
            {} if self.terminated else {seat: row for row, seat in enumerate(self._row_seats()) if seat in self.players}
        )
        self._masks = {seat: masks[row] for seat, row in rows.items()}
        self.acting = tuple(sorted(rows))

    # -- what seats see -----------------------------------------------------------------

    def observation(self, seat: int) -> Any:
        """Return what a driven seat sees now; the arrays are the caller's."""
        if seat not in self._seen:
            self._fetch()
        seen = self._seen[seat]
        if self._observation == "planes":
            return {key: value.copy() for key, value in seen.items()}
        flat = np.concatenate([seen["planes"].reshape(-1), seen["globals"]]).astype(np.float32)
        if self._observation == "flat":
            return flat
        return {"observation": flat, "action_mask": self.mask(seat).copy()}

    def _fetch(self) -> None:
        """Ask for what every seat sees; the rows of a game of turns show one seat alone."""
        d = self.env._call("observe", None)
        planes = np.frombuffer(d["planes"], np.uint8).reshape(self.env.seats, *self.facts.planes_shape)
        globals_ = np.frombuffer(d["globals"], "<f4").reshape(self.env.seats, len(self.facts.global_names))
        self._seen = {seat: {"planes": planes[seat], "globals": globals_[seat]} for seat in self.players}

    def mask(self, seat: int) -> NDArray[np.int8]:
        """Return what a seat may play, int8 (actions,); all 0 if it is not to act."""
        return self._masks.get(seat, self._nothing)

    def reward(self, seat: int) -> float:
        """Return a seat's reward of the last step."""
        return float(self.env.seat_rewards[0, seat])

    def info(self, seat: int) -> dict[str, Any]:
        """Return the infos of a seat."""
        return {"action_mask": self.mask(seat), "score": int(self.env.scores[0, seat])}
