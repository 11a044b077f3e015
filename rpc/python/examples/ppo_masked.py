"""PPO with action masks in one file, against an opponent on the server, with NEXT_STEP.

    python ppo_masked.py
    python ppo_masked.py --game WinTetris-v0 --reward score --max-episode-steps 200

The first takes 3 minutes on one core, the second 1 minute; docs/loops.md has the results.

With NEXT_STEP, the step after the end of an episode resets the game: its action is ignored, and its observation is the
first of the next episode. Such steps are no decisions of the policy: ``infos["acting"]`` is False before them, and they
are left out of the loss (``live`` below). The final observation is an ordinary observation, so a truncated episode is
bootstrapped like any other step. With SAME_STEP, the default, it would be in ``infos["final_obs"]``.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from tqdm import tqdm
from tracking import Log, tracking

import blockyard
from blockyard.provenance import write_run


class Policy(nn.Module):
    """From observations to a distribution of actions, and a value."""

    def __init__(self, spec: blockyard.GameSpec, hidden: int) -> None:
        super().__init__()
        inputs = int(np.prod(spec.planes_shape)) + len(spec.global_names)
        self.scale = 1 / spec.planes_high
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.actor, self.critic = nn.Linear(hidden, spec.actions), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)
        nn.init.zeros_(self.actor.bias)

    def inputs(self, obs: dict[str, np.ndarray]) -> torch.Tensor:
        """Return observations of the environment as one tensor, float32 (rows, inputs)."""
        planes = torch.as_tensor(obs["planes"]).flatten(1).float() * self.scale
        return torch.cat([planes, torch.as_tensor(obs["globals"])], 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        hidden = self.body(x)
        logits = self.actor(hidden).masked_fill(~mask, -torch.inf)
        return Categorical(logits=logits, validate_args=False), self.critic(hidden)[:, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="id of the game (default %(default)s)")
    parser.add_argument("--opponent", default="random", help="opponent in the other seats (default %(default)s)")
    parser.add_argument("--reward", default="result", help='"score" or "result" (default %(default)s)')
    parser.add_argument(
        "--total-timesteps", type=int, default=400_000, help="total number of actions (default %(default)s)"
    )
    parser.add_argument("--num-envs", type=int, default=64, help="number of games (default %(default)s)")
    parser.add_argument("--num-steps", type=int, default=64, help="steps of a rollout (default %(default)s)")
    parser.add_argument("--minibatches", type=int, default=4, help="minibatches per epoch (default %(default)s)")
    parser.add_argument("--epochs", type=int, default=3, help="epochs per rollout (default %(default)s)")
    parser.add_argument(
        "--learning-rate", type=float, default=1e-3, help="initial learning rate, decays to 0 (default %(default)s)"
    )
    parser.add_argument("--gamma", type=float, default=0.99, help="discount factor (default %(default)s)")
    parser.add_argument(
        "--gae-lambda",
        type=float,
        default=0.95,
        help="lambda of generalised advantage estimation (default %(default)s)",
    )
    parser.add_argument("--clip", type=float, default=0.2, help="clip range of the ratio (default %(default)s)")
    parser.add_argument("--entropy", type=float, default=0.01, help="weight of the entropy bonus (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=256, help="width of the network (default %(default)s)")
    parser.add_argument(
        "--max-episode-steps", type=int, default=500, help="truncate games after so many steps (default %(default)s)"
    )
    parser.add_argument("--eval-games", type=int, default=128, help="games per evaluation (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="torch threads (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("policy.pt"), help="file of weights (default %(default)s)")
    parser.add_argument(
        "--track", default="", metavar="WHERE", help='"tensorboard:FOLDER" or "wandb:PROJECT" (default: nowhere)'
    )
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)

    envs = blockyard.make_vec(
        args.game,
        args.num_envs,
        seed=args.seed,
        opponents=args.opponent,
        reward=args.reward,
        max_episode_steps=args.max_episode_steps,
        autoreset_mode="NextStep",
    )
    policy = Policy(envs.game_spec, args.hidden)
    optimizer = torch.optim.Adam(policy.parameters(), lr=args.learning_rate, eps=1e-5)
    before = evaluate(None, args)
    with tracking(args.track, vars(args)) as log:
        try:
            train(envs, policy, optimizer, args, log)
        except KeyboardInterrupt:
            print("interrupted: saving the weights trained so far")
        finally:
            envs.close()
            partial = args.out.with_name(args.out.name + ".partial")
            torch.save(policy.state_dict(), partial)
            os.replace(partial, args.out)
            write_run(args.out, seed=args.seed)
    after = evaluate(policy, args)
    print(
        f"mean return of {args.eval_games} games against {args.opponent}: {after:.2f}, a random policy's: {before:.2f}"
    )
    print(f"weights: {args.out}")


def train(envs: blockyard.BlockVectorEnv, policy: Policy, optimizer: torch.optim.Optimizer, args, log: Log) -> None:
    T, N = args.num_steps, envs.num_envs
    inputs, actions_n = policy.body[0].in_features, envs.game_spec.actions
    xs, masks = torch.zeros(T, N, inputs), torch.zeros(T, N, actions_n, dtype=torch.bool)
    actions, logps = torch.zeros(T, N, dtype=torch.long), torch.zeros(T, N)
    rewards, values = torch.zeros(T, N), torch.zeros(T + 1, N)
    terminated, ended, live = torch.zeros(T, N), torch.zeros(T, N), torch.zeros(T, N, dtype=torch.bool)

    obs, infos = envs.reset()
    x, mask = policy.inputs(obs), torch.as_tensor(envs.action_masks)
    returns, recent = np.zeros(N), []
    updates = max(1, args.total_timesteps // (T * N))
    bar = tqdm(range(updates), unit="update")
    for update in bar:
        for t in range(T):
            xs[t], masks[t], live[t] = x, mask, torch.as_tensor(infos["acting"])
            with torch.no_grad():
                choice, values[t] = policy(x, mask)
                actions[t] = choice.sample()
                logps[t] = choice.log_prob(actions[t])
            obs, reward, term, trunc, infos = envs.step(actions[t].numpy())
            x, mask = policy.inputs(obs), torch.as_tensor(envs.action_masks)
            rewards[t], terminated[t], ended[t] = (torch.as_tensor(v).float() for v in (reward, term, term | trunc))
            returns += reward
            recent += returns[term | trunc].tolist()
            returns[term | trunc] = 0
        with torch.no_grad():
            values[T] = policy(x, mask)[1]
            advantages, next_value = torch.zeros(T, N), torch.zeros(N)
            for t in reversed(range(T)):  # at a truncated end, values[t + 1] is the value of the final observation
                delta = rewards[t] + args.gamma * values[t + 1] * (1 - terminated[t]) - values[t]
                advantages[t] = next_value = delta + args.gamma * args.gae_lambda * (1 - ended[t]) * next_value
            targets = advantages + values[:T]

        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate * (1 - update / updates)
        keep = live.flatten()
        batch = [v.flatten(0, 1)[keep] for v in (xs, masks, actions, logps, advantages, targets)]
        for _ in range(args.epochs):
            for part in torch.randperm(int(keep.sum())).chunk(args.minibatches):
                px, pmask, paction, plogp, padvantage, ptarget = (v[part] for v in batch)
                choice, value = policy(px, pmask)
                ratio = (choice.log_prob(paction) - plogp).exp()
                padvantage = (padvantage - padvantage.mean()) / (padvantage.std() + 1e-8)
                gain = torch.min(ratio * padvantage, ratio.clamp(1 - args.clip, 1 + args.clip) * padvantage)
                loss = -gain.mean() + 0.5 * (value - ptarget).square().mean() - args.entropy * choice.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                optimizer.step()
        recent = recent[-200:]
        log((update + 1) * T * N, {"loss": loss.item(), "entropy": choice.entropy().mean().item()})
        if recent:
            log((update + 1) * T * N, {"mean_return": float(np.mean(recent))})
            bar.set_postfix(mean_return=f"{np.mean(recent):.2f}")


def evaluate(policy: Policy | None, args) -> float:
    """Return the mean return of the greedy policy, or of a random one, in games with seeds of their own."""
    rng = np.random.default_rng(args.seed)
    with blockyard.make_vec(
        args.game,
        args.eval_games,
        seed=1_000_000 + args.seed,
        opponents=args.opponent,
        reward=args.reward,
        max_episode_steps=args.max_episode_steps,
    ) as envs:
        obs, _ = envs.reset()
        first, total = np.ones(envs.num_envs, bool), np.zeros(envs.num_envs)
        while first.any():
            if policy is None:
                actions = envs.sample_actions(rng)
            else:
                with torch.no_grad():
                    choice, _ = policy(policy.inputs(obs), torch.as_tensor(envs.action_masks))
                    actions = choice.logits.argmax(1).numpy()
            obs, reward, terminated, truncated, _ = envs.step(actions)
            total += reward * first
            first &= ~(terminated | truncated)
    return float(total.mean())


if __name__ == "__main__":
    main()
