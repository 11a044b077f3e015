"""PPO by self-play with action masks, in the style of CleanRL: a row is a seat, and one policy plays all of them.

    python ppo_selfplay.py                        # the duel, a turn-based game
    python ppo_selfplay.py --game BlockBattle-v0  # any game of two seats

In a turn-based game the rows of the other seats wait: their mask has one action, so their log-probability, entropy and
policy gradient are 0. What is left to do is to average over the rows that act (``acting``), and to discount per own
move instead of per step: a seat of ``seats`` moves once in ``seats`` steps, hence the roots of gamma and lambda.
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import blockyard

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="TetrisDuel-v0", help="id of the game (default %(default)s)")
parser.add_argument("--updates", type=int, default=30, help="rollouts to learn from (default %(default)s)")
parser.add_argument("--num-envs", type=int, default=64, help="number of games (default %(default)s)")
parser.add_argument("--num-steps", type=int, default=64, help="steps of a rollout (default %(default)s)")
parser.add_argument("--eval-games", type=int, default=200, help="games of the evaluation (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

envs = blockyard.make_vec(args.game, args.num_envs, opponents=None, seed=args.seed)
spec, T, N = envs.game_spec, args.num_steps, envs.num_envs
turns = envs.rows_per_game if spec.turn == "alternating" else 1  # steps from one own move to the next
gamma, lam = 0.99 ** (1 / turns), 0.95 ** (1 / turns)
inputs = int(np.prod(spec.planes_shape)) + len(spec.global_names)


class Agent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.actor, self.critic = nn.Linear(256, spec.actions), nn.Linear(256, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        hidden = self.body(x)
        logits = self.actor(hidden).masked_fill(~mask, -torch.inf)
        return Categorical(logits=logits), self.critic(hidden)[:, 0]


def flat(obs: dict[str, np.ndarray]) -> torch.Tensor:
    planes = torch.as_tensor(obs["planes"]).flatten(1) / spec.planes_high
    return torch.cat([planes, torch.as_tensor(obs["globals"]).clamp(min=0).log1p()], 1)


def play(obs: dict[str, np.ndarray], mask: np.ndarray) -> torch.Tensor:
    with torch.no_grad():
        return agent(flat(obs), torch.as_tensor(mask))[0].logits.argmax(1)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
xs, masks = torch.zeros(T, N, inputs), torch.zeros(T, N, spec.actions, dtype=torch.bool)
actions, acting = torch.zeros(T, N, dtype=torch.long), torch.zeros(T, N, dtype=torch.bool)
logps, rewards, dones, values = torch.zeros(T, N), torch.zeros(T, N), torch.zeros(T, N), torch.zeros(T + 1, N)

obs, infos = envs.reset()
for update in range(args.updates):
    for t in range(T):
        xs[t], masks[t] = flat(obs), torch.as_tensor(infos["action_mask"]).bool()
        acting[t] = torch.as_tensor(infos["acting"])
        with torch.no_grad():
            choice, values[t] = agent(xs[t], masks[t])
        actions[t] = choice.sample()
        logps[t] = choice.log_prob(actions[t])
        obs, reward, terminated, truncated, infos = envs.step(actions[t].numpy())
        rewards[t], dones[t] = torch.as_tensor(reward), torch.as_tensor(terminated | truncated)

    with torch.no_grad():
        values[T] = agent(flat(obs), torch.as_tensor(infos["action_mask"]).bool())[1]
    advantages, last = torch.zeros(T, N), torch.zeros(N)
    for t in reversed(range(T)):  # after an end, values[t + 1] belongs to the next game
        delta = rewards[t] + gamma * values[t + 1] * (1 - dones[t]) - values[t]
        advantages[t] = last = delta + gamma * lam * (1 - dones[t]) * last
    batch = [v.flatten(0, 1) for v in (xs, masks, actions, acting, logps, advantages, advantages + values[:T])]

    optimizer.param_groups[0]["lr"] = 1e-3 * (1 - update / args.updates)
    for _ in range(3):
        for part in torch.randperm(T * N).chunk(4):
            x, mask, action, acts, logp, advantage, target = (v[part] for v in batch)
            choice, value = agent(x, mask)
            advantage = (advantage - advantage[acts].mean()) / (advantage[acts].std() + 1e-8)
            ratio = (choice.log_prob(action) - logp).exp()
            gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)[acts].mean()
            loss = 0.5 * (value - target).square().mean() - gain - 0.01 * choice.entropy()[acts].mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    if update % 10 == 9:
        print(f"update {update + 1}: {int(dones.sum()) // envs.rows_per_game} games in {T} steps", flush=True)
envs.close()
print(blockyard.evaluate(play, "random", game=args.game, games=args.eval_games, seed=args.seed))
