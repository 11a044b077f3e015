"""TorchRL: the games as a batched ``EnvBase``.

    from torchrl.envs import TransformedEnv, ActionMask
    from blockyard.torchrl import BlockEnv

    env = TransformedEnv(BlockEnv("BlockBattle-v0", num_envs=64), ActionMask())
    rollout = env.rollout(100, break_when_any_done=False)

Needs ``pip install 'blockyard[torchrl]'``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from .errors import needs
from .vector.batch import Obs
from .vector.env import BlockVectorEnv
from .vector.options import MASKED, NO_LEARNERS, Options

with needs("blockyard.torchrl", "TorchRL", "torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase


# Arguments of make_vec that it does not take, and why.
REFUSED = NO_LEARNERS | MASKED | {"autoreset_mode": "TorchRL resets ended episodes itself"}
_ENDS = ("done", "terminated", "truncated")
_NAMES = {"reward": "candidate_reward", "done": "candidate_done"}  # of what TorchRL has names for


class BlockEnv(EnvBase):
    """Many games; a ``torchrl.envs.EnvBase`` with ``batch_size`` (rows,).

    Each row is a row of a :class:`blockyard.BlockVectorEnv`: one seat that the client drives. Observations are
    ``planes``, uint8 (rows, C, H, W), ``globals``, float32 (rows, G), ``score``, int32 (rows, 1), and
    ``action_mask``, bool (rows, actions), which TorchRL's ``ActionMask`` transform and ``MaskedCategorical``
    read, and ``acting``, bool (rows, 1), whether the row must act. The mask of a row that need not act has one
    action, 0, which is ignored. If the server plays n seats, ``opponent``, int64 (rows, n), has their opponents in this
    episode, as indices into ``env.opponent_specs``.

    With ``actions="afterstates"``, the arrays over candidates are in the place of ``planes`` and ``globals``, their
    rewards and ends as ``candidate_reward`` and ``candidate_done``; the mask has a candidate in the place of an action.

    TorchRL resets ended episodes itself (``_reset``), so no step of a collector is spent on a reset.

    Attributes:
        env: the vector environment that it wraps.
    """

    batch_locked = True

    def __init__(self, game: str, num_envs: int = 1, *, device: Any = "cpu", **kwargs: Any) -> None:
        """Create it.

        Args:
            game: an id, as in :func:`blockyard.make_vec`.
            num_envs: number of games.
            device: of the tensors.
            kwargs: other arguments of make_vec, except ``autoreset_mode``, ``copy``, ``slots``, ``mask``, ``rows`` and
                ``packed``.
        """
        Options.refuse(kwargs, "TorchRL's BlockEnv", REFUSED)
        self.env: BlockVectorEnv = BlockVectorEnv(game, num_envs, autoreset_mode=AutoresetMode.DISABLED, **kwargs)
        chosen: Any = self.env.single_action_space
        rows, actions = self.env.num_envs, int(chosen.n)
        super().__init__(device=device, batch_size=torch.Size([rows]))
        one: dict[str, Any] = {"shape": (rows, 1), "device": device}
        self.observation_spec = Composite(
            action_mask=Binary(shape=(rows, actions), dtype=torch.bool, device=device),
            acting=Binary(dtype=torch.bool, **one),
            score=Unbounded(dtype=torch.int32, **one),
            shape=(rows,),
        )
        seen: Any = self.env.single_observation_space
        self._shown = {key: _NAMES.get(key, key) for key in seen.spaces if key != "mask"}
        for key, name in self._shown.items():
            space = seen[key]
            how = {"shape": (rows, *space.shape), "dtype": torch.as_tensor(space.low).dtype, "device": device}
            cells = space.dtype == np.uint8
            self.observation_spec[name] = Bounded(0, int(space.high.max()), **how) if cells else Unbounded(**how)
        if others := self.env.seats - len(self.env.players):
            self.observation_spec["opponent"] = Unbounded(shape=(rows, others), dtype=torch.int64, device=device)
        self.action_spec = Categorical(actions, shape=(rows,), dtype=torch.int64, device=device)
        self.reward_spec = Unbounded(dtype=torch.float32, **one)
        ends = {name: Categorical(2, dtype=torch.bool, **one) for name in _ENDS}
        self.full_done_spec = Composite(ends, shape=(rows,))
        self._seed: int | None = None

    def _to_observation(self, obs: Obs, infos: dict[str, Any]) -> dict[str, torch.Tensor]:
        tensors = {name: torch.as_tensor(obs[key]) for key, name in self._shown.items()}
        tensors |= {
            "action_mask": torch.as_tensor(self.env.action_masks),
            "acting": torch.as_tensor(self.env.acting)[:, None],
            "score": torch.as_tensor(infos["score"])[:, None],
        }
        if "opponent" in infos:
            opponents = infos["opponent"].reshape(self.env.num_envs, -1).astype(np.int64)
            tensors["opponent"] = torch.as_tensor(opponents)
        return tensors

    def _tensors(self, values: dict[str, torch.Tensor]) -> TensorDict:
        return TensorDict(values, batch_size=self.batch_size, device=self.device)

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDict:
        """Start new episodes: in all rows, or in those whose ``_reset`` is True."""
        chosen = None if tensordict is None else tensordict.get("_reset", None)
        options = None
        if chosen is not None and not bool(chosen.all()):
            options = {"reset_mask": chosen.reshape(self.env.num_envs).cpu().numpy()}
        obs, infos = self.env.reset(seed=self._seed, options=options)
        self._seed = None
        ends = {name: torch.zeros(self.env.num_envs, 1, dtype=torch.bool) for name in _ENDS}
        return self._tensors(self._to_observation(obs, infos) | ends)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        actions = tensordict.get("action").reshape(self.env.num_envs).cpu().numpy()
        obs, rewards, terminated, truncated, infos = self.env.step(actions)
        ends = zip(_ENDS, (terminated | truncated, terminated, truncated), strict=True)
        result = {name: torch.as_tensor(flags)[:, None] for name, flags in ends}
        result["reward"] = torch.as_tensor(rewards.astype(np.float32))[:, None]
        return self._tensors(self._to_observation(obs, infos) | result)

    def _set_seed(self, seed: int | None) -> None:
        self._seed = None if seed is None else int(seed)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Free the games. May be called again."""
        self.env.close()
        super().close(raise_if_closed=raise_if_closed and not self.is_closed)
