"""What is said when a library that an adapter is for is not installed."""

from __future__ import annotations


def missing(module: str, library: str, extra: str, error: ImportError) -> ImportError:
    """Return the error that says what to install, for ``raise ... from error``."""
    return ImportError(f"{module} needs {library} ({error}): pip install 'blockyard[{extra}]'", name=error.name)
