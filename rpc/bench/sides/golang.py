"""Programs in Go: built as those of a release are, and their benchmarks."""

from __future__ import annotations

import os
import re
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


def bench(program: Path, pattern: str, length: str, unit: str, cwd: Path = ROOT) -> dict[str, float]:
    """Run benchmarks of a test program on one thread; return the figures of one unit by the benchmarks' names."""
    flags = ["-test.run=^$", f"-test.bench={pattern}", "-test.cpu=1", f"-test.benchtime={length}"]
    found = re.findall(rf"^Benchmark(\S+)\s.*?([\d.e+]+) {unit}\b", run(program, *flags, cwd=cwd), re.MULTILINE)
    return {name: float(figure) for name, figure in found}
