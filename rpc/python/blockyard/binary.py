"""Where the server program is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import ServerNotFound
from .progress import bar

NAME = "blockyard-server" + (".exe" if sys.platform == "win32" else "")
_HERE = Path(__file__).resolve().parent


def find_server() -> Path:
    """Return the server program to start.

    Looked for in this order: the file that ``BLOCKYARD_SERVER`` names; the one inside this
    package; ``blockyard-server`` on PATH; in a checkout of the sources with Go installed, one
    built now.

    Raises:
        ServerNotFound: there is none; the message lists where it was looked for.
    """
    if named := os.environ.get("BLOCKYARD_SERVER"):
        if not _runs(Path(named)):
            raise ServerNotFound(f"BLOCKYARD_SERVER names {named!r}, which is not a program that can be run")
        return Path(named)
    bundled = _HERE / "_bin" / NAME
    if _runs(bundled):
        return bundled
    if found := shutil.which(NAME):
        return Path(found)
    root, go = _module_root(), shutil.which("go")
    if root and go:
        return _build(root, go, bundled)
    raise ServerNotFound(
        "no server program to start: BLOCKYARD_SERVER is not set, this installation carries none "
        f"({bundled}), `{NAME}` is not on PATH, and it cannot be built here "
        f"({'no `go` on PATH' if root else 'this is not a checkout of the sources'}). "
        "Install a package with the server inside, or pass address= of a running server."
    )


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _module_root() -> Path | None:
    """Return the folder of the Go module this file lies in, if it lies in one."""
    for folder in _HERE.parents:
        if (folder / "go.mod").is_file():
            return folder if (folder / "rpc" / "main.go").is_file() else None
    return None


def _build(root: Path, go: str, target: Path) -> Path:
    """Compile the server of the checkout at root into target."""
    target.parent.mkdir(exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    command = [go, "build", "-trimpath", "-ldflags", "-s -w", "-o", str(partial), "./rpc"]
    try:
        with tempfile.TemporaryFile("w+") as said, bar("building the server") as advance:
            env = {**os.environ, "CGO_ENABLED": "0"}
            with subprocess.Popen(command, cwd=root, env=env, stdout=said, stderr=said) as build:
                while build.poll() is None:
                    try:
                        build.wait(0.2)
                    except subprocess.TimeoutExpired:
                        advance(0)
                    except BaseException:
                        build.kill()
                        raise
            said.seek(0)
            if build.returncode != 0:
                raise ServerNotFound(f"building the server in {root} failed:\n{said.read().strip()}")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target
