"""Games for language models that TRL trains: an environment of ``environment_factory`` is a game on a server.

    blockyard serve --openenv 127.0.0.1:8000 --game BlockBattle-v0 --opponents random --max-sessions 128

    from blockyard.trl import GameEnvironment
    trainer = GRPOTrainer(model, train_dataset=dataset, environment_factory=GameEnvironment)

Another server, or a token: ``environment_factory=functools.partial(GameEnvironment, "https://host:8000", token=...)``.
"""

import json
import weakref
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .errors import BlockyardError, plain


class GameEnvironment:
    """One game at a time of ``blockyard serve --openenv``: its public methods are the model's tools.

    The column ``seed`` of the dataset is the seed of the game, so that the completions of one prompt play the same
    game. The server's options decide the rest: opponents, rewards, ``--legal-moves hide``, and which tools there are.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        unfinished: float = -1.0,
        timeout: float = 600.0,
    ) -> None:
        """Prepare to play on the server at an address.

        Args:
            url: of the server.
            token: that it wants.
            unfinished: what get_reward adds if the model stops before the game is over, so that this is no better than
                to lose.
            timeout: seconds for an answer, in which opponents move.
        """
        self._url, self._timeout, self._unfinished = f"{url.rstrip('/')}/mcp", timeout, unfinished
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._session: str | None = None
        self._total, self._done = 0.0, False
        weakref.finalize(self, _close, self._url, self._headers, self.__dict__).atexit = False

    def reset(self, seed: int | None = None, **columns: Any) -> str:
        """Begin a game; return its position as text. Other columns of the dataset are ignored.

        BlockyardError: the server cannot be reached, or has no room for another session.
        """
        _close(self._url, self._headers, self.__dict__)
        self._session = self._call("openenv/session/create")["session_id"]
        self._total, self._done = 0.0, False
        return self._tool("observe", {"new_game": True} | ({} if seed is None else {"seed": seed}))

    def play(self, move: str) -> str:
        """
        Play a move in the game.

        Args:
            move: One of the legal moves, as text.

        Returns:
            The new position, or why the move was not played.
        """
        return self._tool("play", {"move": move})

    def legal_moves(self) -> str:
        """
        List the moves that may be played now.

        Returns:
            The legal moves, one per line.
        """
        return self._tool("legal_moves", {})

    def rules(self) -> str:
        """
        Explain the rules of the game and how moves are written.

        Returns:
            The rules.
        """
        return self._tool("rules", {})

    def get_reward(self) -> float:
        """Return the sum of the rewards of the game, and ``unfinished`` if it is not over."""
        return self._total + (0.0 if self._done else self._unfinished)

    def _tool(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool and return its text. ValueError: the model, which reads it, has made a mistake."""
        out = self._call("tools/call", name=name, arguments=arguments, session_id=self._session)
        text = plain(out["content"][0]["text"])
        if out.get("isError"):
            raise ValueError(text)
        if "observation" in (seen := out["structuredContent"]):
            self._total += seen["reward"] or 0.0
            self._done = seen["done"]
        return text

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        return _ask(self._url, self._headers, self._timeout, method, params)


def _close(url: str, headers: dict[str, str], state: dict[str, Any]) -> None:
    """End the session of an environment, if it has one and the server still has it."""
    if session := state.get("_session"):
        state["_session"] = None
        with suppress(BlockyardError):
            _ask(url, headers, 5.0, "openenv/session/close", {"session_id": session})


def _ask(url: str, headers: dict[str, str], timeout: float, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send a request of JSON-RPC, and return its result."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    try:
        with urlopen(Request(url, body, headers), timeout=timeout) as answer:
            out = json.load(answer)
    except HTTPError as error:
        detail = error.read().decode(errors="replace")
        raise BlockyardError(f"{url}: HTTP {error.code}: {detail[:500]}") from None
    except (OSError, ValueError) as error:
        how = "start one with: blockyard serve --openenv HOST:PORT --game GAME"
        raise BlockyardError(f"{url}: no answer of a server: {error}; {how}") from error
    if "error" in out:
        raise BlockyardError(f"{url}: {out['error']['message']}")
    result: dict[str, Any] = out["result"]
    return result
