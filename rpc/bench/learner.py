"""One optimiser step of `train selfplay` (gorgonia, in Go) compared with the same step in PyTorch, on one thread.

    python rpc/bench/learner.py [--rounds 9]

The same network (LeakyReLU, logistic loss), batch and optimiser (Adam). Both are measured in short bursts, one after
the other, so that ratios hold on a busy machine. Rows per core-second count CPU time. A ratio is the median of the
ratios within each round, with its first and third quartiles; above 1, gorgonia is faster. It needs Go and the
repository.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import torch
from sides import golang
from sides.figures import quartiles
from sides.table import lines
from torch import nn

CASES = [([250, 128, 64, 1], 1024, 100), ([141, 64, 1], 256, 600), ([40, 64, 32, 1], 256, 600)]  # sizes, batch, steps
COLUMNS = ("network", "batch", "gorgonia, rows per core-second", "PyTorch", "ratio")


def pytorch(sizes: list[int], batch: int, steps: int) -> float:
    """Return the rows per core-second of PyTorch."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.LeakyReLU(0.01)]
    net = nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    loss = nn.BCEWithLogitsLoss()
    x, y = torch.rand(batch, sizes[0]), torch.rand(batch, 1)
    began = 0.0
    for step in range(steps + 20):
        if step == 20:  # the first ones warm up
            began = time.process_time()
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()
    return batch * steps / (time.process_time() - began)


def measured(rounds: int) -> Iterator[tuple[str, int, list[tuple[float, float]]]]:
    """Yield each network, its batch, and the rows per core-second of gorgonia and of PyTorch in each round."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        program = golang.build(Path(folder) / "network.test", "test", "-c", "./train/network")
        for sizes, batch, steps in CASES:
            name = rf"^BenchmarkFit$/^\[{'_'.join(map(str, sizes))}\]$/^batch={batch}$"
            pairs = []
            for _ in range(rounds):
                (ours,) = golang.bench(program, name, f"{steps}x").values()
                pairs.append((ours["rows/core-s"], pytorch(sizes, batch, steps)))
            yield "-".join(map(str, sizes)), batch, pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rows = []
    for network, batch, pairs in measured(parser.parse_args().rounds):
        speeds = [f"{median(side):,.0f}" for side in zip(*pairs, strict=True)]
        low, ratio, high = quartiles([ours / theirs for ours, theirs in pairs])
        rows.append([network, f"{batch:,}", *speeds, f"{ratio:.2f} ({low:.2f} to {high:.2f})"])
    print(lines(COLUMNS, rows))


if __name__ == "__main__":
    main()
