"""Pictures of positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL = 12  # pixels a side
GAP = 12  # pixels around and between boards

# Ink 0 is an empty cell, 1 to 7 the pieces in the order I J L O S T Z, the rest garbage and solid rows.
_PALETTE = np.array(
    [
        (24, 26, 32), (64, 196, 222), (66, 98, 214), (232, 144, 48), (236, 204, 64), (92, 188, 84), (164, 88, 200),
        (214, 70, 76), (140, 144, 152), (88, 92, 100), (200, 204, 212), (96, 220, 190), (240, 160, 190), (180, 140, 96),
        (120, 120, 240), (250, 250, 250),
    ],
    np.uint8,
)  # fmt: skip
_PAPER = np.array((44, 47, 56), np.uint8)


def picture(frame: dict[str, Any]) -> NDArray[np.uint8]:
    """Paint the boards of a frame side by side: uint8 (height, width, 3)."""
    boards = frame["boards"]
    width = GAP + sum(b["w"] * CELL + GAP for b in boards)
    height = max((b["h"] for b in boards), default=0) * CELL + 2 * GAP
    out = np.empty((height, width, 3), np.uint8)
    out[:] = _PAPER
    left = GAP
    for b in boards:
        w, h = b["w"], b["h"]
        ink = np.frombuffer(b["ink"], np.uint8).reshape(h, w)
        cells = np.frombuffer(b["cells"], np.uint8).reshape(h, w)
        ink = np.where((ink == 0) & (cells != ord(".")), 8, ink) % len(_PALETTE)
        board = np.repeat(np.repeat(_PALETTE[ink], CELL, 0), CELL, 1)
        board[CELL - 1 :: CELL] //= 2
        board[:, CELL - 1 :: CELL] //= 2
        out[GAP : GAP + h * CELL, left : left + w * CELL] = board
        left += w * CELL + GAP
    return out
