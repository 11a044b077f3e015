"""The server in this process: a shared library, and a connection to it that is used like a socket."""

import ctypes
import functools
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import ForkError, ServerNotFoundError, ServerStartError
from .server import find_library

_lock = threading.RLock()
_owner: int | None = None  # the process that loaded the library


class Library:
    """The functions of ``rpc/library/blockyard.h`` that this package uses."""

    def __init__(self, path: Path) -> None:
        if other := other_go(path):
            what = f"{other}, which this process has loaded, is another library written in Go"
            raise ServerStartError(f'{what}, and two of them can disturb each other: pass transport="process"')
        try:
            loaded = ctypes.CDLL(str(path))
            self.connect, self.close = loaded.blockyard_connect, loaded.blockyard_close
            self.write, self.read = loaded.blockyard_write, loaded.blockyard_read
            self.step = loaded.blockyard_step_handle
        except (OSError, AttributeError) as error:  # such as one for another C library
            raise ServerStartError(f'{path} cannot be loaded: {error}; pass transport="process"') from error
        number, pointer = ctypes.c_int64, ctypes.c_void_p
        self.connect.argtypes, self.connect.restype = [], number
        for function in (self.write, self.read):
            function.argtypes, function.restype = [number, pointer, number], number
        self.step.argtypes = [number, ctypes.c_uint32, pointer, pointer]
        self.close.argtypes, self.close.restype = [number], None


_load = functools.cache(Library)


def library(build: bool = False) -> Library:
    """Load the library into this process, once; build as in :func:`find_library`. Not after a fork."""
    global _owner
    with _lock:
        if _owner not in (None, os.getpid()):
            what = f"the server was loaded into process {_owner}, and this is a fork of it, where it cannot run"
            raise ForkError(f'{what}: pass transport="process", or start processes with "spawn" or "forkserver"')
        loaded = _load(find_library(build))
        _owner = os.getpid()
        return loaded


def available() -> bool:
    """Whether the server can run in this process: its library is there, or can be built, and loads."""
    with suppress(ServerNotFoundError, ServerStartError, ForkError):
        return bool(library())
    return False


class LibrarySocket:
    """A connection to the server in this process, with the methods of a socket that connections use."""

    def __init__(self) -> None:
        self._library, self._owner = library(build=True), os.getpid()
        self.number = self._library.connect()
        self.step_handle = self._library.step

    def send(self, data: Any, flags: int = 0) -> int:
        """Send a whole request, which is answered before this returns its length."""
        if self._library.write(self.number, bytes(data), len(data)) < 0:
            raise BrokenPipeError("the connection is closed")
        return len(data)

    def recv_into(self, buffer: Any) -> int:
        """Fill the buffer with what the server sends, and return how many bytes were written to it."""
        at = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        return int(self._library.read(self.number, at, len(buffer)))

    def close(self) -> None:
        """End the session; in a forked process, do nothing. May be called again."""
        if self._owner == os.getpid():
            self._library.close(self.number)


def other_go(own: Path) -> str | None:
    """Return the path of another library in this process that contains a runtime of Go; None if none can be seen."""
    if not sys.platform.startswith("linux"):  # others do not list them
        return None
    with open("/proc/self/maps") as maps:
        loaded = dict.fromkeys(line.split(maxsplit=5)[5].rstrip() for line in maps if ".so" in line)
    for path in loaded.keys() - {str(own.resolve())}:
        with suppress(OSError):  # of a file that was replaced
            if hasattr(ctypes.CDLL(path, os.RTLD_NOLOAD), "crosscall2"):  # by which C calls Go
                return path
    return None
