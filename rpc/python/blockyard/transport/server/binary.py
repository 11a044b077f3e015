"""Finding the server program or its library, or building them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ...errors import ServerNotFoundError, ServerStartError
from ..progress import bar

_PACKAGE = Path(__file__).resolve().parents[2]
NAME = "blockyard-server" + (".exe" if sys.platform == "win32" else "")
LIBRARY = {"win32": "blockyard.dll", "darwin": "libblockyard.dylib"}.get(sys.platform, "libblockyard.so")
_VERSION = (_PACKAGE / "VERSION").read_text(encoding="utf-8").strip()


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
    """Return the folder of the Go module that contains this file; None if there is none."""
    for folder in _PACKAGE.parents:
        if (folder / "go.mod").is_file():
            return folder if (folder / "rpc" / "main.go").is_file() else None
    return None


def _newer_sources(built: Path) -> tuple[str | None, bool]:
    """Return the path of the ``go`` command, if any, and whether it could build a newer file from this checkout."""
    root, go = _module_root(), shutil.which("go")
    # A checkout may also hold a virtual environment in which this package is installed: that one stays as it is.
    if not root or not go or _PACKAGE.parent != root / "rpc" / "python" or not built.is_file():
        return go, False
    age = built.stat().st_mtime
    folders = [root / name for name in ("env", "datasets", "agents", "train", "rpc")]
    sources = (path for folder in folders for path in folder.rglob("*.go"))
    return go, any(path.stat().st_mtime > age for path in (*sources, root / "go.sum"))


def _build(root: Path, go: str, target: Path) -> Path:
    """Compile the server of the checkout at root, or its library, to the file target."""
    target.parent.mkdir(exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    what, cgo, flags = ["./rpc/blockyard"], "0", f"-s -w -X blockyard/datasets/program.version={_VERSION}"
    if target.name == LIBRARY:
        what, cgo, flags = ["-buildmode=c-shared", "./rpc/library"], "1", f"-s -w -X main.version={_VERSION}"
    command = [go, "build", "-trimpath", "-ldflags", flags, "-o", str(partial), *what]
    try:
        env = {**os.environ, "CGO_ENABLED": cgo}
        with tempfile.TemporaryFile("w+") as output, bar("building the server") as advance:
            with subprocess.Popen(command, cwd=root, env=env, stdout=output, stderr=output) as build:
                try:
                    while build.poll() is None:
                        advance(0)
                        time.sleep(0.1)
                except BaseException:
                    build.kill()
                    raise
            output.seek(0)
            if build.returncode != 0:
                raise ServerNotFoundError(f"building the server in {root} failed:\n{output.read().strip()}")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
        partial.with_suffix(".h").unlink(missing_ok=True)  # of cgo
    return target
