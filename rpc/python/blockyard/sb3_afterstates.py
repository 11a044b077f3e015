"""Stable-Baselines3 on afterstates: a policy that values the position after each legal action.

    from sb3_contrib import MaskablePPO
    from blockyard.sb3_afterstates import AfterstatePolicy, AfterstateVecEnv

    env = AfterstateVecEnv("BlockBattle-v0", num_envs=64, opponents="curriculum", reward="shaped")
    model = MaskablePPO(AfterstatePolicy, env).learn(100_000)
    blockyard.save_weights("mine.safetensors", model.policy.actor, env.facts)

A policy over the numbers of actions has to learn for each of a thousand of them on which boards it is good; this one
learns once what a good position is. Its network is an evaluator: the agent ``learned:ply=1,weights=mine.safetensors``.

Needs ``pip install 'blockyard[sb3]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .errors import needs
from .networks.weights import feature_facts, features
from .sb3 import Indices, SB3VecEnv

with needs("blockyard.sb3_afterstates", "sb3-contrib", "sb3"):
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import create_mlp
    from stable_baselines3.common.type_aliases import Schedule
    from torch import nn

SURE = 6.0  # log odds of an action that ends the game with reward 1


class AfterstateVecEnv(SB3VecEnv):
    """Many games whose observations are the legal actions; a ``VecEnv`` for :class:`AfterstatePolicy`.

    An observation is float16 (most, F + 2), a line for each legal action in ascending order: the F features of the
    position after it, see :func:`blockyard.features`, then 1, then the reward if the action ends the game and 0
    otherwise. Other lines are zero. An action is the index of a line.

    Attributes:
        facts: names of the features, see :class:`blockyard.FeatureFacts`.
        ids: int64 (rows, most), ids of the actions.
    """

    def __init__(self, game: Any, num_envs: int = 1, *, most: int = 64, **kwargs: Any) -> None:
        """Create it.

        Args:
            game, num_envs, kwargs: as in :class:`SB3VecEnv`. The game must define features.
            most: number of lines. Of more legal actions only this many are offered, evenly spaced among their ids;
                64 are enough in Block Battle and the duel.
        """
        super().__init__(game, num_envs, **kwargs)
        self.facts = feature_facts(self.env)
        shape = (most, len(self.facts) + 2)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float16)
        self.action_space = gymnasium.spaces.Discrete(most)
        self.ids = np.zeros((self.num_envs, most), np.int64)
        self._mask = np.zeros(self.ids.shape, bool)

    def _look(self) -> NDArray[np.float16]:
        """Return the observations of all rows, and keep their ids and masks."""
        f, most = features(self.env), self.ids.shape[1]
        row, legal = f.row, f.counts[f.row].astype(np.int64)
        line = np.arange(len(row)) - f.indptr[row].astype(np.int64)
        line = np.where(legal > most, line * most // legal, line)  # of those that share a line the last one stays
        obs = np.zeros((self.num_envs, *self.observation_space.shape), np.float16)
        obs[row, line, :-2], obs[row, line, -2] = f.features, 1
        obs[row, line, -1] = np.where(f.done, f.reward, 0)
        self._mask = obs[..., -2] > 0
        self.ids[row, line] = f.actions
        waiting = np.flatnonzero(f.counts == 0)
        self._mask[waiting, 0] = True
        self.ids[waiting, 0] = self.env.ignored_action
        self._seen = obs
        return obs

    def reset(self) -> Any:
        """Start new episodes, as :class:`SB3VecEnv` does, and return the observations, (rows, most, F + 2)."""
        super().reset()
        return self._look()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Send the actions of a step, indices of lines, (rows,); a line without an action counts as illegal."""
        rows = np.arange(self.num_envs)
        ids = self.ids[rows, actions]
        if len(wrong := np.flatnonzero(~self._mask[rows, actions])):
            ids[wrong] = self.env.action_masks[wrong].argmin(1)
        super().step_async(ids)

    def step_wait(self) -> Any:
        """Return what :class:`SB3VecEnv` returns.

        A last position has no actions, so ``terminal_observation`` is the one before the last action. The value of a
        truncated game is taken from it.
        """
        _, rewards, dones, infos = super().step_wait()
        for i in np.flatnonzero(dones):
            infos[i]["terminal_observation"] = self._seen[i]
        return self._look(), rewards, dones, infos

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call a method as :class:`SB3VecEnv` does; ``action_masks`` has a column for each line, bool (rows, most)."""
        if method_name == "action_masks":
            return [self._mask] if indices is None else list(self._mask[self._rows(indices)])
        return super().env_method(method_name, *args, indices=indices, **kwargs)


class AfterstatePolicy(MaskableActorCriticPolicy):
    """A policy over :class:`AfterstateVecEnv`: one network scores each line, another values the best of them.

    ``policy_kwargs={"net_arch": [64]}``, the default, is one hidden layer of 64 units in each.

    Attributes:
        actor: torch module from features (m, F) to scores (m, 1), which :func:`blockyard.save_weights` takes.
        critic: the same, to values.
    """

    def __init__(self, *args: Any, net_arch: Sequence[int] = (64,), **kwargs: Any) -> None:
        super().__init__(*args, net_arch=list(net_arch), **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        if len(self.observation_space.shape or ()) != 2:
            raise ValueError(f"want observations of AfterstateVecEnv, got a {type(self.observation_space).__name__}")
        self.mlp_extractor: Any = _Lines(self.observation_space.shape, self.net_arch)
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


class _Lines(nn.Module):
    """From flat observations (n, most·(F + 2)) to scores (n, most) and values (n, 1)."""

    def __init__(self, shape: Any, hidden: list[int]) -> None:
        super().__init__()
        self.shape = shape
        self.actor, self.critic = (nn.Sequential(*create_mlp(shape[1] - 2, 1, hidden, nn.LeakyReLU)) for _ in range(2))

    def forward(self, flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = flat.view(-1, *self.shape)
        there, ends = x[..., -2] > 0, x[..., -1]
        if (x[..., -2] != there).any():
            raise ValueError("these are not the observations of AfterstateVecEnv: pass norm_obs=False to VecNormalize")
        scores = x.new_full(there.shape, -2 * SURE)
        scores[there] = self.actor(x[there][:, :-2])[:, 0]
        scores = torch.where(ends != 0, SURE * ends, scores)
        best = torch.where(there, scores, -torch.inf).argmax(1)
        return scores, self.critic(x[torch.arange(len(x)), best, :-2])

    def forward_actor(self, flat: torch.Tensor) -> torch.Tensor:
        return self(flat)[0]

    def forward_critic(self, flat: torch.Tensor) -> torch.Tensor:
        return self(flat)[1]
