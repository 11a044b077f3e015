"""Worker processes, which read requests and write answers as lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
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
            cwd=cwd,
            start_new_session=True,  # so that Ctrl-C reaches only the main process, which saves
        )
        self._rest = b""

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises:
            WorkerError: there is no answer, or the worker refused.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerError(f"the process ended ({self._status()})") from error
        reply: dict[str, Any] = json.loads(self._line(time.monotonic() + self.patience))
        if "error" in reply:
            raise WorkerError(reply["error"])
        return reply

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.kill()
                raise WorkerError(f"silent for {self.patience:g} s")
            part = os.read(fd, 1 << 16)
            if not part:
                raise WorkerError(f"the process ended ({self._status()})")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _status(self) -> str:
        try:
            return f"exit status {self._process.wait(5)}"
        except subprocess.TimeoutExpired:
            return "still running"

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def close(self) -> None:
        """Close its standard input, on which it exits, and wait."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
