"""The exceptions of this package.

All of them are :class:`BlockyardError`. Errors that the server reports carry its ``code``, ``name``
and ``data``. Where Python has a matching built-in exception, the class inherits from it too, so that
``except ValueError`` works.

Much of what they say is text of others, such as a server or a file: like all such text, it reaches a terminal through
:func:`plain`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = [  # those that users meet
    "AuthError", "BadStateError", "BlockyardError", "BusyError", "CheckpointError", "DrainingError", "ForkError",
    "IllegalActionError", "InternalError", "LimitError", "NeedsResetError", "OpponentError", "ProtocolError",
    "RequestError", "ServerGoneError", "ServerNotFoundError", "ServerStartError", "ServerTimeoutError",
    "UnknownGameError", "WeightsError",
]  # fmt: skip


class BlockyardError(Exception):
    """Base class of all errors of this package.

    Attributes:
        code: number of the server's error, 100 to 999; 0 for an error of the client.
        name: name of the server's error, such as ``"illegal_action"``; "" for an error of the client.
        data: details of the server's error by name.
        retry_after_ms: milliseconds after which to try again; None if trying again does not help.
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
        super().__init__(plain(message))
        self.code = code
        self.name = name
        self.data: dict[str, Any] = dict(data or {})
        self.retry_after_ms = retry_after_ms


class ProtocolError(BlockyardError):
    """Client and server do not understand each other; use the same version of both."""


class AuthError(BlockyardError, PermissionError):
    """The server requires a token, or the token is wrong; pass ``token=``."""


class RequestError(BlockyardError, ValueError):
    """The server refused a request because of a parameter; the message names the parameter."""


class UnknownGameError(RequestError):
    """The server has no game of that name; the message lists the games it has."""


class EnvironmentsError(BlockyardError):
    """An error in some environments; ``data["envs"]`` has the indices of at most 64 of them."""

    @property
    def env_ids(self) -> list[int]:
        """Indices of the environments with the error, at most 64."""
        return list(self.data.get("envs", ()))


class IllegalActionError(EnvironmentsError, ValueError):
    """An action was not legal; no environment was stepped.

    ``data`` has ``envs``, the indices of at most 64 environments with an illegal action, and ``row``
    (within the environment), ``seat`` and ``action`` of the first one.
    """


class NeedsResetError(EnvironmentsError, RuntimeError):
    """An environment was used whose episode is over or was never started; no environment was stepped.

    ``data`` has ``envs``, the indices of at most 64 such environments.
    """


class BadStateError(BlockyardError, ValueError):
    """A state to restore was not made by ``snapshot`` of the same game; nothing was restored."""


class CheckpointError(BlockyardError, ValueError):
    """Bytes are not a checkpoint, are damaged, or are of another version or environment; the message says which."""


class OpponentError(BlockyardError, RuntimeError):
    """An opponent on the server failed in the middle of a step; reset or restore all environments to continue."""


class BusyError(BlockyardError):
    """Too many requests are in flight; try again after ``retry_after_ms``."""


class LimitError(BlockyardError, ValueError):
    """A request exceeds a limit of the server; the message names the limit."""


class DrainingError(BusyError):
    """The server is shutting down and accepts no more requests."""


class InternalError(BlockyardError, RuntimeError):
    """A bug in the server; ``data["id"]`` identifies the entry in its log."""


class ServerGoneError(BlockyardError, ConnectionError):
    """The server exited or the connection broke; create a new environment."""


class ServerTimeoutError(ServerGoneError, TimeoutError):
    """The server did not answer in time; the connection is closed."""


class ServerNotFoundError(BlockyardError, FileNotFoundError):
    """No server program was found to start; the message says what was tried."""


class ServerStartError(BlockyardError, RuntimeError):
    """The server program did not start; the message has the end of its log."""


class WeightsError(BlockyardError, ValueError):
    """A network, or a file of weights, is not one that an evaluator can load; the message says why and what to do."""


class ForkError(BlockyardError, RuntimeError):
    """An environment was used in a forked process; create a new one there."""


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
_BY_HUNDRED: dict[int, type[BlockyardError]]
_BY_HUNDRED = {1: ProtocolError, 2: AuthError, 3: RequestError, 5: BusyError, 9: InternalError}
# What to do next, in terms of this package.
_ADVICE: dict[type[BlockyardError], str] = {
    IllegalActionError: 'choose from infos["action_mask"], or pass illegal="penalty" or illegal="random"',
    NeedsResetError: "call reset(), or reset(options={'reset_mask': terminated | truncated})",
    BadStateError: "pass rows of snapshot() of an environment with the same game, rules version and seats",
}


def from_wire(error: object, method: str) -> BlockyardError:
    """Return the exception for the error in the server's answer to a method.

    An error without a class of its own, of a newer server, gets the class of its hundred. An error that
    does not have the form that the protocol requires becomes a ProtocolError.
    """
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return ProtocolError(f"{method}: the server answered with an error of unknown shape: {error!r:.200}")
    code, name = error["code"], str(error.get("name", ""))
    kind = _CLASSES.get(name) or _BY_HUNDRED.get(code // 100, BlockyardError)
    text = str(error.get("msg", name))
    if not text.startswith(f"{method}:"):
        text = f"{method}: {text}"
    if kind in _ADVICE:
        text += f": {_ADVICE[kind]}"
    data, retry = error.get("data"), error.get("retry_after_ms")
    data, retry = data if isinstance(data, dict) else None, retry if isinstance(retry, int) else None
    return kind(text, code=code, name=name, data=data, retry_after_ms=retry)


@contextmanager
def on_error(*undo: Callable[[], object]) -> Iterator[None]:
    """Call functions that undo what was begun if the block fails, be it by Ctrl-C; the error goes on."""
    try:
        yield
    except BaseException:
        for each in undo:
            each()
        raise


@contextmanager
def needs(module: str, library: str, extra: str) -> Iterator[None]:
    """Let an ImportError of the block say what to install."""
    try:
        yield
    except ImportError as error:
        text = f"{module} needs {library} ({error}): pip install 'blockyard[{extra}]'"
        raise ImportError(text, name=error.name) from error


_SPECIAL = re.compile(r"[^\n\t -~]")
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


def plain(text: str, *, colours: bool = False) -> str:
    r"""Return a text that a terminal can only show.

    Every character that does anything else (control characters, those that turn the direction of writing, those that
    no font shows) appears as its number, such as ``\x1b``. Line ends and tabs stay, and with colours also the sequences
    that change the colour.
    """
    if colours:
        parts = _COLOUR.split(text)
        return "".join(part if k % 2 else plain(part) for k, part in enumerate(parts))
    return _SPECIAL.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")
