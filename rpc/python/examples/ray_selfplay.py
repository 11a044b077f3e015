"""Self-play on several machines with Ray: a server and its policy on every node, one learner; nodes may die.

    python ray_selfplay.py                    # a local cluster of two nodes: 3 minutes on two busy cores
    python ray_selfplay.py --address auto     # on a running cluster, see below

The results are in docs/ray.md.

Each *worker* is a Ray actor that starts its own server, so the games and the policy that plays them share a node, and
single steps never cross the network: weights go to the workers, finished rollouts come back. The workers are spread
over the nodes. The learner sends weights to all workers, takes whichever rollout comes first, trains on it (PPO; the
rollout is as old as the round trip), and sends that worker the newest weights. A worker that dies with its node is
restarted where there is room, while training continues with the others.

On a real cluster: `ray start --head` on one machine and `ray start --address=HEAD:6379` on the others, `pip install
'blockyard[ray]'` on all of them, and this script with `--address auto` on any, with one worker per node or per core
(`--workers`). On Kubernetes, `ray job submit -- python ray_selfplay.py --address auto` does the same.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import ray
import torch
from torch import nn
from torch.distributions import Categorical

import blockyard
from blockyard.provenance import write_run


class Policy(nn.Module):
    """From observations to a distribution of actions, and a value."""

    def __init__(self, inputs: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.actor, self.critic = nn.Linear(hidden, actions), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        hidden = self.body(x)
        allowed = mask | ~mask.any(1, keepdim=True)  # a row that need not act: its action is ignored
        logits = self.actor(hidden).masked_fill(~allowed, -1e9)
        return Categorical(logits=logits, validate_args=False), self.critic(hidden)[:, 0]


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)
class Worker:
    """A server, and the policy that plays all seats of its games, on one node."""

    def __init__(self, game: str, num_envs: int, hidden: int, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.env = blockyard.make_vec(game, num_envs, opponents=None, seed=seed)
        spec = self.env.game_spec
        self.size = (int(np.prod(spec.planes_shape)) + len(spec.global_names), spec.actions)
        self.policy = Policy(*self.size, hidden)
        self.obs, _ = self.env.reset()

    def describe(self) -> tuple[int, int]:
        """Return the numbers of inputs and actions of the policy."""
        return self.size

    def where(self) -> tuple[str, int]:
        """Return the ids of the node and of the server process."""
        return ray.get_runtime_context().get_node_id(), self.env.client.server_pid or 0

    def play(self, weights: dict[str, np.ndarray], steps: int, gamma: float, decay: float) -> dict[str, np.ndarray]:
        """Collect a rollout with these weights; return observations, actions, advantages and value targets."""
        self.policy.load_state_dict({key: torch.as_tensor(value.copy()) for key, value in weights.items()})
        visited, values, rewards, ended = [], [], [], []
        for _ in range(steps):
            x, packed = self.inputs(), self.env.packed_masks.copy()
            with torch.no_grad():
                choice, value = self.policy(torch.as_tensor(x), torch.as_tensor(self.env.action_masks))
                action = choice.sample()
            self.obs, reward, terminated, truncated, _ = self.env.step(action.numpy())
            visited.append((x, packed, action.numpy(), choice.log_prob(action).numpy()))
            values.append(value.numpy())
            rewards.append(reward.astype(np.float32))
            ended.append(terminated | truncated)
        with torch.no_grad():
            next_value = self.policy(torch.as_tensor(self.inputs()), torch.as_tensor(self.env.action_masks))[1].numpy()
        advantage, advantages = np.zeros_like(next_value), []
        for value, reward, end in zip(values[::-1], rewards[::-1], ended[::-1], strict=True):
            delta = reward + gamma * next_value * ~end - value
            advantage = delta + gamma * decay * ~end * advantage
            advantages.append(advantage)
            next_value = value
        columns = [np.concatenate(column) for column in zip(*visited, strict=True)]
        out = dict(zip(("x", "mask", "action", "logp"), columns, strict=True))
        out["advantage"] = np.concatenate(advantages[::-1])
        out["target"] = out["advantage"] + np.concatenate(values)
        out["games"] = np.array(int(np.sum(ended)) // self.env.rows_per_game)
        return out

    def inputs(self) -> np.ndarray:
        """Return the observations as inputs of the policy, float32 (rows, inputs)."""
        planes = self.obs["planes"].reshape(self.env.num_envs, -1).astype(np.float32)
        return np.concatenate([planes / self.env.game_spec.planes_high, self.obs["globals"]], 1)


class Learner:
    """PPO on rollouts as they arrive."""

    def __init__(self, inputs: int, actions: int, args) -> None:
        torch.set_num_threads(args.threads)
        torch.manual_seed(args.seed)
        self.args, self.actions = args, actions
        self.policy = Policy(inputs, actions, args.hidden)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=args.learning_rate)

    def weights(self) -> dict[str, np.ndarray]:
        """Return a copy of the weights."""
        return {key: value.numpy().copy() for key, value in self.policy.state_dict().items()}

    def learn(self, rollout: dict[str, np.ndarray]) -> None:
        """Train the policy on a rollout."""
        masks = np.unpackbits(rollout["mask"], axis=1, count=self.actions, bitorder="little").astype(bool)
        parts = (rollout["x"], masks, *(rollout[key] for key in ("action", "logp", "advantage", "target")))
        batch = [torch.as_tensor(np.array(part)) for part in parts]
        acting = torch.nonzero(batch[1].any(1))[:, 0]
        for _ in range(self.args.epochs):
            for part in acting[torch.randperm(len(acting))].chunk(4):
                x, mask, action, logp, advantage, target = (column[part] for column in batch)
                choice, value = self.policy(x, mask)
                ratio = (choice.log_prob(action) - logp).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                loss = -gain + 0.5 * (value - target).square().mean() - 0.01 * choice.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
                self.optimizer.step()


class Workers:
    """The workers, and what each of them is doing."""

    def __init__(self, args) -> None:
        how = Worker.options(scheduling_strategy="SPREAD")
        self.args, self.lost = args, 0
        self.actors = [how.remote(args.game, args.num_envs, args.hidden, args.seed + i) for i in range(args.workers)]
        self.at: dict[ray.ObjectRef, int] = {}  # the worker of each expected rollout
        self.waking: dict[ray.ObjectRef, int] = {}  # of each restarting worker

    def send(self, worker: int, weights: ray.ObjectRef) -> None:
        """Let a worker collect its next rollout."""
        play = self.actors[worker].play
        self.at[play.remote(weights, self.args.num_steps, self.args.gamma, self.args.gae_lambda)] = worker

    def next(self, weights: ray.ObjectRef, timeout: float) -> tuple[int, dict[str, np.ndarray]]:
        """Return the next worker that has a rollout, and the rollout; restarted workers are given work again."""
        deadline = time.monotonic() + timeout
        while True:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no worker answered in {timeout:.0f} s; `ray status` says what the cluster lacks")
            ready, _ = ray.wait([*self.at, *self.waking], num_returns=1, timeout=1.0)
            for ref in ready:
                worker = self.at.pop(ref, None)
                woke = worker is None
                worker = self.waking.pop(ref) if woke else worker
                try:
                    result = ray.get(ref)
                except ray.exceptions.RayError as error:  # its node or process died; Ray restarts it
                    if not woke:
                        self.lost += 1
                        print(f"worker {worker} is gone ({type(error).__name__}), the others continue", flush=True)
                    time.sleep(0.2)
                    self.waking[self.actors[worker].where.remote()] = worker
                    continue
                if not woke:
                    return worker, result
                print(f"worker {worker} is back, on node {result[0][:8]}", flush=True)
                self.send(worker, weights)


def train(args) -> Learner:
    """Train for args.updates updates."""
    workers = Workers(args)
    inputs, actions = ray.get(workers.actors[0].describe.remote(), timeout=args.patience)
    learner = Learner(inputs, actions, args)
    weights = ray.put(learner.weights())
    for worker in range(args.workers):
        workers.send(worker, weights)
    start, rows, games = time.monotonic(), 0, 0
    try:
        for update in range(args.updates):
            worker, rollout = workers.next(weights, args.patience)
            learner.learn(rollout)
            weights = ray.put(learner.weights())
            workers.send(worker, weights)
            rows, games = rows + len(rollout["action"]), games + int(rollout["games"])
            speed = rows / (time.monotonic() - start)
            print(
                f"update {update + 1}/{args.updates}: worker {worker}, {games} games, {speed:.0f} actions/s", flush=True
            )
            if args.kill_node_at == update + 1:
                lose_a_node(args)
    except KeyboardInterrupt:
        print("interrupted: saving the weights trained so far")
    print(f"{workers.lost} rollouts were lost with their workers")
    for worker in workers.actors:
        ray.kill(worker)
    return learner


def lose_a_node(args) -> None:
    """Kill a node of the local cluster, with the workers on it."""
    node = args.cluster.worker_nodes and sorted(args.cluster.worker_nodes, key=lambda n: n.node_id)[0]
    if not node:
        raise SystemExit("--kill-node-at: the local cluster has only one node, pass --nodes 2 or more")
    print(f"node {node.node_id[:8]} is killed", flush=True)
    args.cluster.remove_node(node, allow_graceful=False)


def evaluate(policy: Policy, game: str, opponent: str, games: int, seed: int) -> float:
    """Return the fraction of games won against an opponent on the server; a draw counts half."""
    result = np.full(games, np.nan)
    with blockyard.make_vec(game, games, seed=seed, opponents=opponent) as env:
        obs, _ = env.reset()
        while np.isnan(result).any():
            planes = obs["planes"].reshape(games, -1).astype(np.float32) / env.game_spec.planes_high
            with torch.no_grad():
                x = torch.as_tensor(np.concatenate([planes, obs["globals"]], 1))
                actions = policy(x, torch.as_tensor(env.action_masks))[0].logits.argmax(1).numpy()
            obs, rewards, terminated, _, _ = env.step(actions)
            first = terminated & np.isnan(result)
            result[first] = rewards[first]
    return float((result.mean() + 1) / 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", help='of a running cluster, such as "auto"; by default a local cluster is created')
    parser.add_argument(
        "--nodes", type=int, default=2, help="number of nodes of the local cluster (default %(default)s)"
    )
    parser.add_argument("--workers", "--islands", type=int, help="actors with a server each (default: one per node)")
    parser.add_argument("--game", default="BlockBattle-v0", help="a game of several seats (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=32, help="games per worker (default %(default)s)")
    parser.add_argument("--num-steps", type=int, default=64, help="steps per rollout (default %(default)s)")
    parser.add_argument(
        "--updates", type=int, default=60, help="number of updates, each on one rollout (default %(default)s)"
    )
    parser.add_argument("--epochs", type=int, default=3, help="passes over each rollout (default %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="(default %(default)s)")
    parser.add_argument("--gamma", type=float, default=0.99, help="discount (default %(default)s)")
    parser.add_argument(
        "--gae-lambda",
        type=float,
        default=0.95,
        help="lambda of generalised advantage estimation (default %(default)s)",
    )
    parser.add_argument("--hidden", type=int, default=256, help="width of the network (default %(default)s)")
    parser.add_argument(
        "--patience", type=float, default=300, help="seconds to wait for a worker (default %(default)s)"
    )
    parser.add_argument(
        "--kill-node-at", type=int, metavar="UPDATE", help="kill a node of the local cluster after this update"
    )
    parser.add_argument("--eval-games", type=int, default=128, help="games of the evaluation (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed; results also depend on timing (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="torch threads of the learner (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("selfplay.pt"), help="file of weights (default %(default)s)")
    args = parser.parse_args()
    args.cluster = None
    if args.address:
        ray.init(address=args.address)
    else:
        from ray.cluster_utils import Cluster

        args.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        for _ in range(args.nodes - 1):
            args.cluster.add_node(num_cpus=1)
        ray.init(address=args.cluster.address, log_to_driver=False)
    args.workers = args.workers or sum(1 for node in ray.nodes() if node["Alive"])
    try:
        learner = train(args)
    finally:
        ray.shutdown()
        if args.cluster:
            args.cluster.shutdown()
    partial = args.out.with_name(args.out.name + ".partial")
    torch.save(learner.policy.state_dict(), partial)
    os.replace(partial, args.out)
    write_run(args.out, seed=args.seed)
    won = evaluate(learner.policy, args.game, "random", args.eval_games, 1_000_000)
    print(f"won {won:.1%} of {args.eval_games} games against random")
    print(f"weights: {args.out}")


if __name__ == "__main__":
    main()
