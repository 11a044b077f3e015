"""Pictures of every game in every mode; displaying an environment never fails."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from conftest import GAME, begun

import blockyard
from blockyard.rendering.svg import Svg
from blockyard.transport.progress import bar

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_every_game_in_every_way(server, game):
    with begun(game, 2, address=server.unix, seed=3) as env:
        env.rollout(9, keep="last")
        pixels = env.picture(1, "rgb_array")
        height, width, depth = pixels.shape
        assert (pixels.dtype, depth) == (np.uint8, 3)
        assert height % 16 == width % 16 == 0, "whole cells, and margins of a cell"
        assert pixels.flags.writeable
        # At least the sheet, the board, its empty cells, and the cells of two seats, each with a square.
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) >= 7
        assert "\x1b[" in env.picture(1, "ansi")
        shown = env.picture(1, "svg")
        root = ET.fromstring(shown)
        assert f"{game} · game 1" in [e.text for e in root.iter(f"{SVG}text")]
        assert env.picture(1, "svg") == shown


@pytest.mark.parametrize(
    "text",
    [
        "<svg><script>alert(1)</script></svg>",
        '<svg onload="alert(1)"></svg>',
        "<svg><foreignObject></foreignObject></svg>",
        '<svg><text x="1><img src=x onerror=alert(1)>"></text></svg>',
        '<svg><rect a=">" onload="alert(1)"/></svg>',
        '<svg style="background:url(http://x)"></svg>',
        "<svg/onload=alert(1)>",
        "<!DOCTYPE svg><svg></svg>",
        "<svg><img src=x onerror=alert(1) ",
    ],
)
def test_a_server_puts_no_code_into_a_notebook(server, monkeypatch, text):
    with begun(GAME, 1, address=server.unix) as env:
        shown = env.picture(0, "svg")
        assert Svg.from_server(shown) == shown
        monkeypatch.setattr(env.engine, "call", lambda *given: text)
        with pytest.raises(blockyard.ProtocolError, match="the picture has '<"):
            env.picture(0, "svg")
        assert env._repr_svg_() is None
        assert "alert" not in env._repr_html_()
        monkeypatch.undo()


def test_pictures_of_one_page_share_no_names(server):
    with begun(GAME, 2, address=server.unix, seed=1) as env:
        page = env._repr_html_()
    names = re.findall(r'<pattern id="([\w-]+)"', page)
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
    with begun(GAME, 2, address=server.unix) as env:
        env.rollout(20)
    assert screen.text == ""
