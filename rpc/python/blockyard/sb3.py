"""Stable-Baselines3: the games as a ``VecEnv``.

    from sb3_contrib import MaskablePPO
    from blockyard.sb3 import SB3VecEnv

    env = SB3VecEnv("BlockBattle-v0", num_envs=64)
    MaskablePPO("MultiInputPolicy", env).learn(100_000)

Needs ``pip install 'blockyard[sb3]'``.
"""

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .errors import needs
from .vector.batch import Obs
from .vector.env import BlockVectorEnv
from .vector.options import NO_LEARNERS, Options

with needs("blockyard.sb3", "Stable-Baselines3", "sb3"):
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv

# Arguments of make_vec that it does not take, and why.
REFUSED = {**NO_LEARNERS, "autoreset_mode": "the library expects SameStep"}
Indices = int | Sequence[int] | None
Rows = tuple[Obs, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


class SB3VecEnv(VecEnv):
    """Many games; a ``stable_baselines3.common.vec_env.VecEnv``.

    Each environment of the VecEnv is one row of a :class:`blockyard.BlockVectorEnv`: one seat that the client
    drives. In turn-based games the rows of the other seats wait: their mask has one action, which is ignored, so
    MaskablePPO has no policy gradient there. Observations are dicts, so use ``"MultiInputPolicy"``. A game that ended
    is reset in the same step, and its info has what Stable-Baselines3 asks for:

    ========================  =================================================================
    ``terminal_observation``  the last observation of the episode
    ``TimeLimit.truncated``   whether the episode was truncated
    ``score``                 points of the row's seat
    ``episode``               ``r``, ``l``, ``t`` as a Monitor writes them, for the log
    ``opponent``              spec of the opponent, or a list of specs with several; absent with none
    ========================  =================================================================

    The info of any other row has only ``TimeLimit.truncated``. ``reset_infos`` have only ``score``.

    Attributes:
        env: the vector environment that it wraps.
    """

    def __init__(self, game: str, num_envs: int = 1, **kwargs: Any) -> None:
        """Create it.

        Args:
            game: an id, as in :func:`blockyard.make_vec`.
            num_envs: number of games.
            kwargs: other arguments of make_vec, except ``autoreset_mode``, ``copy``, ``slots`` and ``rows``.
        """
        Options.refuse(kwargs, "SB3VecEnv", REFUSED)
        self.env = BlockVectorEnv(game, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **kwargs)
        n = self.env.num_envs
        self._under_way = False
        self._returns, self._lengths, self._begun = np.zeros(n), np.zeros(n, np.int64), time.monotonic()
        super().__init__(n, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> Obs:
        """Start new episodes, with the seeds of :meth:`seed` if it was called since the last reset."""
        if self._under_way:
            self.step_wait()
        seeds = self._seeds[: self.env.num_games]  # seed(s) has made them s, s + 1 and so on
        obs, infos = self.env.reset(seed=None if all(s is None for s in seeds) else seeds)
        self.reset_infos = [{"score": int(score)} for score in infos["score"]]
        self._returns[:], self._lengths[:] = 0, 0
        self._reset_seeds()
        self._reset_options()
        return obs

    def step_async(self, actions: NDArray[Any]) -> None:
        """Send the actions of a step."""
        self.env.step_async(actions)
        self._under_way = True

    def step_wait(self) -> Rows:
        """Return observations, rewards (float32), dones (bool) and infos (a list of dicts)."""
        self._under_way = False
        obs, rewards, terminated, truncated, infos = self.env.step_wait()
        self._returns += rewards
        self._lengths += 1
        rows: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        done = terminated | truncated
        if done.any():
            final_obs, last, now = infos["final_obs"], infos["final_info"], time.monotonic() - self._begun
            score, opponents = last["score"], self.env.specs_of(last["opponent"]) if "opponent" in last else None
            for i in np.flatnonzero(done).tolist():
                rows[i] = {
                    "terminal_observation": final_obs[i],
                    "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                    "score": int(score[i]),
                    "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": round(now, 6)},
                }
                if opponents is not None:
                    rows[i]["opponent"] = opponents[i]
                self.reset_infos[i] = {"score": 0}
            self._returns[done], self._lengths[done] = 0, 0
        return obs, rewards.astype(np.float32), done, rows

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Set options of the next reset; there are none, so only empty options are accepted."""
        if any(options) if isinstance(options, list) else options:
            raise ValueError(f"options {options!r}: want no options, reset has none")
        super().set_options(options)

    def close(self) -> None:
        """Free the games."""
        self.env.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a picture of every row's game, uint8 (height, width, 3); None without ``render_mode="rgb_array"``."""
        if self.render_mode != "rgb_array":
            text = f"render_mode is {self.render_mode!r}: pass render_mode='rgb_array' to get images"
            warnings.warn(text, stacklevel=2)
            return [None] * self.num_envs
        return list(self.env.call("picture"))

    def _rows(self, indices: Indices) -> list[int]:
        rows = range(self.num_envs)
        if indices is None:
            return list(rows)
        return [rows[i] for i in ([indices] if isinstance(indices, int) else indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Return whether there is such an attribute; ``action_masks`` unless made with ``mask=False``."""
        if attr_name == "action_masks":
            return self.env.engine.batch.with_mask
        return hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the vector environment once for each row."""
        if not self.has_attr(attr_name):
            raise AttributeError(f"{type(self.env).__name__} has no attribute {attr_name!r}")
        return [getattr(self.env, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the vector environment; indices must be all rows or None.

        ``opponents`` replaces the opponents, from the next episodes on. AttributeError: another argument of make_vec.
        """
        self._all(indices, f"set_attr({attr_name!r})")
        if attr_name in Options.__dataclass_fields__:
            self.env.set_attr(attr_name, value)
        else:
            setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call a method of the vector environment once, and return its result once for each row.

        ``action_masks`` without indices returns a list of one array, bool (num_envs, actions), zero-copy:
        sb3-contrib stacks the list in every step, which is a thousand times faster than stacking rows. With
        indices it returns one mask for each row.
        """
        if method_name == "action_masks":
            masks = self.env.action_masks
            return [masks] if indices is None else [masks[i] for i in self._rows(indices)]
        if method_name == "render":
            return [self.env.picture(row // self.env.rows_per_game) for row in self._rows(indices)]
        self._all(indices, f"env_method({method_name!r})")
        return [getattr(self.env, method_name)(*args, **kwargs)] * self.num_envs

    def _all(self, indices: Indices, what: str) -> None:
        if sorted(self._rows(indices)) != list(range(self.num_envs)):
            raise ValueError(f"{what}: the rows are one environment, so indices must be all rows or None")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return True for a ``Monitor``, whose statistics the infos have; False for other wrappers: there are none."""
        return [wrapper_class is Monitor] * len(self._rows(indices))
