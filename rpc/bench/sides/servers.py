"""Servers that are started here, each a process that says as a line of JSON where it listens."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path


class Server:
    """A server process.

    Attributes:
        said: what it has said of itself.
        folder: an empty one, which is removed with the server.
    """

    def __init__(self, *command: str | Path) -> None:
        """Start it and wait until it listens; ``{folder}`` in the command stands for the folder."""
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        words = [str(word).replace("{folder}", self._folder.name) for word in command]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError(f"{' '.join(words)} did not come up")
        self.said = json.loads(line)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self.process.pid

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.communicate()
        self._folder.cleanup()


def ours(*flags: str) -> Server:
    """Start a server of this package, on a Unix socket: ``said["ready"][0]`` is the address."""
    from blockyard.transport.server import find_server

    ample = [f"--max-memory={(1 << 63) - 1}", "--max-sessions=4096", "--max-handles=4096"]
    return Server(find_server(), "serve", "--listen", "unix:{folder}/s", "--parent-death", *ample, *flags)
