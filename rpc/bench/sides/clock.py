"""CPU time of this process or others, with the resolution of the scheduler."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable


def process_seconds(pid: int) -> float:
    """Return the CPU seconds of all threads of a process.

    On Linux the kernel has them in nanoseconds; elsewhere they come from psutil, with a resolution of 10 ms.

    Raises:
        ProcessLookupError: there is no such process.
    """
    if sys.platform.startswith("linux"):
        try:
            return time.clock_gettime((~pid << 3) | 2)
        except OSError as error:
            raise ProcessLookupError(f"no process {pid}, so it has no CPU time") from error
    import psutil

    try:
        used = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(f"no process {pid}, so it has no CPU time") from error
    return float(used.user + used.system)


def seconds(others: Iterable[int]) -> float:
    """Return the CPU seconds of this process and of others together."""
    return time.process_time() + sum(map(process_seconds, others))
