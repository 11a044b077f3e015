"""Pictures of positions as arrays of pixels."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .colours import LIGHT
from .frames import Frame

CELL = 16  # pixels, side of a cell
GAP = 16  # pixels around and between boards
_APART = (False,) * 4  # joined to no neighbour
_FINE = 4  # antialiasing: shapes are painted this many times larger and then averaged


def rgb(frame: Frame) -> NDArray[np.uint8]:
    """Paint the boards of a frame side by side, uint8 (height, width, 3); the size depends only on theirs."""
    width = GAP + sum(b.w * CELL + GAP for b in frame.boards)
    height = max((b.h for b in frame.boards), default=0) * CELL + 2 * GAP
    out = np.empty((height, width, 3), np.uint8)
    out[:] = _rgb(LIGHT.paper)
    left = GAP
    for b in frame.boards:
        for y in range(b.h):
            for x in range(b.w):
                kind, ink = b.kind(x, y), b.ink[y * b.w + x]
                joined = b.joined(x, y) if frame.by_seat or kind == "ghost" else _APART
                colour = LIGHT.cell(ink, frame.by_seat) if ink or kind not in ("empty", "hint") else ""
                top, side = GAP + y * CELL, left + x * CELL
                out[top : top + CELL, side : side + CELL] = _tile(kind, colour, joined, frame.by_seat)
        for y in b.borders:
            out[GAP + y * CELL, left : left + b.w * CELL] = _rgb(LIGHT.muted)
        left += b.w * CELL + GAP
    return out


@lru_cache(maxsize=4096)
def _tile(kind: str, colour: str, joined: tuple[bool, ...], by_seat: bool) -> NDArray[np.uint8]:
    paint = np.empty((CELL * _FINE, CELL * _FINE, 3))
    paint[:] = _rgb(LIGHT.well)
    _mix(paint, _shape(_APART, 0.13), _rgb(LIGHT.ink[0]), 1)
    ink = _rgb(colour or LIGHT.shade)
    if kind in ("empty", "hint"):
        _mix(paint, _shape(_APART, 0.13), ink, 0.16 if colour else 0.55 if kind == "hint" else 0)
    elif kind == "ghost":
        row, column = np.indices(paint.shape[:2])
        _mix(paint, np.ones(paint.shape[:2], np.bool_), ink, 0.22)
        _mix(paint, (row + column) % (CELL * _FINE // 3) < _FINE, ink, 0.75)
        _mix(paint, ~_shape(joined, 0.0, 0.1), ink, 1)
    elif kind != "empty":
        shape = _shape(joined, 0.16)
        _mix(paint, shape, ink, 1)
        if by_seat:
            _mix(paint, _shape(_APART, 0.1, 0.3), np.full(3, 255.0), 0.2)
        else:
            _light(paint, shape)
            if kind == "played":
                ring = _shape(_APART, 0.13, 0.1) & ~_shape(_APART, 0.1, 0.18)
                _mix(paint, ring, np.full(3, 255.0), 0.78)
    mean = paint.reshape(CELL, _FINE, CELL, _FINE, 3).mean((1, 3))
    tile: NDArray[np.uint8] = mean.round().astype(np.uint8)
    tile.flags.writeable = False
    return tile


def _light(paint: NDArray[np.float64], shape: NDArray[np.bool_]) -> None:
    down = np.linspace(0, 1, len(paint))[:, None] * np.ones(len(paint))
    for amount, tone in ((np.clip(0.2 - 0.4 * down, 0, 1), 255.0), (np.clip(0.2 * down - 0.1, 0, 1), 0.0)):
        part = (amount * shape)[..., None]
        paint += part * (tone - paint)


def _shape(joined: tuple[bool, ...], radius: float, margin: float = 1 / 32) -> NDArray[np.bool_]:
    """Return the pixels of a square with round corners, bool, up to the edge on joined sides: up, down, left, right."""
    side = CELL * _FINE
    up, down, left, right = (0.0 if j else margin * side for j in joined)
    y, x = np.indices((side, side)) + 0.5
    inside: NDArray[np.bool_] = (x >= left) & (x <= side - right) & (y >= up) & (y <= side - down)
    r = radius * side
    # How far the pixels lie beyond the centres of the round corners: up, down, left, right.
    over = [np.maximum(d, 0) for d in (up + r - y, y - (side - down - r), left + r - x, x - (side - right - r))]
    for a, b in ((0, 2), (0, 3), (1, 2), (1, 3)):
        if not (joined[a] or joined[b]):
            inside &= (over[a] == 0) | (over[b] == 0) | (over[a] ** 2 + over[b] ** 2 <= r * r)
    return inside


def _mix(paint: NDArray[np.float64], where: NDArray[np.bool_], colour: NDArray[np.float64], amount: float) -> None:
    paint[where] += amount * (colour - paint[where])


def _rgb(colour: str) -> NDArray[np.float64]:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], np.float64)
