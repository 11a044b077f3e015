"""The ids of the environments, and their registration with Gymnasium."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium

# Gymnasium ids without their namespace, in the server's order. ``environments.py`` writes the file from what
# the server answers; a new game of the server needs no change here.
ENV_IDS: tuple[str, ...] = tuple(json.loads((Path(__file__).parent / "env_ids.json").read_text(encoding="utf-8")))

NAMESPACE = "blockyard"


def register() -> None:
    """Register every environment, for ``gymnasium.make`` and ``gymnasium.make_vec``."""
    for env_id in ENV_IDS:
        name = f"{NAMESPACE}/{env_id}"
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="blockyard.single:made",
                vector_entry_point="blockyard.vector.env:BlockVectorEnv",
                kwargs={"game": env_id},
            )
