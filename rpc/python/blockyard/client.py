"""A client: a session with a server, and environments that share its connection."""

from __future__ import annotations

from typing import Any

from .errors import RequestError
from .single import BlockEnv
from .transport.session import Session
from .vector import BlockVectorEnv


class Client(Session):
    """A connection to a server, and the environments opened on it.

    Create it with :func:`blockyard.connect`. Several environments can share it; the server answers their
    requests in turn. Several threads can use it, forked processes cannot. Closing it closes its
    environments.

    Attributes:
        server: name and version of the server.
        protocol: version of the protocol that the server speaks.
        features: what the server can do beyond the first version of the protocol.
        limits: the server's limits by name, such as ``max_envs``.
    """

    def make_vec(self, game: str, num_envs: int = 1, **kwargs: Any) -> BlockVectorEnv:
        """Create a vector environment on this connection; arguments as in :func:`blockyard.make_vec`."""
        _refuse_connection_arguments(kwargs)
        return BlockVectorEnv(game, num_envs, client=self, **kwargs)

    def make(self, game: str, **kwargs: Any) -> BlockEnv:
        """Create a single environment on this connection; arguments as in :func:`blockyard.make`."""
        _refuse_connection_arguments(kwargs)
        return BlockEnv(game, client=self, **kwargs)

    def __enter__(self) -> Client:
        return self


def _refuse_connection_arguments(kwargs: dict[str, Any]) -> None:
    if fixed := kwargs.keys() & {"address", "token", "timeout", "tls"}:
        raise RequestError(f"{sorted(fixed)}: the client is connected already; pass them to blockyard.connect")
