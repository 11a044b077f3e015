"""Worker processes, which read requests and write answers as lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any


class WorkerError(Exception):
    """A worker refused a request, did not answer, or exited; the message says which."""


class Worker:
    """A process that steps environments."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], log: Any, patience: float = 120.0, cwd: Any = None
    ) -> None:
        """Start it in the folder cwd; patience is the number of seconds to wait for an answer."""
        self.patience = patience
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **env},
            text=True,
            cwd=cwd,
            start_new_session=True,  # so that Ctrl-C reaches only the main process, which saves
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises:
            WorkerError: there is no answer, or the worker refused.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        begun, line = time.monotonic(), ""
        silent = threading.Timer(self.patience, os.killpg, (self._process.pid, signal.SIGKILL))
        silent.start()
        with contextlib.suppress(OSError):
            print(json.dumps(request), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        silent.cancel()
        if not line:
            late = time.monotonic() - begun >= self.patience
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            ended = f"the process ended (exit status {self._process.returncode})"
            raise WorkerError(f"silent for {self.patience:g} s" if late else ended)
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise WorkerError(reply["error"])
        return reply

    def close(self) -> None:
        """Close its standard input, on which it exits, and wait."""
        try:
            self._process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
