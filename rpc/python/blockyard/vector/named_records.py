"""Records of games against policies, in which the policies have their names."""

from __future__ import annotations

import json
from typing import Any

from ..transport.over_socket import SocketTransport
from .tables import Table


class NamedRecords:
    """Requests about the records of the games of one table on one server.

    Attributes:
        client, handle: of the games.
    """

    def __init__(self, table: Table, part: SocketTransport, first: int) -> None:
        """Pass requests on; first is the number of the environment's first game."""
        self._table, self._part, self._first = table, part, first
        self.client, self.handle = part.client, part.handle
        self.between: Any = None

    def call(self, method: str, *params: Any) -> Any:
        """Call a method; of records, those that name their episodes' policies are completed."""
        answer = self._part.call(method, *params)
        if method == "records" and self._table.policies.any():
            answer["lines"] = b"".join(map(self._named, answer["lines"].splitlines(keepends=True)))
        return answer

    def release(self, user: object) -> None:
        """Do nothing: the table drops its weights."""

    def _named(self, line: bytes) -> bytes:
        record = json.loads(line)
        if "agents" not in record:
            return line
        meta = record["meta"]
        who = self._table.history.get((int(meta["env"]) - self._first, int(meta["episode"])), {})
        record["agents"] = [who.get(seat, name) for seat, name in enumerate(record["agents"])]
        return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
