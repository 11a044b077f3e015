"""CPU time of this process or others, with the resolution of the scheduler: nanoseconds, on Linux."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable


def process_seconds(pid: int) -> float:
    """Return the CPU seconds of all threads of a process.

    Raises:
        ProcessLookupError: there is no such process.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the kernel's number for that clock
    except OSError as error:
        raise ProcessLookupError(f"no process {pid}, so it has no CPU time") from error


def seconds(others: Iterable[int]) -> float:
    """Return the CPU seconds of this process and of others together."""
    return time.process_time() + sum(map(process_seconds, others))


def children_seconds() -> float:
    """Return the CPU seconds of the children of this process that have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
