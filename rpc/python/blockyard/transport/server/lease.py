"""The one local server of a process, shared by everything in it that names no address."""

from __future__ import annotations

import atexit
import os
import secrets
import threading

from .process import LocalServer

_START_SECONDS = 10.0  # which a server may take to start at least
_lock = threading.RLock()
_server: LocalServer | None = None
_leases: set[str] = set()


class Lease:
    """A share in this process's server. The first lease starts the server, releasing the last one stops it.

    Attributes:
        server: the server.
    """

    def __init__(self, timeout: float = 30.0) -> None:
        """Take a share, and start the server if it is not running; timeout is for its answers."""
        global _server, _leases
        self._token = secrets.token_hex(8)
        with _lock:
            _leases.add(self._token)  # before the start: a lease that is collected meanwhile must not stop the server
            if _server is None or not _server.alive:
                try:
                    _server = LocalServer(max(timeout, _START_SECONDS))
                except BaseException:
                    _leases.discard(self._token)
                    raise
                _leases = {self._token}
            self.server = _server

    def release(self) -> None:
        """Give the share back. May be called again."""
        global _server
        with _lock:
            if self.server is not _server:
                self.server.stop()  # it died and has been replaced
                return
            _leases.discard(self._token)
            if not _leases:
                _server = None
                self.server.stop()


def _stop_at_exit() -> None:
    if _server is not None:
        _server.stop()


def _forget_after_fork() -> None:
    """In a forked child: the server belongs to the parent; close this copy of its pipes."""
    global _server, _leases, _lock
    if _server is not None:
        _server.close_pipes()
    _server, _leases, _lock = None, set(), threading.RLock()


atexit.register(_stop_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
