"""Pictures of every game in every mode; displaying an environment never fails."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from conftest import GAME

import blockyard
from blockyard.rendering.colours import DARK, LIGHT
from blockyard.rendering.frames import Frame
from blockyard.rendering.rgb import CELL, GAP, rgb
from blockyard.rendering.svg import svg
from blockyard.transport.progress import bar

SVG = "{http://www.w3.org/2000/svg}"


def colours(text):
    return [e.get("fill") for e in ET.fromstring(text).iter(f"{SVG}path") if e.get("fill", "").startswith("#")]


def frame(rows, ink, name="", notes=(), trays=()):
    """Return a frame of one board, given as rows of glyphs; ink maps glyphs to colours."""
    cells = "".join(rows).encode()
    board = {
        "name": name,
        "w": len(rows[0]),
        "h": len(rows),
        "cells": cells,
        "ink": bytes(ink.get(chr(c), 0) for c in cells),
    }
    return {"boards": [board], "notes": list(notes), "trays": list(trays)}


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_every_game_in_every_way(server, game):
    with blockyard.make_vec(game, 2, address=server.unix, seed=3) as env:
        env.reset()
        env.rollout(9, keep="last")
        pixels = env.picture(1, "rgb_array")
        height, width, depth = pixels.shape
        assert (pixels.dtype, depth) == (np.uint8, 3)
        assert (height - 2 * GAP) % CELL == 0
        assert (width - GAP) % CELL == 0
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 8
        assert "\x1b[" in env.picture(1, "ansi")
        shown = env.picture(1, "svg")
        root = ET.fromstring(shown)
        assert f"{game} · game 1" in [e.text for e in root.iter(f"{SVG}text")]
        assert set(colours(shown)) & {*LIGHT.ink[1:], *LIGHT.seat}
        left, top, right, bottom = map(float, root.get("viewBox").split())
        for e in root.iter(f"{SVG}rect"):
            assert left <= float(e.get("x")) <= float(e.get("x")) + float(e.get("width")) <= right
            assert top <= float(e.get("y")) <= float(e.get("y")) + float(e.get("height")) <= bottom
        assert env.picture(1, "svg") == shown


def test_cells_look_as_what_they_are():
    d = frame(["I..", "i:x", "x#."], {"I": 1, "i": 1, "x": 8, "#": 9})
    seen = Frame.from_wire(d).boards[0]
    kinds = [[seen.kind(x, y) for x in range(3)] for y in range(3)]
    assert kinds == [["played", "empty", "empty"], ["ghost", "hint", "lying"], ["lying", "lying", "empty"]]
    drawn = svg(Frame.from_wire(d), theme=DARK)
    assert colours(drawn).count(DARK.ink[8]) == 2
    assert colours(drawn).count(DARK.ink[1]) == 1
    assert f'fill="{DARK.ink[1]}" fill-opacity=".22"' in drawn
    tiles = rgb(Frame.from_wire(d))[GAP:-GAP, GAP:-GAP].reshape(3, CELL, 3, CELL, 3).transpose(0, 2, 1, 3, 4)
    middle = tiles[:, :, CELL // 2, CELL // 2]
    assert (middle[1, 2] == middle[2, 0]).all()
    assert len({tuple(m) for m in middle.reshape(-1, 3)}) == 6


def test_zones_are_tinted_and_separated():
    d = frame(["rr", ".x", "::", "bb"], {"r": 15, "b": 2, "x": 8})
    board = d["boards"][0]
    board["cells"] = board["cells"].replace(b"r", b".").replace(b"b", b".")
    board["ink"] = bytes([15, 15, 15, 8, 0, 0, 2, 2])
    seen = Frame.from_wire(d).boards[0]
    assert [seen.kind(0, y) for y in range(4)] == ["empty", "empty", "hint", "empty"]
    assert seen.borders == (2, 3)
    drawn = svg(Frame.from_wire(d))
    assert drawn.count(f'fill="{LIGHT.ink[15]}" fill-opacity=".16"') == 3
    assert drawn.count(f'fill="{LIGHT.ink[2]}" fill-opacity=".16"') == 2
    assert drawn.count(f'stroke="{LIGHT.muted}"') == 2
    middle = rgb(Frame.from_wire(d))[GAP + CELL // 2 :: CELL, GAP + CELL // 2][:4]
    red, _, grey, blue = (tuple(int(v) for v in m) for m in middle)
    assert red[0] > red[2]
    assert blue[2] > blue[0]
    assert max(grey) - min(grey) < 16
    untinted = Frame.from_wire(frame([":.", ".x"], {"x": 8})).boards[0]
    assert untinted.borders == ()


def test_a_seats_cells_are_joined():
    piece = {"name": "", "w": 2, "h": 1, "cells": b"11", "ink": b"\x02\x02"}
    d = frame(["00.", ".11"], {"0": 1, "1": 2}, name="board", trays=[{"name": "left", "seat": 1, "pieces": [piece]}])
    f = Frame.from_wire(d)
    assert f.by_seat
    drawn = svg(f)
    assert {LIGHT.seat[0], LIGHT.seat[1]} <= set(colours(drawn))
    assert "seat 1 · left" in drawn
    assert "url(#by" not in drawn.split("</defs>")[1], "cells of seats are flat"


def test_what_comes_next_is_a_tray():
    d = frame(["..."], {})
    d["boards"].append(frame(["....", ".OO.", ".OO."], {"O": 4}, name="next 1")["boards"][0])
    d["boards"].append(frame(["...."], {}, name="next 2")["boards"][0])
    f = Frame.from_wire(d)
    assert len(f.boards) == 1
    assert [(p.w, p.h, p.cells) for p in f.trays[0].pieces] == [(2, 2, b"OOOO")]


def test_texts_are_escaped():
    drawn = svg(Frame.from_wire(frame(["."], {}, notes=['<script>&"  |  more'])), title="<b>")
    assert "<script>" not in drawn
    assert [e.text for e in ET.fromstring(drawn).iter(f"{SVG}text")] == ["<b>", '<script>&"', "more"]


def test_pictures_of_one_page_share_no_names(server):
    with blockyard.make_vec(GAME, 2, address=server.unix, seed=1) as env:
        env.reset()
        page = env._repr_html_()
    names = re.findall(r'id="(\w+)"', page)
    assert len(names) == len(set(names)) == 2


def test_notebooks(server):
    env = blockyard.make_vec(GAME, 6, address=server.unix, seed=1, opponents=None)
    assert "<svg" not in env._repr_html_(), "nothing to show before the first reset"
    assert "6 games · 12 rows" in env._repr_html_()
    assert env._repr_svg_() is None
    env.reset()
    assert env._repr_html_().count("<svg") == 4
    assert "2 more" in env._repr_html_()
    env.step_async(env.action_masks.argmax(1))
    assert "<svg" not in env._repr_html_()
    env.step_wait()
    assert env._repr_svg_() == env.picture(0, "svg")
    env.close()
    assert "<svg" not in env._repr_html_()

    single = blockyard.make(GAME, address=server.unix)
    assert single._repr_svg_() is None
    single.reset(seed=1)
    assert ET.fromstring(single._repr_svg_()).tag == f"{SVG}svg"
    assert single.vector.picture(0, "svg")._repr_svg_().startswith("<svg")
    single.close()
    assert single._repr_svg_() is None


class Screen:
    """A stream that may be a terminal."""

    def __init__(self, terminal):
        self.terminal, self.text = terminal, ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_shows_itself_on_terminals_alone(monkeypatch, terminal):
    screen = Screen(terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("blockyard.transport.progress._DELAY", 0)
    with bar("rollout", 10, "steps") as advance:
        advance(4)
        advance(6)
    with bar("building the server") as advance:
        advance(0)
    assert ("rollout" in screen.text) == terminal
    assert ("building the server" in screen.text) == terminal


def test_progress_of_short_calls_is_silent(monkeypatch, server):
    screen = Screen(True)
    monkeypatch.setattr("sys.stderr", screen)
    with blockyard.make_vec(GAME, 2, address=server.unix) as env:
        env.reset()
        env.rollout(20)
    assert screen.text == ""
