"""Progress bars of calls that take long: where ``tqdm`` is installed and somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SECONDS = 1.0  # that a call may take before a bar appears


@contextmanager
def bar(what: str, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], object]]:
    """Show a bar on standard error while the block runs, and yield what moves it on.

    Nothing is shown unless ``tqdm`` is installed and standard error is a terminal, nor in the first second;
    nothing is left behind. Without a total it shows the time.
    """
    stream = sys.stderr
    try:
        seen = stream is not None and stream.isatty()
        from tqdm import tqdm
    except (ImportError, ValueError):  # a closed stream raises ValueError
        seen = False
    if not seen:
        yield lambda n: None
        return
    form = None if total is not None else "{desc} {elapsed}"
    with tqdm(total=total, desc=what, unit=unit, leave=False, delay=_SECONDS, file=stream, bar_format=form) as shown:

        def advance(n: int) -> None:
            shown.update(n)
            if n == 0:
                shown.refresh()

        yield advance
