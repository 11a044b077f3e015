"""A server process on this machine, shared by everything in this process that names no address.

It never outlives the process that started it: it ends when its standard input does, a pipe that only that process
holds open. Nothing of ours runs between fork and exec, which a process with threads would not survive.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import json
import os
import queue
import secrets
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from ...errors import ServerStartError
from .binary import find_server

_START_SECONDS = 10.0  # which the shared server may take to start at least
_STOP_SECONDS = 3.0
# Only this process reaches the server, so it may name files and open as much as it likes. The largest number of bytes
# is no limit, as 0 is, which earlier servers refuse.
_FLAGS = ["--parent-death", "--trust-specs", "--max-sessions=4096", "--max-handles=4096"]
_FLAGS += [f"--max-memory={(1 << 63) - 1}"]


class LocalServer:
    """A server process on a Unix socket of its own; without those, on a port of this machine that requires a token."""

    process: subprocess.Popen[bytes]

    def __init__(self, timeout: float = 30.0) -> None:
        """Start it and wait, at most timeout seconds, until it listens."""
        program = find_server()
        self._path = _socket_path() if hasattr(socket, "AF_UNIX") else ""
        self.token = None if self._path else secrets.token_hex(16)  # as other users could connect too
        self._owner, self._log = os.getpid(), tempfile.TemporaryFile()
        self.address = f"unix:{self._path}" if self._path else "tcp:127.0.0.1:0"
        try:
            self.address = self._start([str(program), "serve", "--listen", self.address, *_FLAGS], timeout)
        except BaseException:
            self.stop()
            raise

    def _start(self, command: list[str], timeout: float) -> str:
        """Start the process, and return the address that it writes when it listens.

        A thread does it, so that an interruption of this one cannot lose the process. What waits here is written in
        C: Ctrl-C in a wait of ``threading`` can end in an error of its own.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()  # an error or None, then the line

        def start() -> None:
            try:
                self.process = subprocess.Popen(
                    command,
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    start_new_session=True,  # so that Ctrl-C reaches only the client, which may want to save its work
                    env=None if self.token is None else {**os.environ, "BLOCKYARD_TOKEN": self.token},
                )
            except Exception as error:
                done.put(error)
                return
            done.put(None)
            assert self.process.stdout is not None
            done.put(self.process.stdout.readline())

        try:
            _thread.start_new_thread(start, ())
            begun = done.get()
        except BaseException:
            with contextlib.suppress(queue.Empty):
                done.get(timeout=_STOP_SECONDS)
            raise
        if begun is not None:
            what = f"{command[0]} cannot be started: {begun}"
            raise ServerStartError(f"{what}; reinstall the package, or pass address= of a server") from begun
        try:
            line = done.get(timeout=timeout)
        except queue.Empty:
            what = f"the server did not come up in time; pass a larger timeout={self._log_end()}"
            raise ServerStartError(what) from None
        if not line:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)
            code = self.process.returncode
            raise ServerStartError(f"the server ended while starting (exit status {code}){self._log_end()}")
        try:
            return str(json.loads(line)["ready"][0])
        except (ValueError, LookupError, TypeError):
            what = f"the server announced itself in an unknown way: {line!r:.200}"
            raise ServerStartError(f"{what}; is it the right program?") from None

    def _log_end(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._log.seek(0, os.SEEK_END)
            self._log.seek(max(0, self._log.tell() - 2000))
            text = self._log.read().decode(errors="replace").strip()
            return f"; its log ends:\n{text}" if text else ""
        return ""

    def exit_note(self) -> str:
        """Return how the server ended, for error messages; "" if it still runs."""
        if self._owner != os.getpid():
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self.process.wait(0.2)
            how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return f" (the local server, pid {self.process.pid}, ended: {how}){self._log_end()}"
        return ""

    @property
    def alive(self) -> bool:
        """Whether the process runs, and belongs to this process and not to one that it was forked from."""
        return self._owner == os.getpid() and self.process.poll() is None

    def stop(self) -> None:
        """Stop the server, wait for it and remove its socket. May be called again."""
        if self._owner == os.getpid() and hasattr(self, "process"):
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()
            try:
                self.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            for name in (self._path, f"{self._path}.lock") if self._path else ():  # what a killed server leaves
                Path(name).unlink(missing_ok=True)
        self.close_pipes()

    def close_pipes(self) -> None:
        """Close this side of the pipes; the server stops when its standard input is closed."""
        pipes = (self.process.stdin, self.process.stdout) if hasattr(self, "process") else ()
        for pipe in (self._log, *pipes):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _socket_path() -> str:
    """Return an unused path that is short enough for a Unix socket."""
    name = f"blockyard-{os.getpid()}-{secrets.token_hex(8)}.sock"
    try:
        first, wrong = tempfile.gettempdir(), []
    except OSError as error:
        raise ServerStartError(f"there is no folder for the server's socket and log: set TMPDIR; {error}") from error
    for folder in dict.fromkeys((first, "/tmp")):
        path = os.path.join(folder, name)
        if len(os.fsencode(path)) >= 100:
            wrong.append(f"the path {folder} is too long for a Unix socket")
        elif not os.access(folder, os.W_OK | os.X_OK):
            wrong.append(f"{folder} cannot be written to")
        else:
            return path
    raise ServerStartError(f"there is no folder for the server's socket: {', and '.join(wrong)}; set TMPDIR to another")


_lock = threading.RLock()
_server: LocalServer | None = None
_leases = 0  # of this server


def lease(timeout: float) -> LocalServer:
    """Return the one server of this process until :func:`release`; timeout is for its answers, in seconds."""
    global _server, _leases
    with _lock:
        _leases += 1  # before the start: a lease that is collected meanwhile must not stop the server
        if _server is None or not _server.alive:
            try:
                _server = LocalServer(max(timeout, _START_SECONDS))
            except BaseException:
                _leases -= 1
                raise
            _leases = 1
        return _server


def release(server: LocalServer) -> None:
    """End a lease of the server; it stops with the last."""
    global _server, _leases
    with _lock:
        if server is _server:
            _leases -= 1
            if _leases:
                return
            _server = None
        server.stop()


def _stop_at_exit() -> None:
    if _server is not None:
        _server.stop()


def _forget_after_fork() -> None:
    """In a forked child: the server belongs to the parent; close this copy of its pipes."""
    global _server, _leases, _lock
    if _server is not None:
        _server.close_pipes()
    _server, _leases, _lock = None, 0, threading.RLock()


atexit.register(_stop_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
