"""A virtual environment for each peer, because their requirements conflict."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


class InstallError(Exception):
    """A peer could not be installed; the message is the installer's error."""


def ready_python(
    cache: Path, name: str, python: str, pinned: Sequence[str], build: Sequence[str] = (), timeout: float = 1800.0
) -> Path:
    """Return the interpreter of a virtual environment with these packages; create it if it does not exist.

    build is a program and its arguments, which the new interpreter runs to install the rest. After a failure the
    error is saved in a file in cache, and raised again until that file is deleted.

    Raises:
        InstallError: the installation failed, now or before.
    """
    recipe = hashlib.sha256(json.dumps([*pinned, *(Path(part).name for part in build)]).encode()).hexdigest()[:12]
    folder, note = cache / f"{name}-{recipe}", cache / f"{name}-{recipe}.error"
    program = folder / "bin" / "python"
    if (folder / "complete").exists():
        return program
    if note.exists():
        raise InstallError(note.read_text())
    cache.mkdir(parents=True, exist_ok=True)
    try:
        _run([python, "-m", "venv", "--clear", str(folder)], timeout)
        pip = [str(program), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, *pinned], timeout)
        if build:
            _run([str(program), *build], timeout)
    except InstallError as error:
        note.write_text(str(error))
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / "complete").touch()
    return program


def _run(command: Sequence[str], timeout: float) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"{type(error).__name__}: {error}") from error
    if done.returncode != 0:
        raise InstallError(last_words(done.stderr) or f"exit status {done.returncode}")


def last_words(text: str, most: int = 300) -> str:
    """Return the most informative line of an installer's output: the last one that names an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() and not line.startswith(("note:", "hint:"))]
    return (telling or lines or [""])[-1][:most]
