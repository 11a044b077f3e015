"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any


def pin(cores: int | None) -> list[int]:
    """Keep this process, and all that it starts, on the first so many of the cores it may use; return them."""
    if not hasattr(os, "sched_setaffinity"):
        return list(range(cores or os.cpu_count() or 1))
    allowed = sorted(os.sched_getaffinity(0))
    if cores is not None and not 1 <= cores <= len(allowed):
        raise ValueError(f"cores: want 1 to {len(allowed)}, got {cores}")
    chosen = allowed[: cores or len(allowed)]
    os.sched_setaffinity(0, chosen)
    return chosen


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(cores: int) -> dict[str, Any]:
    """Return what is worth knowing of the machine: nothing that names it."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "cores_used": cores,
        "load": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def load() -> float | None:
    """Return how many threads want a core, on the average of a minute; None where that is unknown."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
