"""The other libraries, each in an environment of its own, because their requirements conflict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


class InstallError(Exception):
    """A peer could not be installed; the message is the installer's error."""


@dataclass(frozen=True)
class Peer:
    """Another library that is measured.

    Attributes:
        adapter: its module in ``adapters``.
        pinned: the packages that it needs.
    """

    adapter: str
    pinned: tuple[str, ...]


PEERS = {
    "envpool": Peer("envpool_side", ("envpool==1.2.5", "gymnasium==1.4.0", "numpy==2.4.6")),
    "pufferlib": Peer(
        "puffer_side",
        ("numpy==1.26.4", "gymnasium==0.29.1", "gym==0.23.1", "setuptools==80.9.0", "Cython==3.3.1", "pip==26.0"),
    ),
    "jumanji": Peer("jumanji_side", ("jumanji==1.1.2", "jax==0.10.2")),
    "tetris-gymnasium": Peer("gym", ("tetris-gymnasium==0.3.1", "gymnasium==1.4.0")),
}  # by the side that steps it, see Entrant


def python(peer: Peer, uv: Sequence[str] = (sys.executable, "-m", "uv")) -> list[str]:
    """Return the command of an interpreter with a peer's packages, which uv installs, or has installed before.

    Raises:
        InstallError: the installation failed.
    """
    command = [*uv, "run", "--no-project", "--isolated", "--python", sys.executable]
    command += [f"--with={package}" for package in peer.pinned] + ["python"]
    done = subprocess.run([*command, "-c", ""], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallError(last_words(done.stderr) or f"exit status {done.returncode}")
    return command


def last_words(text: str, most: int = 300) -> str:
    """Return the most informative line of an installer's output: the last one that names an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() and not line.startswith(("note:", "hint:"))]
    return (telling or lines or [""])[-1][:most]
