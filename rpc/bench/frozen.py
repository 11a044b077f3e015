"""What a frozen copy as the opponent costs, compared with driving both seats by hand: CPU time per learner's action.

    python rpc/bench/frozen.py [--game BlockBattle-v0] [--games 64] [--seconds 20]

Both play the same games with the same two networks; they take turns every 10 actions, in one process. The time is that
of this process and the server together.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

import numpy as np
import torch
from sides import clock

import blockyard


class Player:
    """A network of two layers that plays the best legal action."""

    def __init__(self, spec: blockyard.GameSpec, seed: int) -> None:
        torch.manual_seed(seed)
        inputs = int(np.prod(spec.planes_shape)) + len(spec.global_names)
        layers = torch.nn.Linear(inputs, 256), torch.nn.ReLU(), torch.nn.Linear(256, spec.actions)
        self.net = torch.nn.Sequential(*layers)

    @torch.inference_mode()
    def __call__(self, obs: Any, mask: Any) -> Any:
        planes = torch.as_tensor(obs["planes"]).flatten(1).float()
        logits = self.net(torch.cat([planes, torch.as_tensor(obs["globals"])], 1))
        return logits.masked_fill(~torch.as_tensor(mask), -torch.inf).argmax(1).numpy()


class ByHand:
    """Both seats are rows; each network plays those that act."""

    def __init__(self, game: str, games: int, learner: Player, frozen: Player) -> None:
        self.env = blockyard.make_vec(game, games, opponents=None, seed=1)
        self.players, self.obs = (learner, frozen), self.env.reset()[0]
        self.actions = np.zeros(2 * games, np.int64)

    def play(self, count: int) -> int:
        """Play until the learner has acted about so often in each game; return how often it has."""
        done = 0
        while done < count * self.env.num_games:
            mask, acting = self.env.action_masks, self.env.acting
            for seat, player in enumerate(self.players):
                rows = 2 * np.flatnonzero(acting[seat::2]) + seat
                if len(rows):
                    self.actions[rows] = player({k: a[rows] for k, a in self.obs.items()}, mask[rows])
                done += len(rows) * (seat == 0)
            self.obs = self.env.step(self.actions)[0]
        return done


class Opponent:
    """The frozen network is the opponent."""

    def __init__(self, game: str, games: int, learner: Player, frozen: Player) -> None:
        self.env = blockyard.make_vec(game, games, opponents={1: frozen}, seed=1)
        self.learner, self.obs = learner, self.env.reset()[0]

    def play(self, count: int) -> int:
        """Play so many actions of the learner in each game; return their number."""
        for _ in range(count):
            self.obs = self.env.step(self.learner(self.obs, self.env.action_masks))[0]
        return count * self.env.num_games


def cost(side: ByHand | Opponent, count: int) -> float:
    """Return the microseconds of CPU time of an action of the learner."""
    servers = [pid for pid in [side.env.client.server_pid] if pid]
    before = clock.seconds(servers)
    done = side.play(count)
    return 1e6 * (clock.seconds(servers) - before) / done


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="id of a game of two seats (default %(default)s)")
    parser.add_argument("--games", type=int, default=64, help="games at once (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=20, help="time of the measurement (default %(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with blockyard.connect() as client:
        spec = client.describe(args.game)
    sides = [kind(args.game, args.games, Player(spec, 1), Player(spec, 2)) for kind in (ByHand, Opponent)]
    for side in sides:
        side.play(20)
    rounds, begun = [], time.perf_counter()
    while time.perf_counter() - begun < args.seconds:
        rounds.append([cost(side, 10) for side in sides])
    hand, opponent = (median(column) for column in zip(*rounds, strict=True))
    ratio = median(b / a for a, b in rounds)
    print(
        f"{args.game}, {args.games} games: {hand:.1f} us by hand, {opponent:.1f} us as the opponent, CPU time "
        f"per action of the learner; ratio {ratio:.3f}, medians of {len(rounds)} rounds"
    )


if __name__ == "__main__":
    main()
