"""How a file of results was made, written beside it as FILE.run.json: the form of the Go programs."""

import json
import os
import platform
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

_BEGAN = time.time()
_PACKAGE = Path(__file__).parent
VERSION = (_PACKAGE / "VERSION").read_text(encoding="ascii").strip()


def commit() -> str:
    """Return the commit of this package, with "+modified" if files differed from it; "" if it is unknown."""
    if (file := _PACKAGE / "COMMIT").is_file():
        return file.read_text(encoding="ascii").strip()
    root = _PACKAGE.parents[2]
    if not (root / "rpc").is_dir() or not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root)]
    try:
        head = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True, stderr=subprocess.DEVNULL).strip()
        changed = subprocess.check_output([*git, "status", "--porcelain"], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head + "+modified" * bool(changed)


def write_run(file: str | os.PathLike[str], *, seed: int | None = None) -> Path:
    """Write ``FILE.run.json`` beside a file of results: program, command line, versions, commit, seed, time.

    The command line is written as it is: pass tokens by environment variables or files. The time counts from the
    import of this module. An older file is replaced, completely or not at all. Return its path.
    """
    began = datetime.fromtimestamp(int(_BEGAN), timezone.utc).isoformat().replace("+00:00", "Z")
    release = {"version": VERSION, "commit": commit(), "python": platform.python_version()}
    release["platform"] = f"{sys.platform}/{platform.machine().lower()}"
    run: dict[str, Any] = {"program": Path(sys.argv[0]).name, "command": sys.argv[1:]}
    run["release"] = {key: text for key, text in release.items() if text}
    run |= {} if seed is None else {"seed": str(seed)}
    run |= {"started": began, "seconds": round(time.time() - _BEGAN, 3)}
    path = Path(f"{os.fspath(file)}.run.json")
    write_whole(path, json.dumps(run, indent=2).encode() + b"\n")
    return path


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, completely or not at all, even if this process is killed."""
    target = Path(os.fspath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
