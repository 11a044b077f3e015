"""The environments that Gymnasium knows by name once this package is imported."""

from __future__ import annotations

import gymnasium

# Gymnasium ids without their namespace; the server has the facts.
GAMES = (
    "BlockBattle-v0",
    "TetrisDuel-v0",
    "Blocking-v0",
    "WinTetris-v0",
    "WinTetrisInstant-v0",
    "WinTetrisTick-v0",
    "Dropblox-v0",
)

NAMESPACE = "blockyard"


def register() -> None:
    """Tell Gymnasium about every game, for ``gymnasium.make`` and ``gymnasium.make_vec``."""
    for game in GAMES:
        name = f"{NAMESPACE}/{game}"
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="blockyard.single:BlockEnv",
                vector_entry_point="blockyard.vector:BlockVectorEnv",
                kwargs={"game": game},
            )
