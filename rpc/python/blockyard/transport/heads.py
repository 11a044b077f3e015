"""The messages of a step up to their arrays, which have a fixed form."""

from __future__ import annotations

import struct

_STEP = struct.Struct(">BBBI5sBBIBI")
_SLOT = struct.Struct(">BBBI10sBBIBI")
_ARRAYS = struct.Struct(">BBBIBBI")
_DONE = struct.Struct(">BBBIBB")
DONE = _DONE.size


def step(ident: int, handle: int, size: int) -> bytes:
    """Return the request ``step`` up to its actions of size bytes."""
    return _STEP.pack(0x94, 0x00, 0xCE, ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, size)


def step_slot(ident: int, handle: int, slot: int) -> bytes:
    """Return the request ``step_slot``."""
    return _SLOT.pack(0x94, 0x00, 0xCE, ident, b"\xa9step_slot", 0x92, 0xCE, handle, 0xCE, slot)


def arrays(ident: int, size: int) -> bytes:
    """Return the answer to ``step`` up to its arrays of size bytes."""
    return _ARRAYS.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC6, size)


def done(ident: int) -> bytes:
    """Return an answer that is a bare ``true``."""
    return _DONE.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC3)
