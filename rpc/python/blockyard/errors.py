"""What can go wrong, one exception a kind.

Every exception of this package is a :class:`BlockyardError`. Those the server sends carry
its ``code``, ``name`` and ``data`` (see :func:`from_wire`); where the standard library has
a matching class, the exception is one of that too, so ``except ValueError`` works.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class BlockyardError(Exception):
    """Base of all errors of this package.

    Attributes:
        code: the server's number for it (100..999), 0 for an error of the client.
        name: the server's word for it, such as ``"illegal_action"``; "" in the client.
        data: what the error is about, by name; empty if nothing.
        retry_after_ms: milliseconds after which a retry makes sense, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        code: int = 0,
        name: str = "",
        data: Mapping[str, Any] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.data: dict[str, Any] = dict(data or {})
        self.retry_after_ms = retry_after_ms

    def __reduce__(self) -> tuple[Any, ...]:
        state = {k: getattr(self, k) for k in ("code", "name", "data", "retry_after_ms")}
        return (type(self), self.args, state)


class ProtocolError(BlockyardError):
    """Client and server do not understand each other; the connection is closed."""


class AuthError(BlockyardError, PermissionError):
    """The server wants a token, or another one."""


class RequestError(BlockyardError, ValueError):
    """A request that makes no sense to the server; the message names the parameter."""


class UnknownGameError(RequestError):
    """The server has no game of that name."""


class IllegalActionError(BlockyardError, ValueError):
    """An action that is not legal where it was played; no game was stepped.

    ``data`` has ``envs``, the games to blame, 64 at most, and of the first one ``row`` (within the
    game), ``seat`` and ``action``.
    """

    @property
    def env_ids(self) -> list[int]:
        """The games in which an action was refused, at most 64."""
        return list(self.data.get("envs", ()))


class NeedsResetError(BlockyardError, RuntimeError):
    """A game was stepped that is over or never began; no game was stepped.

    ``data`` has ``envs``, the indices of those games, 64 at most.
    """

    @property
    def env_ids(self) -> list[int]:
        """The games to be reset first, at most 64."""
        return list(self.data.get("envs", ()))


class BadStateError(BlockyardError, ValueError):
    """Bytes that are no position of this game; nothing was restored."""


class OpponentError(BlockyardError, RuntimeError):
    """A player of the server failed, and left games half-way; reset all to go on."""


class BusyError(BlockyardError):
    """Too many requests are under way; ``retry_after_ms`` says when to try again."""


class LimitError(BlockyardError, ValueError):
    """Something asked for exceeds a limit of the server, which the message names."""


class DrainingError(BusyError):
    """The server is about to end and takes no more requests."""


class InternalError(BlockyardError, RuntimeError):
    """A bug of the server; its log has the ``id`` that is in ``data``."""


class ServerGone(BlockyardError, ConnectionError):
    """The server ended or the connection broke; the environment cannot be used any more."""


class ServerTimeout(ServerGone, TimeoutError):
    """The server did not answer in time; the connection is given up."""


class ServerNotFound(BlockyardError, FileNotFoundError):
    """No server program was found to start."""


class ServerStartError(BlockyardError, RuntimeError):
    """The server program was found and did not come up; the message has what it said."""


class ForkError(BlockyardError, RuntimeError):
    """An environment was used in a process forked from the one that made it."""


_CLASSES: dict[str, type[BlockyardError]] = {
    "unknown_game": UnknownGameError,
    "illegal_action": IllegalActionError,
    "needs_reset": NeedsResetError,
    "bad_state": BadStateError,
    "opponent_failed": OpponentError,
    "busy": BusyError,
    "limit": LimitError,
    "draining": DrainingError,
}
_BY_HUNDRED: dict[int, type[BlockyardError]] = {
    1: ProtocolError,
    2: AuthError,
    3: RequestError,
    4: BlockyardError,
    5: BusyError,
    9: InternalError,
}


def from_wire(error: object, method: str) -> BlockyardError:
    """Make the exception for the error of a response to method.

    An error this client has no class for becomes the class of its hundred, so newer
    servers stay understood; one that is no map of the protocol is a ProtocolError.
    """
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return ProtocolError(f"{method}: the server answered with an error of unknown shape: {error!r:.200}")
    code, name = error["code"], str(error.get("name", ""))
    kind = _CLASSES.get(name) or _BY_HUNDRED.get(code // 100, BlockyardError)
    data, retry = error.get("data"), error.get("retry_after_ms")
    text = str(error.get("msg", name))
    return kind(
        text if text.startswith(f"{method}:") else f"{method}: {text}",
        code=code,
        name=name,
        data=data if isinstance(data, dict) else None,
        retry_after_ms=retry if isinstance(retry, int) else None,
    )
