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
from .formats.arguments import Illegal, one_of, positive
from .formats.opponents import Opponents
from .vector.env import BlockVectorEnv
from .vector.options import Options

OBSERVATIONS = ("flat", "masked", "planes")
# Arguments of make_vec that it does not take, and why.
REFUSED = {
    "num_envs": "it is one game",
    "autoreset_mode": "the library resets it",
    "max_episode_steps": "pass max_cycles to truncate episodes",
    "mask": "infos have action_mask",
    "rows": "each seat is an agent",
    "copy": "observations are copies",
    "slots": "observations are copies",
    "packed": "observations have planes",
}
# Illegal actions that cause a warning: PettingZoo's own tests play thousands without looking at masks.
WARN_AFTER = 10_000


class MultiAgentGame:
    """A game of which the client drives several seats; ``env`` is the vector environment of one game that it wraps."""

    def __init__(
        self,
        game: str,
        max_cycles: int | None,
        one_by_one: bool,
        *,
        observation: str = "flat",
        opponents: Opponents = None,
        illegal: Illegal | None = None,
        **kwargs: Any,
    ) -> None:
        """Create it; max_cycles counts the actions of one seat if one_by_one, otherwise steps."""
        one_of("observation", observation, OBSERVATIONS)
        if max_cycles is not None:
            positive("max_cycles", max_cycles)
        Options.refuse(kwargs, "PettingZoo's environments", REFUSED)
        self._illegal, self._observation, self._cycles = illegal, observation, max_cycles
        self._turns_per_cycle = 1
        self.env = BlockVectorEnv(
            game, 1, autoreset_mode=AutoresetMode.DISABLED, opponents=opponents, illegal=illegal, **kwargs
        )
        self.game_spec, self.players = self.env.game_spec, self.env.players
        if self.env._batch.illegal.warn_after is not None:
            self.env._batch.illegal.warn_after = WARN_AFTER
        # Whether the seats act one after the other.
        self.in_turn = self.game_spec.turn == "alternating" and len(self.players) > 1
        if one_by_one and self.in_turn:
            self._turns_per_cycle = len(self.players)
        self.acting: tuple[int, ...] = ()  # the driven seats that act now
        self.terminated = self.truncated = False
        self._steps = 0
        self._row = {seat: row for row, seat in enumerate(self.players)}
        self._seen: dict[str, NDArray[Any]] = {}
        self._infos: dict[str, Any] = {}

    def observation_space(self) -> spaces.Space[Any]:
        """Return a new observation space of a seat."""
        seen = self.game_spec.observation_space()
        if self._observation == "planes":
            return seen
        planes, globals_ = seen["planes"], seen["globals"]
        assert isinstance(planes, spaces.Box)
        assert isinstance(globals_, spaces.Box)
        low = np.concatenate([planes.low.reshape(-1).astype(np.float32), globals_.low])
        high = np.concatenate([planes.high.reshape(-1).astype(np.float32), globals_.high])
        flat = spaces.Box(low, high, dtype=np.float32)
        if self._observation == "flat":
            return flat
        return spaces.Dict({"observation": flat, "action_mask": spaces.Box(0, 1, (self.game_spec.actions,), np.bool_)})

    def reset(self, seed: int | None) -> None:
        """Start an episode."""
        self._seen, self._infos = self.env.reset(seed=seed)
        self.terminated = self.truncated = False
        self._steps = 0
        self._update()

    def step(self, chosen: Mapping[int, int]) -> None:
        """Step the game with the action of each acting seat."""
        actions = np.array([chosen.get(seat, self.env.ignored_action) for seat in self.players], np.int64)
        self._seen, _, terminated, truncated, self._infos = self.env.step(actions)
        self._steps += 1
        cut = self._cycles is not None and self._steps >= self._cycles * self._turns_per_cycle
        self.terminated = bool(terminated[0])
        self.truncated = bool(truncated[0]) or (cut and not self.terminated)
        self._update()

    def checked(self, action: Any, seat: int) -> int:
        """Return an action as an int.

        Raises:
            IllegalActionError: it is outside of the action space; or not legal, with ``illegal="error"``.
            TypeError: it is no integer.
        """
        if not hasattr(action, "__index__"):
            raise TypeError(f"action of seat {seat}: want an integer, got {action!r:.100}")
        number, count = operator.index(action), self.game_spec.actions
        if not 0 <= number < count:
            text = f"{number} of seat {seat} is not an action, want 0 <= action < {count}"
        elif self._illegal == "error" and not self.mask(seat)[number]:
            text = f"illegal action {number} of seat {seat}: choose from info['action_mask'], or pass "
            text += 'illegal="penalty" or illegal="random"'
        else:
            return number
        raise IllegalActionError(text, data={"seat": seat, "action": number})

    def _update(self) -> None:
        over = self.terminated or self.truncated
        self.acting = () if over else tuple(s for s, row in self._row.items() if self._infos["acting"][row])

    def observation(self, seat: int) -> Any:
        """Return the observation of a driven seat now, in new arrays."""
        seen = {key: value[self._row[seat]] for key, value in self._seen.items()}
        if self._observation == "planes":
            return {key: value.copy() for key, value in seen.items()}
        flat = np.concatenate([seen["planes"].reshape(-1), seen["globals"]]).astype(np.float32)
        if self._observation == "flat":
            return flat
        return {"observation": flat, "action_mask": self.mask(seat).copy()}

    def mask(self, seat: int) -> NDArray[np.bool_]:
        """Return a seat's legal actions, bool (actions,); only action 0, which is ignored, if it does not act now."""
        mask: NDArray[np.bool_] = self._infos["action_mask"][self._row[seat]]
        return mask

    def reward(self, seat: int) -> float:
        """Return a seat's reward in the last step."""
        return float(self.env.seat_rewards[0, seat])

    def info(self, seat: int) -> dict[str, Any]:
        """Return the infos of a seat: ``action_mask``, ``acting``, ``score``.

        Also ``illegal`` unless that is an error; and ``opponent`` if the server plays seats: the spec of the opponent
        in this episode, or a list of them if it plays several seats.
        """
        row = self._row[seat]
        info = {"action_mask": self.mask(seat), "acting": seat in self.acting, "score": int(self._infos["score"][row])}
        if "illegal" in self._infos:
            info["illegal"] = bool(self._infos["illegal"][row])
        if "opponent" in self._infos:
            info["opponent"] = self.env._specs_of(self._infos["opponent"])[row]
        return info
