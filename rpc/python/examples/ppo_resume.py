"""PPO that can be killed at any time and goes on as if nothing had happened.

    python ppo_resume.py --updates 20        # kill it when you like
    python ppo_resume.py --updates 20        # goes on after the last update that was saved

Everything that the run depends on is in one file, which each update replaces: the network, the optimizer, PyTorch's
random generator, and the environment: games in progress, their generators, and the opponents with what they remember.
A run that was interrupted prints the same losses, to the last digit, as one that was not.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import blockyard

GAMMA, LAMBDA, CLIP, ENTROPY = 0.99, 0.95, 0.2, 0.01


class Policy(nn.Module):
    """Logits of actions and a value from observations."""

    def __init__(self, spec: blockyard.GameSpec, hidden: int = 128) -> None:
        super().__init__()
        inputs = int(np.prod(spec.planes_shape)) + len(spec.global_names)
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU())
        self.actor, self.critic = nn.Linear(hidden, spec.actions), nn.Linear(hidden, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        hidden = self.body(x)
        return Categorical(logits=self.actor(hidden).masked_fill(~mask, -torch.inf)), self.critic(hidden)[:, 0]


def inputs(obs: dict[str, np.ndarray]) -> torch.Tensor:
    return torch.cat([torch.as_tensor(obs["planes"]).flatten(1).float(), torch.as_tensor(obs["globals"])], 1)


def rollout(env: blockyard.BlockVectorEnv, policy: Policy, x: torch.Tensor, steps: int) -> tuple[torch.Tensor, ...]:
    """Play with the policy; return x, masks, actions, log-probabilities, advantages, targets, and the next x."""
    told = []
    for _ in range(steps):
        mask = torch.as_tensor(env.action_masks)
        with torch.no_grad():
            choice, value = policy(x, mask)
        action = choice.sample()
        obs, reward, terminated, truncated, _ = env.step(action.numpy())
        ended = torch.as_tensor(terminated | truncated).float()
        told.append((x, mask, action, choice.log_prob(action), value, torch.as_tensor(reward).float(), ended))
        x = inputs(obs)
    xs, masks, actions, logps, values, rewards, ends = (torch.stack(v) for v in zip(*told, strict=True))
    with torch.no_grad():
        after = policy(x, torch.as_tensor(env.action_masks))[1]
    advantages, advantage = torch.zeros_like(values), torch.zeros_like(after)
    for t in reversed(range(steps)):
        delta = rewards[t] + GAMMA * after * (1 - ends[t]) - values[t]
        advantages[t] = advantage = delta + GAMMA * LAMBDA * (1 - ends[t]) * advantage
        after = values[t]
    return xs, masks, actions, logps, advantages, advantages + values, x


def update(policy: Policy, optimizer: torch.optim.Optimizer, batch: list[torch.Tensor]) -> float:
    """Fit the policy to a rollout; return the mean loss."""
    losses = []
    for part in torch.randperm(len(batch[0])).chunk(4):
        x, mask, action, logp, advantage, target = (v[part] for v in batch)
        choice, value = policy(x, mask)
        ratio = (choice.log_prob(action) - logp).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        loss = -gain + 0.5 * (value - target).square().mean() - ENTROPY * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="id of the game (default %(default)s)")
    parser.add_argument("--file", type=Path, default=Path("run.pt"), help="file of the run (default %(default)s)")
    parser.add_argument("--updates", type=int, default=20, help="updates of the whole run (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=32, help="number of games (default %(default)s)")
    parser.add_argument("--num-steps", type=int, default=32, help="steps of a rollout (default %(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    # What a saved run has: the environment's part is bytes, as a tensor so that torch.load reads it safely.
    saved = torch.load(args.file) if args.file.exists() else None
    games = {"checkpoint": saved["env"].numpy().tobytes()} if saved else {"seed": args.seed}
    opponents = {"random": 0.5, "hand:ply=1": 0.5}
    with blockyard.make_vec(args.game, args.num_envs, opponents=opponents, **games) as env:
        policy = Policy(env.game_spec)
        optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
        done = 0
        if saved:
            policy.load_state_dict(saved["policy"])
            optimizer.load_state_dict(saved["optimizer"])
            torch.set_rng_state(saved["generator"])
            done = saved["updates"]
            print(f"resumed after update {done}")
        x = inputs(env.reset()[0])  # of a checkpoint: its observations, not new episodes
        while done < args.updates:
            *batch, x = rollout(env, policy, x, args.num_steps)
            loss = update(policy, optimizer, [v.flatten(0, 1) for v in batch])
            done += 1
            print(f"update {done:3}  loss {loss!r}", flush=True)
            run = {
                "updates": done,
                "policy": policy.state_dict(),
                "optimizer": optimizer.state_dict(),
                "generator": torch.get_rng_state(),
                "env": torch.frombuffer(bytearray(env.checkpoint()), dtype=torch.uint8),
            }
            partial = args.file.with_name(args.file.name + ".partial")
            torch.save(run, partial)
            os.replace(partial, args.file)  # the file is whole at every moment
        for name, stats in env.opponent_stats().items():
            print(f"against {name}: {stats.games} games, score {stats.score:.2f}")


if __name__ == "__main__":
    main()
