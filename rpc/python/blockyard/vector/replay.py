"""Recorded games in notebooks."""

import html
import json
import operator
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import RequestError, plain
from ..transport.server import find_server
from .recording import Recording


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
    record: str | os.PathLike[str] | Recording | Mapping[str, Any], game: int = 0, *, height: int = 640
) -> GameView:
    """Show a recorded game in a notebook: ``blockyard.view("games.jsonl.gz")``.

    It needs no server: ``blockyard view --html`` of the program in this package replays the game.

    Args:
        record: a file of recorded games, plain or compressed with gzip; a recording, such as ``env.recording``; or one
            record as a dict, as ``json`` reads it.
        game: index of the game in its file, from 0; negative numbers count from the end.
        height: of the player in pixels.

    Returns:
        What the notebook displays; ``save("game.html")`` writes it to a file.

    Raises:
        FileNotFoundError: there is no such file.
        IndexError: the file has fewer games.
        TypeError, ValueError: an argument is malformed.
        RequestError: the file is damaged, or the game cannot be replayed; the message says why.
    """
    if isinstance(record, Recording):
        if record.state == "recording":
            record.flush()
        record = record.path
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "game.html")
        if isinstance(record, Mapping):
            path, game, name = Path(folder, "games.jsonl"), 0, str(record.get("game"))
            path.write_text(json.dumps(dict(record)) + "\n")
        elif isinstance(record, (str, os.PathLike)):
            path, name = Path(os.fspath(record)), ""
        else:
            raise TypeError(f"record: want a path, a Recording or a dict, got {type(record).__name__}")
        path.stat()  # raises FileNotFoundError
        number = operator.index(game) + (game >= 0)
        command = [str(find_server()), "view", "--html", str(page), f"{path.absolute()}#{number}"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            raise (IndexError if " has no game " in done.stderr else RequestError)(plain(done.stderr.strip()))
        shown = json.loads(done.stdout)
        name = name or f"{path.name}#{shown['number']}"
        return GameView(shown["game"], tuple(shown["agents"]), name, page.read_text("utf-8"), operator.index(height))
