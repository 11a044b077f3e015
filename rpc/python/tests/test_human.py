"""``render_mode="human"`` displays every position, at its pace in a terminal, as plain text in a file."""

from __future__ import annotations

import io
import sys
import time
import types

import gymnasium as gym
import numpy as np
import pytest
from conftest import GAME, begun

import blockyard
from blockyard.rendering.human import HOME, Display


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_gymnasium_make_shows_every_position(server, capsys, closing):
    env = closing(gym.make(f"blockyard/{GAME}", address=server.unix, render_mode="human"))
    plain = closing(blockyard.make(GAME, address=server.unix, render_mode=None))
    want = []
    _, infos = env.reset(seed=3)
    plain.reset(seed=3)
    want.append(plain.vector.picture(0, "text"))
    for _ in range(4):
        action = int(np.flatnonzero(infos["action_mask"])[0])
        *_, infos = env.step(action)
        plain.step(action)
        want.append(plain.vector.picture(0, "text"))
    assert env.render() is None
    shown = capsys.readouterr().out
    assert shown == "".join(text + "\n" for text in want)
    assert "\x1b" not in shown
    assert len(set(want)) == 5


def test_the_vector_environment_shows_its_first_game(server, capsys):
    with begun(GAME, 3, address=server.unix, render_mode="human", seed=2) as env:
        env.step(env.sample_actions(np.random.default_rng(0)))
        last = env.picture(0, "text")
        assert env.picture(0) == env.picture(0, "ansi")
        env.step_async(env.sample_actions(np.random.default_rng(0)))
        env.step_wait()
        assert env.render() is None
        parts = capsys.readouterr().out
        assert last in parts
        assert parts.endswith(env.picture(0, "text") + "\n")


def test_a_terminal_gets_colours_and_a_pace(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    display, begun = Display(fps=20), time.monotonic()
    for _ in range(5):
        display.show(lambda mode: mode)
    assert time.monotonic() - begun >= 4 / 20
    assert terminal.getvalue() == 5 * (HOME + "ansi")
    monkeypatch.setenv("NO_COLOR", "1")
    display.show(lambda mode: mode)
    assert terminal.getvalue().endswith(HOME + "text")


def test_a_notebook_gets_a_picture(monkeypatch):
    shown = []
    display = types.SimpleNamespace(
        clear_output=lambda wait: shown.append(f"clear wait={wait}"),
        display=shown.append,
        HTML=lambda text: f"html {text}",
    )
    package = types.ModuleType("IPython")
    package.display = display
    package.get_ipython = lambda: types.SimpleNamespace(kernel="this process")
    monkeypatch.setitem(sys.modules, "IPython", package)
    Display(fps=1000).show(lambda mode: mode)
    assert shown == ["clear wait=True", "html svg"]


def test_other_modes_are_refused(server):
    with pytest.raises(ValueError, match=r"render_mode 'humam': want None or one of \['ansi', 'rgb_array', 'human'\]"):
        blockyard.make_vec(GAME, 1, address=server.unix, render_mode="humam")
