"""The machine on which the figures are measured."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any


def pin(cores: int | None) -> list[int]:
    """Restrict this process and its children to the first so many cores; return these cores."""
    if not hasattr(os, "sched_setaffinity"):
        return list(range(cores or os.cpu_count() or 1))
    allowed = sorted(os.sched_getaffinity(0))
    if cores is not None and not 1 <= cores <= len(allowed):
        raise ValueError(f"cores: want 1 to {len(allowed)}, got {cores}")
    chosen = allowed[: cores or len(allowed)]
    os.sched_setaffinity(0, chosen)
    return chosen


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(cores: int) -> dict[str, Any]:
    """Return facts about the machine, none of which identifies it."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "cores_used": cores,
        "load": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def load() -> float | None:
    """Return the load average of the last minute; None where it is unknown."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
