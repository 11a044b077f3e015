"""A server of our own: started when needed, ended with us.

All environments of a process that name no address share one server. It ends when the last
of them is closed, when the process ends, however it ends, and never outlives it: its
standard input is a pipe that only we hold open, and on Linux the kernel tells it as well.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .binary import find_server
from .errors import ServerStartError

_STOP_SECONDS = 3.0
# Nobody but this process reaches the server: it may name files, and open as much as it likes.
_FLAGS = ["--parent-death", "--trust-specs", "--max-sessions=4096", "--max-handles=4096", f"--max-memory={1 << 40}"]


class LocalServer:
    """A server process on a unix socket of its own.

    Attributes:
        address: ``"unix:PATH"``.
        pid: the process.
        token: what it wants in hello, where others could reach it; None on a unix socket.
    """

    def __init__(self, timeout: float = 30.0) -> None:
        """Start it and wait until it listens.

        Raises:
            ServerNotFound: there is no program to start.
            ServerStartError: it ended, or did not listen within timeout seconds.
        """
        program = find_server()
        self._path = _socket_path() if hasattr(socket, "AF_UNIX") else ""
        self.token = None if self._path else secrets.token_hex(16)
        self._owner = os.getpid()
        self._log = tempfile.TemporaryFile()
        self.address = f"unix:{self._path}" if self._path else "tcp:127.0.0.1:0"
        try:
            self._process = subprocess.Popen(
                [str(program), "serve", "--listen", self.address, *_FLAGS],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=True,  # so that Ctrl-C reaches only the trainer, which may want to save
                preexec_fn=_die_with_parent(),
                env=None if self.token is None else {**os.environ, "BLOCKYARD_TOKEN": self.token},
            )
        except OSError as error:
            self._log.close()
            raise ServerStartError(f"{program} cannot be started: {error}") from error
        self.pid = self._process.pid
        try:
            self._await_ready(time.monotonic() + timeout)
        except BaseException:
            self.stop()
            raise

    def _await_ready(self, deadline: float) -> None:
        assert self._process.stdout is not None
        line, fd = b"", self._process.stdout.fileno()
        while not line.endswith(b"\n"):
            part = _read_before(fd, deadline)
            if part is None:
                raise ServerStartError(f"the server did not come up in time{self._said()}")
            if not part:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(1)
                code = self._process.returncode
                raise ServerStartError(f"the server ended while starting (exit status {code}){self._said()}")
            line += part
        try:
            self.address = str(json.loads(line)["ready"][0])
        except (ValueError, LookupError, TypeError):
            raise ServerStartError(f"the server announced itself in an unknown way: {line!r:.200}") from None

    def _said(self) -> str:
        """Return the end of the server's log, for a message."""
        with contextlib.suppress(OSError, ValueError):
            self._log.seek(0, os.SEEK_END)
            self._log.seek(max(0, self._log.tell() - 2000))
            text = self._log.read().decode(errors="replace").strip()
            return f"; its log ends:\n{text}" if text else ""
        return ""

    def exit_note(self) -> str:
        """Say how the server ended, if it has, for the message of a broken connection."""
        if self._owner != os.getpid():
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(0.2)
            how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return f" (the local server, pid {self.pid}, ended: {how}){self._said()}"
        return ""

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._owner == os.getpid() and self._process.poll() is None

    def stop(self) -> None:
        """End the server and wait for it; nothing of it is left. May be called again."""
        self.forget_pipes()
        if self._owner != os.getpid():
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._path:
            Path(self._path).unlink(missing_ok=True)

    def forget_pipes(self) -> None:
        """Close our ends of the pipes, which tells the server if they were the last."""
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Lease:
    """A share in this process's server; the last one given back ends it."""

    def __init__(self, timeout: float = 30.0) -> None:
        global _server, _leases
        self._token = secrets.token_hex(8)
        with _lock:
            _leases.add(self._token)  # first: a share collected meanwhile must not end the server
            if _server is None or not _server.alive:
                try:
                    _server = LocalServer(timeout)
                except BaseException:
                    _leases.discard(self._token)
                    raise
                _leases = {self._token}
            self.server = _server

    def give_back(self) -> None:
        """Give the share back. May be called again."""
        global _server
        with _lock:
            if self.server is not _server:
                self.server.stop()  # a dead one, already replaced
                return
            _leases.discard(self._token)
            if not _leases:
                _server = None
                self.server.stop()


_lock = threading.RLock()
_server: LocalServer | None = None
_leases: set[str] = set()


def _read_before(fd: int, deadline: float) -> bytes | None:
    """Read from a pipe; None if nothing came in time."""
    left = max(0.0, deadline - time.monotonic())
    if sys.platform != "win32":
        return os.read(fd, 4096) if select.select([fd], [], [], left)[0] else None
    got: list[bytes] = []  # select knows only sockets there
    reader = threading.Thread(target=lambda: got.append(os.read(fd, 4096)), daemon=True)
    reader.start()
    reader.join(left)
    return got[0] if got else None


def _socket_path() -> str:
    """Return a free path, short enough for a unix socket."""
    name = f"blockyard-{os.getpid()}-{secrets.token_hex(8)}.sock"
    for folder in (tempfile.gettempdir(), "/tmp"):
        if len(os.fsencode(path := os.path.join(folder, name))) < 100:
            return path
    raise ServerStartError(f"no folder with a path short enough for a unix socket: {tempfile.gettempdir()}")


def _die_with_parent() -> Callable[[], None] | None:
    """Return what makes a child of this process get SIGTERM when the process dies.

    The kernel sends it when the *thread* that started the child ends, so only the main
    thread asks for it; a server started elsewhere relies on its pipe.
    """
    if not sys.platform.startswith("linux") or threading.current_thread() is not threading.main_thread():
        return None
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    signal_on_parent_death = 1

    def ask() -> None:
        prctl(signal_on_parent_death, signal.SIGTERM, 0, 0, 0)

    return ask


def _stop_at_exit() -> None:
    if _server is not None:
        _server.stop()


def _forget_after_fork() -> None:
    """In a forked child: the server is the parent's; hold none of its pipes open."""
    global _server, _leases, _lock
    if _server is not None:
        _server.forget_pipes()
    _server, _leases, _lock = None, set(), threading.RLock()


atexit.register(_stop_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
