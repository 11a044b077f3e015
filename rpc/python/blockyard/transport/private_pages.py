"""Turning memory that is shared with another process into memory of this process alone."""

from __future__ import annotations

import ctypes
import mmap
import os

_MAP_FIXED = 0x10  # of Linux on every architecture that Python supports there but for Alpha
_CHUNK = 1 << 20  # bytes that are copied at a time; a multiple of every page size


def make_private(memory: mmap.mmap) -> None:
    """Replace the pages of shared memory by private ones with the same contents, at the same addresses.

    What the other process writes afterwards is not seen here, and the other way round. Arrays over the memory stay
    valid. Only Linux has shared memory of this kind.

    Raise OSError if the system has no more memory.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
    for at in range(0, len(memory), _CHUNK):
        contents = memory[at : at + _CHUNK]
        got = libc.mmap(begin + at, len(contents), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        if got != begin + at:
            raise OSError(ctypes.get_errno(), f"mmap: {os.strerror(ctypes.get_errno())}")
        memory[at : at + _CHUNK] = contents
