"""The error of an adapter whose library is not installed."""

from __future__ import annotations


def missing_dependency(module: str, library: str, extra: str, error: ImportError) -> ImportError:
    """Return the error that says what to install, for ``raise ... from error``."""
    return ImportError(f"{module} needs {library} ({error}): pip install 'blockyard[{extra}]'", name=error.name)
