"""Policy gradient by self-play in PettingZoo's AEC loop: both agents share one network, each learns from its reward.

    python pettingzoo_selfplay.py

The loop is the one of PettingZoo's documentation. Each step is a message, so ``make_vec`` trains several times faster;
``ppo_selfplay.py`` does.
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import blockyard
from blockyard.pettingzoo import aec_env

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="TetrisDuel-v0", help="id of the game (default %(default)s)")
parser.add_argument("--games", type=int, default=3000, help="games to learn from (default %(default)s)")
parser.add_argument("--eval-games", type=int, default=200, help="games of the evaluation (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

env = aec_env(args.game)
env.reset(seed=args.seed)
inputs, choices = env.observation_space("player_0").shape[0], env.action_space("player_0").n
net = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, choices + 1))  # logits, and the value
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def judge(obs, mask) -> tuple[Categorical, torch.Tensor]:
    out = net(torch.as_tensor(obs).log1p())
    return Categorical(logits=out[..., :-1].masked_fill(~torch.as_tensor(mask).bool(), -torch.inf)), out[..., -1]


batch = []  # observation, mask, action and discounted return of every move
for game in range(args.games):
    moves = {agent: [] for agent in env.agents}
    for agent in env.agent_iter():
        obs, reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            batch += [(*move, reward * 0.97**k) for k, move in enumerate(reversed(moves[agent]))]
            env.step(None)
        else:
            with torch.no_grad():
                action = int(judge(obs, info["action_mask"])[0].sample())
            moves[agent].append((obs, info["action_mask"], action))
            env.step(action)
    env.reset()
    if len(batch) >= 1000:
        seen, masks, actions, returns = (torch.as_tensor(np.array(column)) for column in zip(*batch, strict=True))
        choice, value = judge(seen, masks)
        advantage = returns.float() - value
        gain = (choice.log_prob(actions) * advantage.detach()).mean() + 0.01 * choice.entropy().mean()
        loss = advantage.square().mean() - gain
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch = []
    if game % 500 == 499:
        print(f"game {game + 1}", flush=True)
env.close()


def play(obs: dict[str, np.ndarray], mask: np.ndarray) -> torch.Tensor:
    flat = np.concatenate([obs["planes"].reshape(len(mask), -1).astype(np.float32), obs["globals"]], 1)
    with torch.no_grad():
        return judge(flat, mask)[0].logits.argmax(1)


print(blockyard.evaluate(play, "random", game=args.game, games=args.eval_games, seed=args.seed))
