"""Text of servers, records and files reaches a terminal only as text."""

from __future__ import annotations

import contextlib
import io
import re
import unicodedata
from typing import Any

import pytest
from conftest import GAME

import blockyard
from blockyard import commands, errors
from blockyard.errors import plain
from blockyard.rendering.human import HOME, Display
from blockyard.vector.batch import warn_user

# As env/envtest has them for Go.
HOSTILE = {
    "colour": "\x1b[31mred",
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;title\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\bank\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "answer": '\x1b[6n\x1b[c\x1bP$q"p\x1b\\',
    "C1": "\x9b31m\x9d0;title\x9c\x85",
    "return": "good\rbad",
    "backspace": "bad\b\b\bgood\x7f",
    "bell": "\a\x0e\x0f\v\f",
    "bidi": "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u061c",
    "invisible": "a\u200bb\ufeffc\u00add\u2060e",
    "tags": "x\U000e0041\U000e007f",
    "separators": "a\u2028b\u2029c",
    "surrogates": "\ud800x\udcff",
    "zero": "a\x00b",
}


def harmless(shown: str) -> bool:
    return all(c in "\n\t" or c.isprintable() or unicodedata.category(c) == "Zs" for c in shown)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts(text, capsys, monkeypatch):
    assert harmless(plain(text))
    assert harmless(re.sub(r"\x1b\[[0-9;]*m", "", plain(text, colours=True)))
    wire = errors.from_wire({"code": 301, "name": "bad_params", "msg": text, "data": {}}, "open")
    assert isinstance(wire, blockyard.RequestError)
    for error in (wire, blockyard.ServerStartError(f"its log ends:\n{text}")):
        assert harmless(str(error))
    with pytest.warns(RuntimeWarning) as warned:
        warn_user(text)
    assert harmless(str(warned[0].message))

    def fail(args: Any) -> int:
        raise ValueError(text)

    monkeypatch.setattr(commands.games, "run", fail)
    assert commands.main(["games"]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("blockyard: ")
    assert harmless(said.out + said.err)


def test_readable_texts():
    text = "Größe 10\u00a0% → 你好, مرحبا, e\u0301, 🎲\tx\n"
    assert plain(text) == plain(text, colours=True) == text
    assert plain("\x1b[7;38;5;201mT\x1b[0m", colours=True) == "\x1b[7;38;5;201mT\x1b[0m"
    assert plain("\x1b[1mb") == "\\x1b[1mb"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_pictures_of_a_hostile_server(server, text, monkeypatch):
    shown = io.StringIO()
    shown.isatty = lambda: True
    with blockyard.make_vec(GAME, 1, address=server.unix) as env:
        monkeypatch.setattr(env.engine, "call", lambda *given: text)
        monkeypatch.setattr(env.engine, "pages", lambda *given: [{"texts": [text]}])
        with contextlib.redirect_stdout(shown):
            Display(1000).show(lambda mode: env.picture(0, mode))
        for picture in (env.picture(0, "text"), *env.observation_texts()):
            assert harmless(picture)
        monkeypatch.undo()
    assert shown.getvalue().startswith(HOME)
    assert harmless(re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue().removeprefix(HOME)))


def test_games_of_a_hostile_server(server, capsys, monkeypatch):
    everything = "".join(HOSTILE.values())
    with blockyard.connect(server.unix) as client:
        monkeypatch.setattr(client, "text", lambda *given: [everything])
        monkeypatch.setattr(client, "server", everything)
        monkeypatch.setattr(commands.games, "connect", lambda **given: client)
        assert commands.main(["games"]) == 0
    assert harmless(capsys.readouterr().out)
