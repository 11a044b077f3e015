"""Recorded games in notebooks."""

import html
import json
import operator
import os
from collections import deque
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from ..formats.records import games_of
from ..transport.address import Tls
from ..transport.session import Session
from .recording import Recording

_NAME = 200  # bytes of a name on the server


class GameView:
    """A recorded game with a player: boards, pieces, scores, a slider and keys. Notebooks display it.

    Attributes:
        game: name of the game, such as ``"blockbattle"``.
        agents: who played, by seat.
        name: where the game is from.
        html: the player as one HTML document, which loads nothing and needs no server.
        height: of the player in a notebook, in pixels.
    """

    def __init__(self, game: str, agents: tuple[str, ...], name: str, page: str, height: int) -> None:
        self.game, self.agents, self.name, self.html, self.height = game, agents, name, page, height

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the player to a file, which any browser opens."""
        Path(os.fspath(path)).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return a frame with the document. The frame may run its scripts, and has no access to the notebook."""
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.name)}" srcdoc="{html.escape(self.html)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8884;border-radius:10px"></iframe>'
        )

    def __repr__(self) -> str:
        who = " against ".join(self.agents)
        return f"GameView({self.name!r}: {self.game}, {who}; a notebook displays it, save(path) writes it to a file)"


def view(
    record: str | os.PathLike[str] | Recording | Mapping[str, Any],
    game: int = 0,
    *,
    height: int = 640,
    client: Session | None = None,
    address: str | None = None,
    token: str | None = None,
    tls: Tls = None,
    timeout: float = 30.0,
) -> GameView:
    """Show a recorded game in a notebook: ``blockyard.view("games.jsonl.gz")``.

    The server replays the game; by default a local one, which is started for that.

    Args:
        record: a file of recorded games, plain or compressed with gzip; a recording, such as ``env.recording``; or one
            record as a dict, as ``json`` reads it.
        game: index of the game in its file, from 0; negative numbers count from the end.
        height: of the player in pixels.
        client: a session to use.
        address, token, tls, timeout: of the server to use, as in :func:`blockyard.make_vec`.

    Returns:
        What the notebook displays; ``save("game.html")`` writes it to a file.

    Raises:
        FileNotFoundError: there is no such file.
        IndexError: the file has fewer games.
        TypeError, ValueError: the file is damaged, or an argument is malformed.
        RequestError: the game cannot be replayed; the message says why.
    """
    if isinstance(record, Recording):
        if record.state == "recording":
            record.flush()
        record = record.path
    if isinstance(record, Mapping):
        lines, name = json.dumps(dict(record)).encode() + b"\n", str(record.get("game", "game"))
    elif isinstance(record, (str, os.PathLike)):
        lines, name = _game_in(Path(os.fspath(record)), operator.index(game))
    else:
        raise TypeError(f"record: want a path, a Recording or a dict, got {type(record).__name__}")
    kept: AbstractContextManager[Session] | None = client and nullcontext(client)
    with kept or Session(address, token=token, tls=tls, timeout=timeout) as session:
        answer = session.connection.call("view", lines, {"name": name})
    return GameView(answer["game"], tuple(answer["agents"]), name, answer["page"].decode(), operator.index(height))


def _game_in(path: Path, index: int) -> tuple[bytes, str]:
    """Return the lines of a game of a file, and its name: file#n, counted from 1 as ``datasets view`` does."""
    numbered = enumerate(games_of(path), 1)
    kept = deque(numbered if index < 0 else islice(numbered, index + 1), max(1, -index))
    count = kept[-1][0] if kept else 0
    if count <= index or len(kept) < -index:
        raise IndexError(f"game {index}: {path} has {count} games")
    number, lines = kept[0] if index < 0 else kept[-1]
    return lines, f"{path.name[-_NAME // 4 :]}#{number}"
