"""Imports of libraries that are not installed with the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(module: str, library: str, extra: str) -> Iterator[None]:
    """Let an ImportError of the block say what to install."""
    try:
        yield
    except ImportError as error:
        text = f"{module} needs {library} ({error}): pip install 'blockyard[{extra}]'"
        raise ImportError(text, name=error.name) from error
