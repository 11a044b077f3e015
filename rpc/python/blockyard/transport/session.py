"""A session with a server: one connection, and what the server can do."""

from __future__ import annotations

import os
import platform
import threading
import weakref
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ProtocolError, RequestError, on_error
from ..formats.arguments import seconds
from ..formats.spec import GameSpec
from .address import Address, Tls, Where
from .connection import Connection
from .memory import Handle
from .server import lease, release

_TEXTS = 1000  # of one request
PROTOCOL = (3, 0)


class Uploads:
    """The uploads of one session, and which environments use each; what nobody uses any more is dropped."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._users: dict[str, set[object]] = {}
        self._lock = threading.Lock()  # the environments of a session may be used by several threads

    def use(self, user: object, game: str, files: Mapping[str, tuple[str, bytes]]) -> None:
        """Upload files (by name: a spec that uses it, and its bytes) that the server lacks, until :meth:`release`."""
        with self._lock:
            for name, (spec, data) in files.items():
                if name not in self._users:
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


class Session:
    """A connection to a server that has been greeted, see :class:`blockyard.Client`."""

    def __init__(
        self, address: Where = None, *, token: str | None = None, timeout: float = 30.0, tls: Tls = None
    ) -> None:
        """Connect; arguments and errors are those of :func:`blockyard.make_vec`."""
        self._timeout, self._token, self._tls = seconds("timeout", timeout), token, tls
        self._connect(address, None)

    def _connect(self, address: Where, patience: float | None) -> None:
        self._local = local = lease(self._timeout) if address is None else None
        with on_error(*([partial(release, local)] if local else [])):
            where = address or (local.address if local else "")
            where = where if isinstance(where, Address) else Address.parse(where)
            self.connection = Connection(where, self._timeout, self._tls, patience)
            self.connection.exit_note = local.exit_note if local else None
            own = (local.token if local else None) or os.environ.get("BLOCKYARD_TOKEN")
            with on_error(self.connection.close):
                self._hello(own if self._token is None else self._token)
        if local:
            self._finalizer = weakref.finalize(self, release, local)
            self._finalizer.atexit = False  # the server is stopped at exit anyway
        self._specs: dict[str, GameSpec] = {}

    def reconnect(self, address: Where, patience: float) -> None:
        """Connect within patience seconds, also elsewhere; what was open is lost. An error closes the session."""
        self.close()
        self._connect(address, patience)

    def _hello(self, token: str | None) -> None:
        options: dict[str, Any] = {"proto": list(PROTOCOL), "client": f"blockyard-python/{platform.python_version()}"}
        if token is not None:
            options["token"] = token
        answer = self.connection.call("hello", options)
        try:
            self.protocol = tuple(map(int, answer["proto"]))
            self.limits: dict[str, int] = dict(answer["limits"])
        except (LookupError, TypeError, ValueError) as error:
            raise ProtocolError(f"hello: an answer of unknown shape: {answer!r:.200}") from error
        if self.protocol[0] != PROTOCOL[0]:
            mine, theirs = (".".join(map(str, version)) for version in (PROTOCOL, self.protocol))
            older = "client" if self.protocol > PROTOCOL else "server"
            what = f"this client speaks protocol {mine}, the server at {self.connection.address} {theirs}: the {older}"
            raise ProtocolError(f"{what} is older, install one of the other's version")
        self.server = str(answer.get("server", ""))
        self.features: tuple[str, ...] = tuple(answer.get("features") or ())
        for name in ("max_reply", "max_message"):
            setattr(self.connection, name, self.limits.get(name, getattr(self.connection, name)))
        self.uploads = Uploads(self.connection)

    def games(self) -> list[dict[str, Any]]:
        """Return one dict for each game of the server: ``name``, ``id`` (Gymnasium's) and ``rules`` (version)."""
        return list(self.connection.call("games"))

    def describe(self, game: str) -> GameSpec:
        """Return the specification of a game, given its name or Gymnasium id; UnknownGameError if there is none."""
        if game not in self._specs:
            self._specs[game] = GameSpec.from_wire(self.connection.call("describe", game))
        return self._specs[game]

    def text(self, game: str, actions: Any) -> str | list[str]:
        """Return an action of a game as text, such as ``"r2 x4 y17 spin"``; or a list of texts for several actions.

        Raise RequestError if an action is outside of the game's action space.
        """
        array = np.asarray(actions, None if np.size(actions) else np.uint16)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise TypeError(f"actions: want an integer or a list of integers, got {actions!r:.80}")
        if (bad := array[(array < 0) | (array > 0xFFFF)]).size:
            raise RequestError(f"text: {bad[0]} is not an action of {game}")
        texts: list[str] = self.connection.call("text", game, array.astype("<u2").tobytes())
        return texts if array.ndim else texts[0]

    def parse(self, game: str, texts: str | list[str] | tuple[str, ...]) -> int | NDArray[np.int64]:
        """Return the action that a text stands for, the inverse of :meth:`text`; or int64 (n,) for several texts.

        Raise RequestError if a text is no action of the game; the message shows it, and an example of one that is.
        """
        if isinstance(texts, str):
            return int(np.asarray(self.parse(game, [texts]))[0])
        if wrong := [t for t in texts if not isinstance(t, str)]:
            raise TypeError(f"texts: want a string or a list of strings, got {wrong[0]!r:.80}")
        out = b""
        for start in range(0, max(1, len(texts)), _TEXTS):
            out += self.connection.call("parse", game, {"texts": list(texts[start : start + _TEXTS])})["actions"]
        return np.frombuffer(out, "<u2").astype(np.int64)

    def stats(self) -> dict[str, Any]:
        """Return the server's counters: uptime, sessions, environments, memory, steps, errors."""
        return dict(self.connection.call("stats"))

    def ping(self) -> None:
        """Check that the server answers; raise ServerGoneError if it does not."""
        self.connection.call("ping")

    def open(self, game: str, options: dict[str, Any]) -> Handle:
        """Open an environment on the server, with the options of the method ``open`` in ``rpc/PROTOCOL.md``."""
        return Handle.from_wire(self.connection.call("open", game, options))

    @property
    def server_pid(self) -> int | None:
        """Process id of the local server; None if the session was given an address."""
        return self._local.process.pid if self._local else None

    def close(self) -> None:
        """End the session; its environments are closed. May be called again."""
        self.connection.close()
        if self._local:
            self._finalizer()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self.connection.open else ", closed"
        return f"{type(self).__name__}({str(self.connection.address)!r}, server={self.server!r}{state})"
