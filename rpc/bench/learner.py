"""One optimiser step of `train selfplay` (gorgonia, in Go) compared with the same step in PyTorch, on one thread.

    python rpc/bench/learner.py [--rounds 9] [--json]

The same network (LeakyReLU, logistic loss), batch and optimiser (Adam). Both are measured in short bursts, one after
the other, so that ratios hold on a busy machine. Rows per core-second count CPU time. A ratio is the median of the
ratios within each round, with its first and third quartiles; above 1, gorgonia is faster. It needs Go and the
repository.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

REPOSITORY = Path(__file__).resolve().parents[2]
CASES = [([250, 128, 64, 1], 1024, 100), ([141, 64, 1], 256, 600), ([40, 64, 32, 1], 256, 600)]  # sizes, batch, steps


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


def gorgonia(program: Path, sizes: list[int], batch: int, steps: int) -> float:
    """Return the rows per core-second of the trainer."""
    name = rf"^BenchmarkFit$/^\[{'_'.join(map(str, sizes))}\]$/^batch={batch}$"
    out = subprocess.run(
        [program, "-test.run=^$", f"-test.bench={name}", f"-test.benchtime={steps}x"],
        env=os.environ | {"GOMAXPROCS": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = re.search(r"([\d.e+]+) rows/core-s", out)
    if not found:
        raise RuntimeError(f"no figure in what the benchmark printed:\n{out}")
    return float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each network")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "trainer.test"
        subprocess.run(["go", "test", "-c", "-o", program, "./train/network"], cwd=REPOSITORY, check=True)
        if not args.json:
            print("| network | batch | gorgonia, rows per core-second | PyTorch | ratio |\n|---|---|---|---|---|")
        for sizes, batch, steps in CASES:
            figures = [
                (gorgonia(program, sizes, batch, steps), pytorch(sizes, batch, steps)) for _ in range(args.rounds)
            ]
            ours, theirs = np.array(figures).T
            low, ratio, high = np.quantile(ours / theirs, [0.25, 0.5, 0.75])
            if args.json:
                row = {"sizes": sizes, "batch": batch, "gorgonia": ours.tolist(), "pytorch": theirs.tolist()}
                print(json.dumps(row | {"ratio": ratio, "quartiles": [low, high]}), flush=True)
                continue
            print(
                f"| {'-'.join(map(str, sizes))} | {batch:,} | {np.median(ours):,.0f} | {np.median(theirs):,.0f} | "
                f"{ratio:.2f} ({low:.2f} to {high:.2f}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
