"""Programs in Go: built as those of a release are, and their benchmarks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GO = os.environ.get("GO", "go")


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> str:
    """Run a command with environment variables, and return what it prints; errors go to standard error."""
    return subprocess.run(command, cwd=cwd, check=True, env=os.environ | env, stdout=subprocess.PIPE, text=True).stdout


def build(made: Path | str, *arguments: str, cwd: Path = ROOT, level: str = "v2", cgo: bool = False) -> Path:
    """Run go with these arguments, the last of which is a package; the program that it makes is the file made.

    level is that of the processors of x86-64 that the program is for.
    """
    env = {"GOWORK": "off", "GOAMD64": level, "CGO_ENABLED": str(int(cgo))}
    stripped = ["-trimpath", "-ldflags", "-s -w", "-o", str(made)]
    run(GO, *arguments[:-1], *stripped, arguments[-1], cwd=cwd, **env)
    return Path(made)


def bench(
    program: Path | str, pattern: str, length: str, cwd: Path = ROOT, cores: int = 1, **env: str
) -> dict[str, dict[str, float]]:
    """Run benchmarks of a test program; return their figures by unit, by the benchmarks' names."""
    flags = ["-test.run=^$", f"-test.bench={pattern}", f"-test.cpu={cores}", f"-test.benchtime={length}"]
    found = {}
    for line in run(program, *flags, cwd=cwd, **env).splitlines():
        if line.startswith("Benchmark"):
            name, _, *figures = line.removeprefix("Benchmark").split()
            found[name] = dict(zip(figures[1::2], map(float, figures[::2]), strict=True))
    return found
