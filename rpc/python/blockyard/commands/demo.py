"""``blockyard demo``: a policy learns Block Battle by self-play within half a minute, then plays in the terminal."""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ABOUT = """\
watch a policy learn Block Battle in 20 seconds, and play

`blockyard selfplay` trains it by self-play, and evaluates it four times against
hand, a baseline. Then `blockyard play` shows a game of it. For other games:

    blockyard play GAME --agent learned --show"""

GATES = ("--gates=4", "--gate-pairs=32", "--gate-ply=1")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard demo``."""
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="time of the training (%(default)s)")
    parser.add_argument("--opponent", default="random", metavar="AGENT", help="its opponent in the end (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of everything random (%(default)s)")


def run(args: argparse.Namespace) -> int:
    """Train a policy and show a game of it; return the exit status."""
    with TemporaryDirectory() as folder:
        made, seed = Path(folder, "run"), f"--seed={args.seed}"
        trained = f'learned:ply=1,weights="{made / "best.safetensors"}"'
        status = (
            _command("selfplay", f"--for={args.seconds}s", f"--out={made}", "--workers=0", seed, *GATES)
            or _command("play", f"--a={trained}", f"--b={args.opponent}", "--show", seed)
        )  # fmt: skip
    print("\nThe network is gone now; `blockyard selfplay blockbattle` keeps one, in runs/blockbattle.")
    return status


def _command(name: str, *flags: str) -> int:
    """Run a command on Block Battle in this terminal; return its exit status."""
    return subprocess.call([sys.executable, "-m", "blockyard", name, "blockbattle", *flags])
