"""A session with a server."""

from __future__ import annotations

import os
import platform
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .address import Address, Tls
from .connection import Connection
from .errors import BlockyardError, ProtocolError, RequestError
from .facts import GameFacts, Handle
from .local import Lease

if TYPE_CHECKING:
    from .single import BlockEnv
    from .vector import BlockVectorEnv

PROTO = (1, 1)


class Client:
    """A session: one connection, and the environments opened on it.

    Several environments can share it; what they ask is answered in turn. It can be used
    from several threads, not from forked processes. Closing it closes its environments.

    Attributes:
        server: the server's name and version.
        protocol: the version of the protocol it speaks.
        features: what the server can do beyond the protocol's first version.
        limits: the server's limits by name.
    """

    def __init__(
        self, address: str | None = None, *, token: str | None = None, timeout: float = 30.0, tls: Tls = None
    ) -> None:
        """Connect.

        Args:
            address: ``"unix:PATH"``, ``"tcp:HOST:PORT"`` or ``"tls:HOST:PORT"``; None for a server of this
                process, which is started if it does not run and ends with the last client of it.
            token: what the server asks for on TCP; by default the environment's ``BLOCKYARD_TOKEN``.
            timeout: seconds to wait for the server before it is given up.
            tls: how a ``tls:`` server is trusted: None by the system's authorities, a path by the certificates
                there, False not at all, or an ``ssl.SSLContext``, which may have a certificate of the client's.

        Raises:
            ServerGone: nobody answers at the address.
            AuthError: the server wants another token.
            ProtocolError: what answers there is no server of this protocol.
            ServerNotFound, ServerStartError: no server of our own could be started.
        """
        if not timeout > 0:
            raise ValueError(f"timeout {timeout}: want a positive number of seconds")
        self._lease = Lease(timeout) if address is None else None
        try:
            where = Address.parse(address if self._lease is None else self._lease.server.address)  # type: ignore[arg-type]
            note = self._lease.server.exit_note if self._lease else (lambda: "")
            self.connection = Connection(where, timeout, note, tls)
            self._hello(token if token is not None else self._default_token())
        except BaseException:
            if self._lease:
                self._lease.give_back()
            raise
        if self._lease:
            self._finalizer = weakref.finalize(self, self._lease.give_back)
            self._finalizer.atexit = False  # the server has its own end at exit
        self._facts: dict[str, GameFacts] = {}

    def _default_token(self) -> str | None:
        return (self._lease.server.token if self._lease else None) or os.environ.get("BLOCKYARD_TOKEN")

    def _hello(self, token: str | None) -> None:
        options: dict[str, Any] = {"proto": list(PROTO), "client": f"blockyard-python/{platform.python_version()}"}
        if token is not None:
            options["token"] = token
        try:
            answer = self.connection.call("hello", options)
        except BlockyardError as error:
            self.connection.close()
            if error.name == "version":
                theirs = ".".join(map(str, error.data.get("proto") or "?"))
                raise ProtocolError(
                    f"this client speaks protocol {PROTO[0]}.{PROTO[1]} and the server at {self.connection.address} "
                    f"{theirs}: install a client and a server whose first numbers are the same",
                    code=error.code,
                    name=error.name,
                    data=error.data,
                ) from error
            raise
        if not isinstance(answer, dict) or not isinstance(answer.get("limits"), dict):
            self.connection.close()
            raise ProtocolError(f"hello: an answer of unknown shape: {answer!r:.200}")
        self.server = str(answer.get("server", ""))
        self.protocol: tuple[int, ...] = tuple(answer.get("proto") or (1, 0))
        self.features: tuple[str, ...] = tuple(answer.get("features") or ())
        self.limits: dict[str, int] = answer["limits"]
        self._names: tuple[str, ...] = tuple(answer.get("games") or ())
        self.connection.max_reply = self.limits.get("max_reply", self.connection.max_reply)

    def need(self, feature: str, what: str) -> None:
        """Make sure of something that not every server can do.

        Raises:
            RequestError: this one cannot; the message says what and who.
        """
        if feature not in self.features:
            raise RequestError(
                f"{what}: the server at {self.connection.address} ({self.server or 'of unknown version'}, protocol "
                f"{'.'.join(map(str, self.protocol))}) cannot {feature!r}, only {', '.join(self.features) or 'little'}"
            )

    # -- questions ------------------------------------------------------------------

    def games(self) -> list[dict[str, Any]]:
        """Return name, Gymnasium id and rules version of every game the server has."""
        return list(self.connection.call("games"))

    def describe(self, game: str) -> GameFacts:
        """Return the facts of a game, asked for by name or by Gymnasium id.

        Raises:
            UnknownGameError: the server has none of that name.
        """
        if game not in self._facts:
            self._facts[game] = GameFacts.from_wire(self.connection.call("describe", game))
        return self._facts[game]

    def text(self, game: str, actions: Sequence[int] | NDArray[np.integer[Any]]) -> list[str]:
        """Return what actions mean, such as ``"r2 x4 y17 spin"``."""
        return list(self.connection.call("text", game, np.asarray(actions).astype("<u2").tobytes()))

    def stats(self) -> dict[str, Any]:
        """Return what the server counts: uptime, sessions, environments, memory, steps, errors."""
        return dict(self.connection.call("stats"))

    def ping(self) -> None:
        """Ask for a sign of life.

        Raises:
            ServerGone: there is none.
        """
        self.connection.call("ping")

    @property
    def server_pid(self) -> int | None:
        """The process of the server if it is our own, None if it was there already."""
        return self._lease.server.pid if self._lease else None

    # -- environments ---------------------------------------------------------------

    def open(self, game: str, options: dict[str, Any]) -> Handle:
        """Open an environment on the server; make_vec and make are the ways to use it."""
        return Handle.from_wire(self.connection.call("open", game, options))

    def make_vec(self, game: str, num_envs: int = 1, **kwargs: Any) -> BlockVectorEnv:
        """Return a vector environment on this connection; see :func:`blockyard.make_vec`."""
        from .vector import BlockVectorEnv

        if kwargs.keys() & {"address", "token", "timeout", "tls"}:
            raise RequestError("address, token, timeout and tls belong to the client, which has them already")
        return BlockVectorEnv(game, num_envs, client=self, **kwargs)

    def make(self, game: str, **kwargs: Any) -> BlockEnv:
        """Return a single environment on this connection; see :func:`blockyard.make`."""
        from .single import BlockEnv

        if kwargs.keys() & {"address", "token", "timeout", "tls"}:
            raise RequestError("address, token, timeout and tls belong to the client, which has them already")
        return BlockEnv(game, client=self, **kwargs)

    # -- the end --------------------------------------------------------------------

    def close(self) -> None:
        """End the session; its environments are gone. May be called again."""
        self.connection.close()
        if self._lease:
            self._finalizer()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self.connection.open else ", closed"
        return f"Client({str(self.connection.address)!r}, server={self.server!r}{state})"
