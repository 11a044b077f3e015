"""Processor time of processes, of this one or others, with the resolution of the scheduler."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable


def process_seconds(pid: int) -> float:
    """Return the processor seconds that all threads of a process have used, running ones included.

    On Linux the scheduler keeps them in ns for every process; elsewhere psutil is asked, whose clock ticks
    in hundredths of seconds.

    Raises:
        ProcessLookupError: there is no such process.
    """
    if sys.platform.startswith("linux"):
        try:
            return time.clock_gettime((~pid << 3) | 2)
        except OSError as error:
            raise ProcessLookupError(f"no process {pid} to read the clock of") from error
    import psutil

    try:
        used = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(f"no process {pid} to read the clock of") from error
    return float(used.user + used.system)


def seconds(others: Iterable[int]) -> float:
    """Return the processor seconds of this process and of others together."""
    return time.process_time() + sum(map(process_seconds, others))
