"""Requests about the games of an environment, which are refused while a step is in progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import BlockyardError
from ..formats.arguments import Ids, game_ids
from ..transport.over_socket import SocketTransport


class Requests:
    """Sends requests of an environment.

    Attributes:
        transport: moves the games' steps.
        pending, closed: whether a step is in progress, and whether the environment is closed.
    """

    def __init__(self, transport: SocketTransport) -> None:
        self.transport, self.pending, self.closed = transport, False, False

    def check(self, method: str) -> None:
        """Refuse a method of the environment: by RuntimeError in a step, by BlockyardError when it is closed."""
        if self.pending:
            raise RuntimeError(f"{method}: a step is in progress; call step_wait first")
        if self.closed:
            raise BlockyardError(f"{method}: the environment is closed; create a new one")

    def call(self, method: str, *params: Any) -> Any:
        """Call a method of the server about the games."""
        self.check(method)
        return self.transport.call(method, *params)

    def pages(self, method: str, env_ids: Ids, *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a request about games; yield the answers, each for as many games as fit into one message."""
        self.check(method)
        return self.transport.pages(method, game_ids(env_ids, self.transport.handle.games), *options)
