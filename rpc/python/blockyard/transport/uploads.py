"""Weights that a session has uploaded to its server, named by their content."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

from ..errors import LimitError
from .connection import Connection


class Uploads:
    """The uploads of one session, and which environments use each; what nobody uses any more is dropped."""

    def __init__(self, connection: Connection, limits: Mapping[str, int]) -> None:
        self._connection, self._limits = connection, limits
        self._users: dict[str, set[object]] = {}
        self._lock = threading.Lock()  # the environments of a session may be used by several threads

    def use(self, user: object, game: str, files: Mapping[str, tuple[str, bytes]]) -> None:
        """Upload files (by name: a spec that uses it, and its bytes) that the server lacks, until :meth:`release`."""
        with self._lock:
            for name, (spec, data) in files.items():
                if name not in self._users:
                    most = self._limits.get("max_message", 1 << 24) - len(spec) - 256
                    if len(data) > most:
                        raise LimitError(
                            f"weights of {len(data)} bytes are too large for the server, which takes {most}; start it "
                            "with a larger --max-message"
                        )
                    self._connection.call("upload", game, spec, data)
                    self._users[name] = set()
                self._users[name].add(user)

    def release(self, user: object, keep: Collection[str] = ()) -> None:
        """Drop what only this user needed, except for the names in keep."""
        with self._lock:
            for name, users in list(self._users.items()):
                if user in users and name not in keep:
                    users.discard(user)
                    if not users:
                        del self._users[name]
                        if self._connection.open:
                            self._connection.call("drop_upload", name)
