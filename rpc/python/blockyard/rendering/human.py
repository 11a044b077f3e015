"""``render_mode="human"``: the position is displayed after every reset and step."""

import os
import sys
import time
from collections.abc import Callable
from typing import Any

HOME = "\x1b[H\x1b[2J"  # moves the cursor to the top left corner of the screen and clears it


class Display:
    """Shows a game as it is played: in a notebook, in a terminal, or as plain text in a pipe or file.

    Positions follow each other no faster than ``fps`` per second, except in a pipe or file.
    """

    def __init__(self, fps: float) -> None:
        self._pause, self._next = 1 / fps, 0.0

    def show(self, picture: Callable[[str], Any]) -> None:
        """Show a position; picture(mode) returns it as ``"text"``, ``"ansi"`` (with colours) or ``"svg"``."""
        if notebook := _notebook():
            self._wait()
            notebook(str(picture("svg")))
        elif sys.stdout.isatty():
            self._wait()
            sys.stdout.write(HOME + picture("text" if os.environ.get("NO_COLOR") else "ansi"))
        else:
            sys.stdout.write(picture("text") + "\n")
        sys.stdout.flush()

    def _wait(self) -> None:
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + self._pause


def _notebook() -> Callable[[str], None] | None:
    """Return what replaces the output of a notebook's cell by a picture; None outside notebooks."""
    ipython = sys.modules.get("IPython")  # imported, it may also be a tool that runs notebooks elsewhere
    if ipython is None or getattr(ipython.get_ipython(), "kernel", None) is None:
        return None
    from IPython import display as untyped  # type: ignore[import-not-found,unused-ignore]

    display: Any = untyped

    def replace(svg: str) -> None:
        display.clear_output(wait=True)
        display.display(display.HTML(svg))

    return replace
