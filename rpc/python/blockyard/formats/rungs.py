"""Opponents between ``random`` and the hand-tuned baseline, each a little stronger than the one before."""

from __future__ import annotations

import json
from pathlib import Path

from .arguments import game_name

_TABLE = json.loads((Path(__file__).parent / "rungs.json").read_text(encoding="utf-8"))["rungs"]


def rungs(game: str) -> list[str]:
    """Ten opponents of a game, the weakest first: a baseline of one ply that plays ever fewer moves at random.

    Train against the first until you win more than half of your games, then against the next (``env.set_opponents``).
    ``rungs.json`` beside this module has their Elo above ``random``, which ``rpc/bench/rungs.py`` of the repository
    measures.

    Args:
        game: name of a game of several seats, such as ``"BlockBattle-v0"``. Its variants have the same opponents.

    Raises:
        ValueError: if the game has no such list: it is unknown, or of one seat.
    """
    base = game_name(game).split(":")[0].removesuffix("-v0").lower()
    for env_id, found in _TABLE.items():
        if env_id.removesuffix("-v0").lower() == base:
            return [rung["agent"] for rung in found]
    raise ValueError(f"no rungs for {game!r}: want {', '.join(_TABLE)}")
