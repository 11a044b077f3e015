"""Behaviour cloning in one file: learn from recorded games which action their agents chose.

    go run ./agents arena blockbattle --a hand:ply=1 --b hand:ply=1 --games 400 --seed 1 --record games.jsonl.gz
    go run ./datasets export games.jsonl.gz --parquet games
    python behaviour_cloning.py --data games

The Hugging Face library reads the export. The network then plays ``random``, or another ``--opponent``, in games whose
seeds are not in the data. ``graded_data.py`` makes data of several agents.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import datasets
import numpy as np
import torch
from torch import nn
from tqdm import tqdm

import blockyard
from blockyard.provenance import write_run


def rows_of(values: list[bytes]) -> np.ndarray:
    """Return a column of equally long byte strings as uint8 (rows, length)."""
    return np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("games"), help="exported folder (default %(default)s)")
    parser.add_argument("--epochs", type=int, default=10, help="passes over the rows (default %(default)s)")
    parser.add_argument("--batch", type=int, default=256, help="rows per step (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=256, help="width of the network (default %(default)s)")
    parser.add_argument("--opponent", default="random", help="a spec, or rungs: all of them (default %(default)s)")
    parser.add_argument("--eval-games", type=int, default=200, help="games against it (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("cloned.pt"), help="file of weights (default %(default)s)")
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    game = json.loads((args.data / "meta" / "info.json").read_text())["id"]
    data = datasets.load_dataset(str(args.data), split="train")
    data = data.filter(lambda action: action != 65535, input_columns="action")  # 65535: none was chosen
    with blockyard.connect() as client:
        spec = client.describe(game)
    planes = blockyard.unpack(rows_of(data["obs"][:]), spec).reshape(len(data), -1)
    extra = np.array(data["globals"][:], np.float32)
    masks, actions = torch.from_numpy(rows_of(data["mask"][:]).copy()), torch.tensor(data["action"][:])

    sizes = (planes.shape[1] + extra.shape[1], args.hidden, args.hidden)
    layers = [layer for a, b in itertools.pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    net = nn.Sequential(*layers, nn.Linear(args.hidden, spec.actions))

    def logits(planes: np.ndarray, extra: np.ndarray, mask: torch.Tensor) -> torch.Tensor:
        x = np.concatenate([planes.reshape(len(planes), -1) / np.float32(spec.planes_high), extra], 1)
        return net(torch.from_numpy(x)).masked_fill(~mask, -torch.inf)

    optimizer, loss = torch.optim.Adam(net.parameters(), 1e-3), torch.zeros(())
    for _ in (bar := tqdm(range(args.epochs), unit="epoch")):
        for part in torch.randperm(len(data)).split(args.batch):
            mask = torch.from_numpy(np.unpackbits(masks[part].numpy(), 1, spec.actions, "little")).bool()
            loss = nn.functional.cross_entropy(logits(planes[part], extra[part], mask), actions[part].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        bar.set_postfix(loss=f"{loss.item():.2f}")
    torch.save(net.state_dict(), args.out)
    write_run(args.out, seed=args.seed)

    @torch.no_grad()
    def cloned(obs: dict[str, np.ndarray], mask: np.ndarray) -> torch.Tensor:
        return logits(obs["planes"], obs["globals"], torch.from_numpy(mask)).argmax(1)

    opponents = dict.fromkeys(blockyard.rungs(game), 1) if args.opponent == "rungs" else args.opponent
    print(blockyard.evaluate(cloned, opponents, game=game, games=args.eval_games, seed=1_000_000 + args.seed))


if __name__ == "__main__":
    main()
