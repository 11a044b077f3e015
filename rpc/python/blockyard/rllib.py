"""RLlib: the games as native vector environments of its runners.

    from blockyard.rllib import ppo_config

    algorithm = ppo_config("BlockBattle-v0", num_env_runners=2, num_envs_per_env_runner=64).build_algo()
    algorithm.train()

RLlib (new API stack) takes a vector environment whole if ``gym_env_vectorize_mode`` is
``"vector_entry_point"``; :func:`create` is what to register for that. Every runner starts a
server of its own on its node, unless ``address`` names one. Needs ``pip install 'blockyard[rllib]'``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import make_vec
from .missing import missing
from .vector import BlockVectorEnv, Obs

try:
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env
except ImportError as error:
    raise missing("blockyard.rllib", "RLlib", "rllib", error) from error

NAME = "blockyard"


class MaskedVectorEnv(VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """A vector environment whose observations RLlib's ``ActionMaskingTorchRLModule`` reads.

    They are dicts of ``observations``, float32 (rows, n): planes divided by their greatest value
    and globals behind them; and ``action_mask``, float32 (rows, actions), all 1 where a row need
    not act. Infos have ``score``. The mode is NEXT_STEP, as RLlib's runners want it.

    Attributes:
        env: the vector environment behind it.
    """

    def __init__(self, env: BlockVectorEnv) -> None:
        """Show env in that way; it belongs to this environment from now on."""
        self.closed = True  # nothing to close yet
        if env.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise ValueError(f"autoreset_mode: RLlib wants NextStep, the environment has {env.autoreset_mode.value}")
        self.env, self.num_envs = env, env.num_envs
        self.metadata, self.render_mode = env.metadata, env.render_mode
        facts = env.facts
        numbers = int(np.prod(facts.planes_shape)) + len(facts.global_names)
        self.single_observation_space = spaces.Dict(
            {
                "observations": spaces.Box(-np.inf, np.inf, (numbers,), np.float32),
                "action_mask": spaces.Box(0, 1, (facts.actions,), np.float32),
            }
        )
        self.single_action_space = env.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = env.action_space
        self.closed = False

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start new games, as the environment behind does."""
        obs, infos = self.env.reset(seed=seed, options=options)
        return self._seen(obs), self._infos(infos)

    def step(
        self, actions: Any
    ) -> tuple[Obs, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play an action in every row, as the environment behind does."""
        obs, rewards, terminated, truncated, infos = self.env.step(np.asarray(actions))
        return self._seen(obs), rewards, terminated, truncated, self._infos(infos)

    def _seen(self, obs: Obs) -> Obs:
        planes = obs["planes"].reshape(self.num_envs, -1).astype(np.float32) / self.env.facts.planes_high
        masks = self.env.action_masks
        idle = ~masks.any(axis=1, keepdims=True)
        return {
            "observations": np.concatenate([planes, obs["globals"]], axis=1),
            "action_mask": (masks | idle).astype(np.float32),
        }

    @staticmethod
    def _infos(infos: dict[str, Any]) -> dict[str, Any]:
        return {key: infos[key] for key in ("score", "_score")}

    def render(self) -> Any:
        """Return pictures of the games."""
        return self.env.render()

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games."""
        self.env.close()


def create(config: Mapping[str, Any]) -> MaskedVectorEnv:
    """Return the vector environment of a runner.

    Args:
        config: the runner's ``env_config``: ``game``, and arguments of :func:`blockyard.make_vec`; and
            ``num_envs``, which RLlib adds: how many rows. With several driven seats (``opponents=None``)
            that is a multiple of them.
    """
    how = dict(config)
    rows = how.pop("num_envs", None)
    if rows is None:
        raise ValueError("RLlib did not say how many: config.env_runners(gym_env_vectorize_mode='vector_entry_point')")
    game = how.pop("game", None)
    if game is None:
        raise ValueError("env_config has no 'game', such as 'BlockBattle-v0'")
    env = make_vec(game, rows, **how)
    if env.rows_per_game > 1:
        driven = env.rows_per_game
        env.close()
        if rows % driven:
            raise ValueError(f"num_envs_per_env_runner: {rows} rows, want a multiple of the {driven} seats of a game")
        env = make_vec(game, rows // driven, **how)
    return MaskedVectorEnv(env)


def ppo_config(
    game: str, *, num_env_runners: int = 0, num_envs_per_env_runner: int = 16, **env_config: Any
) -> PPOConfig:
    """Return a configuration of masked PPO on a game, to go on with as with any other.

    Args:
        game: a game.
        num_env_runners: processes that play; 0 plays in this one.
        num_envs_per_env_runner: rows each of them steps.
        env_config: arguments of :func:`blockyard.make_vec`.
    """
    register_env(NAME, create)
    return (
        PPOConfig()
        .environment(NAME, env_config={"game": game, **env_config})
        .env_runners(
            num_env_runners=num_env_runners,
            num_envs_per_env_runner=num_envs_per_env_runner,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )
