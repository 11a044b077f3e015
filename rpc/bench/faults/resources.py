"""What a server process holds, and the files that it and its clients leave."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import blockyard

# What may grow: the runtime keeps memory, threads and mappings of its own for later.
SPARE = {"mappings": 64, "mebibytes": 64, "threads": math.inf}
Resources = dict[str, Any]  # of a server, by name: numbers, and "leftovers", a list of files; see look


def exceeding(now: Resources, before: Resources) -> list[str]:
    """Return what is more now than before."""
    more = [f"{path} is left" for path in now["leftovers"] if path not in before["leftovers"]]
    for name in now.keys() - {"leftovers"}:
        if now[name] > before[name] + SPARE.get(name, 0):
            more.append(f"{name}: {now[name]}, before {before[name]}")
    return sorted(more)


def look(address: str, pid: int, folder: Path, pids: set[int]) -> Resources:
    """Return the resources of a server, while one session asks for them.

    They are also the files in folder, and those that the processes named after themselves.
    """
    with blockyard.Client(address) as client:
        stats = client.stats()
    proc = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    maps = (proc / "maps").read_text().splitlines()
    resident, shared = (int(status[name].split()[0]) for name in ("VmRSS", "RssShmem"))
    left = [str(path) for path in folder.iterdir()]
    for other in ("/tmp", "/dev/shm"):
        left += [os.path.join(other, name) for name in os.listdir(other) if _names(name, pids)]
    return {name: int(stats[name]) for name in ("sessions", "handles", "envs", "memory", "goroutines")} | {
        "files": len(list((proc / "fd").iterdir())),  # open descriptors
        "shared": sum("memfd:" in line for line in maps),  # mappings that clients share
        "mappings": len(maps),
        "threads": int(status["Threads"]),
        "mebibytes": round((resident - shared) / 1024, 1),  # resident, without shared memory
        "leftovers": sorted(left),
    }


def _names(name: str, pids: set[int]) -> bool:
    """Return whether a file is named after one of these processes."""
    parts = name.replace(".", "-").split("-")
    return name.startswith("blockyard") and any(part.isdigit() and int(part) in pids for part in parts)


def settled(look: Callable[[], Resources], before: Resources, seconds: float = 60) -> Resources:
    """Wait until a server holds no more than before, and return what it holds then."""
    end = time.monotonic() + seconds
    while True:
        now = look()
        if not exceeding(now, before) or time.monotonic() > end:
            return now
        time.sleep(0.1)
