"""Stable-Baselines3 on afterstates: a policy that values the position after each legal action.

    from sb3_contrib import MaskablePPO
    from blockyard.sb3 import SB3VecEnv
    from blockyard.sb3_afterstates import AfterstatePolicy

    env = SB3VecEnv("BlockBattle-v0", 64, actions="afterstates", opponents="curriculum", reward="shaped")
    model = MaskablePPO(AfterstatePolicy, env).learn(100_000)
    blockyard.save_weights("mine.safetensors", model.policy.actor, blockyard.feature_facts(env.env))

A policy over the numbers of actions has to learn for each of a thousand of them on which boards it is good; this one
learns once what a good position is. Its network is an evaluator: the agent ``learned:ply=1,weights=mine.safetensors``.

Needs ``pip install 'blockyard[sb3]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium

from .errors import needs

with needs("blockyard.sb3_afterstates", "sb3-contrib", "sb3"):
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, create_mlp
    from stable_baselines3.common.type_aliases import Schedule
    from torch import nn

SURE = 6.0  # log odds of an action that ends the game with reward 1


class AfterstatePolicy(MaskableActorCriticPolicy):
    """A policy over ``actions="afterstates"``: one network scores each candidate, another values the best of them.

    ``policy_kwargs={"net_arch": [64]}``, the default, is one hidden layer of 64 units in each.

    Attributes:
        actor: torch module from features (m, F) to scores (m, 1), which :func:`blockyard.save_weights` takes.
        critic: the same, to values.
    """

    def __init__(self, *args: Any, net_arch: Sequence[int] = (64,), **kwargs: Any) -> None:
        super().__init__(*args, net_arch=list(net_arch), features_extractor_class=_AsTheyAre, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        space = self.observation_space
        if not isinstance(space, gymnasium.spaces.Dict) or not {"features", "mask"} <= space.keys():
            raise ValueError('want the observations of SB3VecEnv(game, actions="afterstates"), got others')
        self.mlp_extractor: Any = _Candidates(space["features"].shape, self.net_arch)
        self.action_net: Any = nn.Identity()
        self.value_net: Any = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    @property
    def actor(self) -> nn.Module:
        """The torch module from features (m, F) to scores (m, 1)."""
        return self.mlp_extractor.actor

    @property
    def critic(self) -> nn.Module:
        """The torch module from features (m, F) to values (m, 1)."""
        return self.mlp_extractor.critic


class _AsTheyAre(BaseFeaturesExtractor):
    """Passes observations on."""

    def __init__(self, space: gymnasium.spaces.Dict) -> None:
        super().__init__(space, 1)

    def forward(self, obs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return obs


class _Candidates(nn.Module):
    """From observations of n rows to scores (n, candidates) and values (n, 1)."""

    def __init__(self, shape: Any, hidden: list[int]) -> None:
        super().__init__()
        self.actor, self.critic = (nn.Sequential(*create_mlp(shape[-1], 1, hidden, nn.LeakyReLU)) for _ in range(2))

    def forward(self, obs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        features, there = obs["features"], obs["mask"] > 0
        if (obs["mask"] != there).any():
            raise ValueError("the mask of candidates was normalised: pass norm_obs=False to VecNormalize")
        scores = features.new_full(there.shape, -2 * SURE)
        scores[there] = self.actor(features[there])[:, 0]
        scores = torch.where(obs["done"] > 0, SURE * obs["reward"], scores)
        best = torch.where(there, scores, -torch.inf).argmax(1)
        return scores, self.critic(features[torch.arange(len(best)), best])

    def forward_actor(self, obs: dict[str, torch.Tensor]) -> torch.Tensor:
        return self(obs)[0]

    def forward_critic(self, obs: dict[str, torch.Tensor]) -> torch.Tensor:
        return self(obs)[1]
