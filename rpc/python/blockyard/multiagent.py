"""One game with several driven seats, for libraries whose environments have named agents."""

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
# PettingZoo refuses infinite bounds; no global comes near this one.
BOUND = 1e6


class MultiAgentGame:
    """A game of which the client drives several seats.

    Attributes:
        env: the vector environment of one game that it wraps.
        game_spec: the game's specification.
        players: the seats that the client drives, ascending.
        in_turn: whether the seats act one after the other.
        acting: the driven seats that act now.
        terminated, truncated: whether the episode is over.
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
        """Create it; max_cycles counts the actions of one seat if one_by_one, otherwise steps."""
        if observation not in OBSERVATIONS:
            raise ValueError(f"observation {observation!r}: want one of {list(OBSERVATIONS)}")
        if max_cycles is not None and operator.index(max_cycles) < 1:
            raise ValueError(f"max_cycles: want at least 1, got {max_cycles}")
        if fixed := {"num_envs", "autoreset_mode", "max_episode_steps", "mask"} & kwargs.keys():
            raise TypeError(f"{sorted(fixed)}: cannot be set here; pass max_cycles to truncate episodes")
        self._illegal, self._observation, self._cycles = illegal, observation, max_cycles
        self._turns_per_cycle = 1
        self.env = BlockVectorEnv(
            game, 1, autoreset_mode=AutoresetMode.DISABLED, opponents=opponents, illegal=illegal, **kwargs
        )
        self.game_spec, self.players = self.env.game_spec, self.env.players
        self.in_turn = self.env.rows_per_game < len(self.players)
        if one_by_one and self.in_turn:
            self._turns_per_cycle = len(self.players)
        self.acting: tuple[int, ...] = ()
        self.terminated = self.truncated = False
        self._steps = 0
        self._seen: dict[int, dict[str, NDArray[Any]]] = {}
        self._masks: dict[int, NDArray[np.int8]] = {}
        self._no_actions = np.zeros(self.game_spec.actions, np.int8)

    # -- spaces ---------------------------------------------------------------------

    def observation_space(self) -> spaces.Space[Any]:
        """Return a new observation space of a seat."""
        seen = self.game_spec.observation_space()
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
        return spaces.Dict({"observation": flat, "action_mask": spaces.Box(0, 1, (self.game_spec.actions,), np.int8)})

    # -- playing --------------------------------------------------------------------

    def reset(self, seed: int | None) -> None:
        """Start an episode."""
        self.env.reset(seed=seed)
        self.terminated = self.truncated = False
        self._steps = 0
        self._update()

    def step(self, chosen: Mapping[int, int]) -> None:
        """Step the game with the action of each acting seat."""
        seats = self._row_seats()
        actions = np.array([chosen.get(seat, 0) for seat in seats], np.int64)
        _, _, terminated, truncated, _ = self.env.step(actions)
        self._steps += 1
        cut = self._cycles is not None and self._steps >= self._cycles * self._turns_per_cycle
        self.terminated = bool(terminated[0])
        self.truncated = bool(truncated[0]) or (cut and not self.terminated)
        self._update()

    def checked(self, action: Any, seat: int) -> int:
        """Return an action as an int.

        Raises:
            IllegalActionError: it is outside of the action space; or not legal, with ``illegal="error"``.
        """
        number = operator.index(action)
        known = 0 <= number < self.game_spec.actions
        if not known or (self._illegal == "error" and not self._masks[seat][number]):
            raise IllegalActionError(
                f"illegal action {number} of seat {seat}: sample from info['action_mask'], or pass illegal=\"random\"",
                data={"seat": seat, "action": number},
            )
        return number

    def _row_seats(self) -> list[int]:
        return [int(seat) for seat in self.env._current().seat]

    def _update(self) -> None:
        """Update the acting seats and their masks."""
        self._seen = {}
        masks = self.env.action_masks.view(np.int8)
        rows = (
            {} if self.terminated else {seat: row for row, seat in enumerate(self._row_seats()) if seat in self.players}
        )
        self._masks = {seat: masks[row] for seat, row in rows.items()}
        self.acting = tuple(sorted(rows))

    # -- observations -----------------------------------------------------------------

    def observation(self, seat: int) -> Any:
        """Return the observation of a driven seat now, in new arrays."""
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
        """Ask the server for all seats' observations: in turn-based games the row has only the acting seat's."""
        d = self.env._call("observe", None)
        planes = np.frombuffer(d["planes"], np.uint8).reshape(self.env.seats, *self.game_spec.planes_shape)
        globals_ = np.frombuffer(d["globals"], "<f4").reshape(self.env.seats, len(self.game_spec.global_names))
        self._seen = {seat: {"planes": planes[seat], "globals": globals_[seat]} for seat in self.players}

    def mask(self, seat: int) -> NDArray[np.int8]:
        """Return a seat's legal actions, int8 (actions,); all 0 if it does not act now."""
        return self._masks.get(seat, self._no_actions)

    def reward(self, seat: int) -> float:
        """Return a seat's reward in the last step."""
        return float(self.env.seat_rewards[0, seat])

    def info(self, seat: int) -> dict[str, Any]:
        """Return the infos of a seat."""
        return {"action_mask": self.mask(seat), "score": int(self.env.scores[0, seat])}
