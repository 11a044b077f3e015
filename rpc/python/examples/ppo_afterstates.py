"""PPO over afterstates in sixty lines of PyTorch: one network scores each legal next position, another values the best.

    python ppo_afterstates.py --out mine.safetensors
    python ppo_afterstates.py --game TetrisDuel-v0
    blockyard arena blockbattle --a learned:ply=1,weights=mine.safetensors --b hand:ply=1 --games 1000

The scores of a row are the logits of its policy, and the network that gives them is an evaluator for the server's
search. It learns against the curriculum with shaped rewards. Prints ten times how it does against ``--opponent``, and
at the end in more games on other seeds; docs/afterstates.md explains it.
"""

import argparse

import torch
from torch import nn

import blockyard

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="BlockBattle-v0", help="id of a game of two seats (default %(default)s)")
parser.add_argument("--timesteps", type=int, default=3_000_000, help="number of actions (default %(default)s)")
parser.add_argument("--opponent", default="hand:ply=1", help="opponent of the evaluations (default %(default)s)")
parser.add_argument("--games", type=int, default=1000, help="games of the last evaluation (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
parser.add_argument("--out", default="mine.safetensors", help="weights (default %(default)s)")
args = parser.parse_args()
T, N, GAMMA, LAMBDA, SURE = 64, 64, 0.99, 0.95, 6  # steps and games of a rollout; SURE: log odds of a won game
torch.manual_seed(args.seed)
torch.set_num_threads(1)
how = {"actions": "afterstates", "opponents": "curriculum", "reward": "shaped", "seed": args.seed}
env, facts = blockyard.make_vec(args.game, N, **how), blockyard.feature_facts(args.game)
actor, critic = (nn.Sequential(nn.Linear(len(facts), 64), nn.LeakyReLU(), nn.Linear(64, 1)) for _ in range(2))
optimizer = torch.optim.Adam(parameters := [*actor.parameters(), *critic.parameters()])


def policy(obs: dict[str, torch.Tensor]) -> tuple[torch.distributions.Categorical, torch.Tensor]:
    """Return a distribution over the candidates of each row, and the value of the best one, (rows,)."""
    there = obs["mask"] > 0
    logits = torch.full(there.shape, -torch.inf)
    logits[there] = actor(obs["features"][there])[:, 0]
    logits = torch.where(obs["done"] > 0, SURE * obs["reward"], logits)
    best = obs["features"][torch.arange(len(there)), logits.argmax(1)]
    return torch.distributions.Categorical(logits=logits, validate_args=False), critic(best)[:, 0]


def evaluate(what: str, games: int, seed: int) -> None:
    """Save the network, and print how it does."""
    blockyard.save_weights(args.out, actor, facts, {"made": "ppo_afterstates.py"})
    mine, how = f"learned:ply=1,weights={args.out}", {"game": args.game, "games": games, "seed": seed}
    got = blockyard.evaluate(mine, args.opponent, **how)
    print(f"{what}: won {got.score:.1%} of {games} games against {args.opponent}", flush=True)


obs, updates = blockyard.to_torch(env.reset()[0]), max(1, args.timesteps // (T * N))
for update in range(updates):
    if update % max(1, updates // 10) == 0:
        evaluate(f"{update * T * N:,} actions", 200, 4242)
    seen, (goes_on, rewards), values = [], torch.zeros(2, T, N), torch.zeros(T + 1, N)
    for t in range(T):
        choice, value = policy(obs)
        action, values[t] = choice.sample(), value.detach()
        seen.append(obs | {"action": action, "old": choice.log_prob(action).detach()})
        got, reward, terminated, truncated, _ = env.step(action.numpy())
        obs, rewards[t] = blockyard.to_torch(got), torch.from_numpy(reward)
        goes_on[t] = GAMMA * torch.from_numpy(~(terminated | truncated))
    values[T] = policy(obs)[1].detach()
    advantages = rewards + goes_on * values[1:] - values[:T]
    for t in reversed(range(T - 1)):
        advantages[t] += goes_on[t] * LAMBDA * advantages[t + 1]
    data = {key: torch.cat([one[key] for one in seen]) for key in seen[0]}
    data |= {"advantage": advantages.view(-1), "target": (advantages + values[:T]).view(-1)}
    optimizer.param_groups[0]["lr"] = 2e-3 * (1 - update / updates)
    for part in torch.cat([torch.randperm(T * N) for _ in range(3)]).split(1024):
        x = {key: tensor[part] for key, tensor in data.items()}
        choice, value = policy(x)
        ratio = (choice.log_prob(x["action"]) - x["old"]).exp()
        advantage = (x["advantage"] - x["advantage"].mean()) / (x["advantage"].std() + 1e-8)
        gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = 0.5 * (value - x["target"]).square().mean() - gain - 0.003 * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
evaluate(f"{updates * T * N:,} actions, other seeds", args.games, 2_000_000)
