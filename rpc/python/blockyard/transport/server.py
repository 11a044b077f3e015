"""The server program: finding or building it, and a process of it, shared by all in this process that name no address.

The process never outlives the one that started it: it ends when its standard input does, a pipe that only that one
holds open. Nothing of ours runs between fork and exec, which a process with threads would not survive.
"""

import _thread
import atexit
import contextlib
import json
import os
import queue
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from ..errors import ServerNotFoundError, ServerStartError, on_error
from ..provenance import VERSION
from .progress import bar

_PACKAGE = Path(__file__).resolve().parents[1]
NAME = "blockyard-server" + (".exe" if sys.platform == "win32" else "")
LIBRARY = {"win32": "blockyard.dll", "darwin": "libblockyard.dylib"}.get(sys.platform, "libblockyard.so")


def find_server() -> Path:
    """Return the path of the server program.

    It is, in this order: the file named by the environment variable ``BLOCKYARD_SERVER``; the program inside
    this package, unless this is a checkout whose Go sources are newer; ``blockyard-server`` on PATH; in a checkout
    with Go installed, a program that is built now. Raise ServerNotFoundError if there is none, or building it failed.
    """
    if named := os.environ.get("BLOCKYARD_SERVER"):
        if not _executable(Path(named)):
            raise ServerNotFoundError(f"BLOCKYARD_SERVER={named!r} is not an executable file: correct it or unset it")
        return Path(named)
    bundled, root = _PACKAGE / "_bin" / NAME, _module_root()
    go, stale = _newer_sources(bundled)
    if _executable(bundled) and not stale:
        return bundled
    if not stale and (found := shutil.which(NAME)):
        return Path(found)
    if root and go:
        return _build(root, go, bundled)
    if bundled.is_file():
        raise ServerStartError(
            f"the program in this installation is not executable: {bundled} has lost its permission (chmod +x it), or "
            "lies on a file system that is mounted noexec (install the package elsewhere)"
        )
    raise ServerNotFoundError(
        "no server program to start: BLOCKYARD_SERVER is not set, this installation contains none "
        f"({bundled}), `{NAME}` is not on PATH, and it cannot be built here "
        f"({'no `go` on PATH' if root else 'this is not a checkout of the sources'}). "
        "Install a wheel that contains the server, or pass address= of a running server."
    )


def find_library(build: bool = False) -> Path:
    """Return the path of the server as a shared library.

    It is, in this order: the file named by the environment variable ``BLOCKYARD_LIBRARY``; the library beside the
    program that ``BLOCKYARD_SERVER`` names, if that is set; the library inside this package, unless this is a checkout
    whose Go sources are newer; if build, in a checkout with Go and a C compiler, a library that is built now. Raise
    ServerNotFoundError if there is none, or building it failed.
    """
    named, server = os.environ.get("BLOCKYARD_LIBRARY"), os.environ.get("BLOCKYARD_SERVER")
    library = Path(named) if named else Path(server).parent / LIBRARY if server else _PACKAGE / "_bin" / LIBRARY
    go, stale = (None, False) if named or server else _newer_sources(library)
    if library.is_file() and not stale:
        return library
    if named:
        raise ServerNotFoundError(f"BLOCKYARD_LIBRARY={named!r} is not a file: correct it or unset it")
    if build and go and not server and (root := _module_root()):
        return _build(root, go, library)
    raise ServerNotFoundError(
        f"no library of the server: BLOCKYARD_LIBRARY is not set, and there is no current {library}. Install a wheel "
        'that contains it, build it with `go build -buildmode=c-shared ./rpc/library`, or pass transport="process".'
    )


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _module_root() -> Path | None:
    """Return the checkout that this package is a part of; None for an installed one, also in a checkout's folders."""
    root = _PACKAGE.parents[min(2, len(_PACKAGE.parents) - 1)]
    own = _PACKAGE.parent == root / "rpc" / "python" and (root / "go.mod").is_file()
    return root if own and (root / "rpc" / "main.go").is_file() else None


def _newer_sources(built: Path) -> tuple[str | None, bool]:
    """Return the path of the ``go`` command, if any, and whether it could build a newer file from this checkout."""
    root, go = _module_root(), shutil.which("go")
    if not root or not go or not built.is_file():
        return go, False
    age = built.stat().st_mtime
    folders = [root / name for name in ("env", "datasets", "agents", "train", "rpc")]
    sources = (path for folder in folders for path in folder.rglob("*.go"))
    return go, any(path.stat().st_mtime > age for path in (*sources, root / "go.sum"))


def _build(root: Path, go: str, target: Path) -> Path:
    """Compile the server of the checkout at root, or its library, to the file target."""
    target.parent.mkdir(exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    what, cgo, flags = ["./rpc/blockyard"], "0", f"-s -w -X blockyard/datasets/program.version={VERSION}"
    if target.name == LIBRARY:
        what, cgo, flags = ["-buildmode=c-shared", "./rpc/library"], "1", f"-s -w -X main.version={VERSION}"
    command = [go, "build", "-trimpath", "-ldflags", flags, "-o", str(partial), *what]
    try:
        env = {**os.environ, "CGO_ENABLED": cgo}
        with tempfile.TemporaryFile("w+") as log, bar("building the server") as advance:
            with subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=log) as build, on_error(build.kill):
                while build.poll() is None:
                    advance(0)
                    time.sleep(0.1)
            log.seek(0)
            if build.returncode != 0:
                raise ServerNotFoundError(f"building the server in {root} failed:\n{log.read().strip()}")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
        partial.with_suffix(".h").unlink(missing_ok=True)  # of cgo
    return target


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
        with on_error(self.stop):
            self.address = self._start([str(program), "serve", "--listen", self.address, *_FLAGS], timeout)

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
