"""The machine on which the figures are measured."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any


def pin(cores: int | None) -> list[int]:
    """Restrict this process and its children to the first so many cores; return these cores."""
    allowed = sorted(os.sched_getaffinity(0))
    if cores is not None and not 1 <= cores <= len(allowed):
        raise ValueError(f"cores: want 1 to {len(allowed)}, got {cores}")
    os.sched_setaffinity(0, allowed[:cores])
    return allowed[:cores]


def cpu_model() -> str:
    """Return the name of the processor."""
    named = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return named[1].strip() if named else platform.machine()


def describe(cores: int) -> dict[str, Any]:
    """Return facts about the machine, none of which identifies it."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "cores_used": cores,
        "load": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def load() -> float:
    """Return the load average of the last minute."""
    return round(os.getloadavg()[0], 1)
