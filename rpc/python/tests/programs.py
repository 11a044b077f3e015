"""Python programs in processes of their own, for the price of a fork each.

An interpreter spends longer on importing Blockyard, NumPy and Gymnasium than most programs of the tests run. On Linux
one process imports them, and forks for each program, which ends as any program does. Elsewhere, and where a test is
about starting itself, programs are started as usual.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
import types
from functools import cache
from pathlib import Path
from typing import Any


def run(*command: str | Path, cwd: str | Path | None = None, env: dict[str, str] | None = None, timeout: float = 300,
        imports: str = "blockyard") -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run ``python COMMAND``, in a process that may have imported these modules; return its status and what it said."""
    words = [str(word) for word in command]
    if not sys.platform.startswith("linux"):
        return subprocess.run(
            [sys.executable, *words], cwd=cwd, env=env, timeout=timeout, capture_output=True, text=True, check=False
        )
    with tempfile.TemporaryDirectory() as folder:
        said = [os.path.join(folder, name) for name in ("out", "err")]
        request = {"command": words, "cwd": str(cwd or os.getcwd()), "env": dict(env or os.environ), "said": said}
        status = _started(imports).ask(request, timeout)
        out, err = (Path(path).read_text(encoding="utf-8") for path in said)
    return subprocess.CompletedProcess(words, status, out, err)


def printed(*command: str | Path, **how: Any) -> str:
    """Return what a program prints that ends well."""
    done = run(*command, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class _Forks:
    """A process that forks one child at a time."""

    def __init__(self, imports: str) -> None:
        command = [sys.executable, __file__, imports]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self._process.communicate)

    def ask(self, request: dict[str, Any], timeout: float) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        late = threading.Timer(timeout, os.kill, [child, 9])
        late.start()
        try:
            return int(self._process.stdout.readline())
        finally:
            late.cancel()


_started = cache(_Forks)


def _fork_for_each() -> dict[str, Any]:
    """Fork for each line of standard input; return what it asks for, in the child."""
    gc.freeze()  # a child that looks for garbage among what was imported would copy all of it
    for line in sys.stdin:
        child = os.fork()
        if not child:
            return json.loads(line)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    os._exit(0)


def _become(request: dict[str, Any]) -> None:
    """Make this process that of the program, and run it."""
    for number, path in ((0, os.devnull), (1, request["said"][0]), (2, request["said"][1])):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    kind, *rest = request["command"]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if kind == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    elif kind == "-m":
        sys.argv, sys.path[0] = rest, os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = [kind, *rest], os.path.dirname(os.path.abspath(kind))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        __import__(name)
    _become(_fork_for_each())
