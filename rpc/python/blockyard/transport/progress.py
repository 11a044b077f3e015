"""Progress bars for slow calls, shown if ``tqdm`` is installed and standard error is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_DELAY = 1.0  # seconds before a bar appears


@contextmanager
def bar(what: str, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], object]]:
    """Show a bar on standard error while the block runs; yield a function that advances it.

    It appears after a second, if there is a terminal and ``tqdm``. Without a total it shows the elapsed time.
    """
    try:
        visible = sys.stderr is not None and sys.stderr.isatty()
        from tqdm import tqdm
    except (ImportError, ValueError):  # a closed stream raises ValueError
        visible = False
    if not visible:
        yield lambda n: None
        return
    form = None if total is not None else "{desc} {elapsed}"
    with tqdm(total=total, desc=what, unit=unit, leave=False, delay=_DELAY, file=sys.stderr, bar_format=form) as shown:
        yield shown.update
