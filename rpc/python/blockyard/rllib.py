"""RLlib: the games as vector environments of its env runners.

    from blockyard.rllib import ppo_config

    algorithm = ppo_config("BlockBattle-v0", num_env_runners=2, num_envs_per_env_runner=64).build_algo()
    algorithm.train()

RLlib's new API stack uses a vector environment directly if ``gym_env_vectorize_mode`` is
``"vector_entry_point"``; register :func:`create` for that. Every env runner starts a local server on its
node, unless ``address`` is given. Needs ``pip install 'blockyard[rllib]'``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorObservationWrapper
from gymnasium.vector.utils import batch_space

from .errors import needs
from .vector.batch import Obs
from .vector.env import BlockVectorEnv
from .vector.options import MASKED, NO_LEARNERS, Options

with needs("blockyard.rllib", "RLlib", "rllib"):
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env

NAME = "blockyard"
# Arguments of make_vec that it does not take, and why.
REFUSED = NO_LEARNERS | MASKED


class MaskedVectorEnv(VectorObservationWrapper):  # type: ignore[type-arg,unused-ignore]
    """A vector environment with observations for RLlib's ``ActionMaskingTorchRLModule``.

    Observations are dicts of ``observations``, float32 (rows, n), the planes divided by their largest value and
    then the globals; and ``action_mask``, float32 (rows, actions), with only action 0, which is ignored, for a row
    that need not act. Infos have ``score``, ``acting``, and ``illegal`` unless that is an error. The autoreset
    mode is NEXT_STEP, which RLlib's env runners expect.

    With ``actions="afterstates"``, ``observations`` are float32 (rows, k, F + 2), of each candidate its features, its
    reward and whether the game is over then, and the mask has a candidate in the place of an action.

    Attributes:
        env: the vector environment that it wraps.
    """

    env: BlockVectorEnv

    def __init__(self, env: BlockVectorEnv) -> None:
        """Wrap env, which this environment then owns and closes."""
        if env.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise ValueError(f"autoreset_mode: want 'NextStep' for RLlib, got {env.autoreset_mode.value!r}")
        super().__init__(env)
        env.engine.batch.with_mask = False  # in infos, which RLlib would copy
        seen: Any = env.single_observation_space
        chosen: Any = env.single_action_space
        if "planes" in seen.spaces and "mask" in seen.spaces:
            raise ValueError(
                'actions="afterstate_planes": RLlib\'s environment has features: pass actions="afterstates"'
            )
        if "features" in seen.spaces:
            count, width = seen["features"].shape
            shape: tuple[int, ...] = (count, width + 2)
        else:
            shape = (int(np.prod(seen["planes"].shape)) + seen["globals"].shape[0],)
        numbers = spaces.Box(-np.inf, np.inf, shape, np.float32)
        mask = spaces.Box(0, 1, (int(chosen.n),), np.float32)
        self.single_observation_space = spaces.Dict({"observations": numbers, "action_mask": mask})
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def observations(self, obs: Obs) -> Obs:
        """Return one array of numbers for each row, and its mask, as RLlib takes them; see the class."""
        if "features" in obs:
            numbers = np.concatenate([obs["features"], obs["reward"][..., None], obs["done"][..., None]], axis=2)
        else:
            planes = obs["planes"].reshape(self.num_envs, -1).astype(np.float32) / self.env.game_spec.planes_high
            numbers = np.concatenate([planes, obs["globals"]], axis=1)
        return {"observations": numbers, "action_mask": self.env.action_masks.astype(np.float32)}


class AfterstateRLModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc,unused-ignore]
    """A policy of PPO that scores each candidate by one network; a second one values the best of them.

    For environments with ``actions="afterstates"``. ``model_config`` may have ``hidden``, the width of both, 64 by
    default.
    """

    def setup(self) -> None:
        """Build both networks."""
        nn, width = torch.nn, self.observation_space["observations"].shape[-1]
        hidden = self.model_config.get("hidden", 64)
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(width, hidden), nn.LeakyReLU(), nn.Linear(hidden, 1)) for _ in range(2)
        )

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits = self.actor(seen["observations"])[..., 0]
        least = torch.finfo(logits.dtype).min
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, least)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Return the value of each row, that of its best candidate."""
        seen = batch[Columns.OBS]["observations"]
        best = self._forward(batch)[Columns.ACTION_DIST_INPUTS].argmax(1)
        return self.critic(seen[torch.arange(len(best)), best])[:, 0]


def create(config: Mapping[str, Any]) -> MaskedVectorEnv:
    """Create the vector environment of an env runner.

    Args:
        config: the runner's ``env_config``: ``game``, other arguments of :func:`blockyard.make_vec` except ``copy``,
            ``slots``, ``mask``, ``rows`` and ``packed``, and ``num_envs``, the number of rows, which RLlib adds. If the
            client drives several seats (``opponents=None``), it must be a multiple of their number.

    Raises:
        ValueError: ``game`` or ``num_envs`` is missing, or ``num_envs`` is not such a multiple.
    """
    how = {"autoreset_mode": AutoresetMode.NEXT_STEP, **config}
    rows = how.pop("num_envs", None)
    if rows is None:
        how_to = "call config.env_runners(gym_env_vectorize_mode='vector_entry_point')"
        raise ValueError(f"env_config has no 'num_envs': {how_to}")
    game = how.pop("game", None)
    if game is None:
        raise ValueError("env_config has no 'game': add one, such as 'BlockBattle-v0'")
    Options.refuse(how, "RLlib's environment", REFUSED)
    with BlockVectorEnv(game, **{k: v for k, v in how.items() if k not in ("seed", "record", "checkpoint")}) as one:
        driven = one.rows_per_game
    if rows % driven:
        raise ValueError(f"num_envs_per_env_runner: got {rows}, want a multiple of {driven}, the driven seats")
    return MaskedVectorEnv(BlockVectorEnv(game, rows // driven, **how))


def ppo_config(
    game: str, *, num_env_runners: int = 0, num_envs_per_env_runner: int = 16, **env_config: Any
) -> PPOConfig:
    """Return a configuration of PPO with action masks on a game; adjust it like any other ``PPOConfig``.

    With ``actions="afterstates"`` its policy is :class:`AfterstateRLModule`.

    Args:
        game: an id, as in :func:`blockyard.make_vec`.
        num_env_runners: number of processes that step environments; 0 steps them in this process.
        num_envs_per_env_runner: rows of each of them.
        env_config: arguments of :func:`blockyard.make_vec`.
    """
    register_env(NAME, create)
    runners = {"num_env_runners": num_env_runners, "num_envs_per_env_runner": num_envs_per_env_runner}
    config = PPOConfig().environment(NAME, env_config={"game": game, **env_config})
    config = config.env_runners(**runners, gym_env_vectorize_mode="vector_entry_point")
    scores = env_config.get("actions", "ids") != "ids"
    module = AfterstateRLModule if scores else ActionMaskingTorchRLModule
    return config.rl_module(rl_module_spec=RLModuleSpec(module_class=module))
