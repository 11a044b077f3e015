"""What a server process holds, and the files that it and its clients leave."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import blockyard

# What may grow: the runtime keeps memory, threads and mappings of its own for later.
SPARE_MEBIBYTES = 64
SPARE_MAPPINGS = 64


@dataclass
class Resources:
    """The resources of a server, while one session asks for them."""

    sessions: int
    handles: int
    envs: int
    counted: int  # bytes of games and weights
    goroutines: int
    files: int  # open descriptors
    shared: int  # mappings that clients share
    mappings: int
    threads: int
    mebibytes: float  # resident, without shared memory
    leftovers: list[str]  # files

    def exceeding(self, before: Resources) -> list[str]:
        """Return what is more than before."""
        spare = {"mappings": SPARE_MAPPINGS, "mebibytes": SPARE_MEBIBYTES}
        now, then = asdict(self), asdict(before)
        more = []
        for name, value in now.items():
            if name == "leftovers":
                more += [f"{path} is left" for path in value if path not in then[name]]
            elif name != "threads" and value > then[name] + spare.get(name, 0):
                more.append(f"{name}: {value}, before {then[name]}")
        return more


def look(address: str, pid: int, folder: Path, pids: set[int]) -> Resources:
    """Return the resources of a server, and the files in folder and those that the processes named after themselves."""
    with blockyard.Client(address) as client:
        stats = client.stats()
    proc = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    maps = (proc / "maps").read_text().splitlines()

    def kibibytes(name: str) -> int:
        return int(status[name].split()[0])

    left = [str(path) for path in folder.iterdir()]
    for other in ("/tmp", "/dev/shm"):
        left += [os.path.join(other, name) for name in os.listdir(other) if _names(name, pids)]
    return Resources(
        sessions=int(stats["sessions"]),
        handles=int(stats["handles"]),
        envs=int(stats["envs"]),
        counted=int(stats["memory"]),
        goroutines=int(stats["goroutines"]),
        files=len(list((proc / "fd").iterdir())),
        shared=sum("memfd:" in line for line in maps),
        mappings=len(maps),
        threads=int(status["Threads"]),
        mebibytes=round((kibibytes("VmRSS") - kibibytes("RssShmem")) / 1024, 1),
        leftovers=sorted(left),
    )


def _names(name: str, pids: set[int]) -> bool:
    """Return whether a file is named after one of these processes."""
    parts = name.replace(".", "-").split("-")
    return name.startswith("blockyard") and any(part.isdigit() and int(part) in pids for part in parts)


def settled(look: Callable[[], Resources], before: Resources, seconds: float = 60) -> Resources:
    """Wait until a server holds no more than before, and return what it holds then."""
    end = time.monotonic() + seconds
    while True:
        now = look()
        if not now.exceeding(before) or time.monotonic() > end:
            return now
        time.sleep(0.1)
