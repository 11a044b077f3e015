"""Finding the server program, or building it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ...errors import ServerNotFoundError, ServerStartError
from ..progress import bar

NAME = "blockyard-server" + (".exe" if sys.platform == "win32" else "")
_PACKAGE = Path(__file__).resolve().parents[2]
_VERSION = (_PACKAGE / "VERSION").read_text(encoding="utf-8").strip()


def find_server() -> Path:
    """Return the path of the server program.

    It is, in this order: the file named by the environment variable ``BLOCKYARD_SERVER``; the program inside
    this package, unless this is a checkout whose Go sources are newer; ``blockyard-server`` on PATH; in a checkout
    with Go installed, a program that is built now.

    Raises:
        ServerNotFoundError: there is none, or building it failed; the message says what was tried.
    """
    if named := os.environ.get("BLOCKYARD_SERVER"):
        if not _executable(Path(named)):
            raise ServerNotFoundError(f"BLOCKYARD_SERVER={named!r} is not an executable file: correct it or unset it")
        return Path(named)
    bundled = _PACKAGE / "_bin" / NAME
    root, go = _module_root(), shutil.which("go")
    # A checkout may also hold a virtual environment in which this package is installed: that one stays as it is.
    own = root if root and _PACKAGE.parent == root / "rpc" / "python" else None
    stale = go is not None and _executable(bundled) and _older(bundled, own)
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


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _module_root() -> Path | None:
    """Return the folder of the Go module that contains this file; None if there is none."""
    for folder in _PACKAGE.parents:
        if (folder / "go.mod").is_file():
            return folder if (folder / "rpc" / "main.go").is_file() else None
    return None


def _older(program: Path, root: Path | None) -> bool:
    """Return whether a source of the server in the checkout at root is newer than its program."""
    if root is None:
        return False
    built = program.stat().st_mtime
    folders = [root / name for name in ("env", "datasets", "agents", "train", "rpc")]
    sources = (path for folder in folders for path in folder.rglob("*.go"))
    return any(path.stat().st_mtime > built for path in (*sources, root / "go.sum"))


def _build(root: Path, go: str, target: Path) -> Path:
    """Compile the server of the checkout at root to the file target."""
    target.parent.mkdir(exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    flags = ["-trimpath", "-ldflags", f"-s -w -X blockyard/datasets/program.version={_VERSION}"]
    command = [go, "build", *flags, "-o", str(partial), "./rpc/blockyard"]
    try:
        with tempfile.TemporaryFile("w+") as output, bar("building the server") as advance:
            env = {**os.environ, "CGO_ENABLED": "0"}
            with subprocess.Popen(command, cwd=root, env=env, stdout=output, stderr=output) as build:
                while build.poll() is None:
                    try:
                        build.wait(0.2)
                    except subprocess.TimeoutExpired:
                        advance(0)
                    except BaseException:
                        build.kill()
                        raise
            output.seek(0)
            if build.returncode != 0:
                raise ServerNotFoundError(f"building the server in {root} failed:\n{output.read().strip()}")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target
