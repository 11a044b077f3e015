"""What TRL does with an environment of ``environment_factory``, without TRL: tools by docstrings, and a reward."""

from __future__ import annotations

import gc
import inspect
import json
import random
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import blockyard
from blockyard.trl import GameEnvironment


@contextmanager
def serving(program: Path, *flags: str) -> Iterator[str]:
    command = [program, "serve", "--openenv", "127.0.0.1:0", "--opponents", "random", *flags, "--parent-death"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["openenv"]
        server.terminate()


def test_tools_are_described():
    """Public methods but reset and get_reward are tools, each with a sentence, its arguments and their types."""
    functions = dict(inspect.getmembers(GameEnvironment, inspect.isfunction))
    tools = {name for name in functions if not name.startswith("_")} - {"reset", "get_reward"}
    assert tools == {"play", "legal_moves", "rules"}
    for name in tools:
        says = inspect.getdoc(functions[name])
        assert says
        for argument, parameter in list(inspect.signature(functions[name]).parameters.items())[1:]:
            assert parameter.annotation in ("str", str)
            assert re.search(rf"^    {argument}: \w", says, re.M)


@pytest.mark.parametrize("legal", ["show", "hide"])
def test_a_game_is_played_by_tools(program: Path, legal: str):
    """One seed is one game; the reward is that of the episode, and to stop early is no better than to lose."""
    with serving(program, "--game", "BlockBattle-v0", "--legal-moves", legal) as url:
        envs = [partial(GameEnvironment, url, unfinished=-2.0)() for _ in range(3)]
        first = [env.reset(seed=7, prompt="ignored") for env in envs]
        assert len(set(first)) == 1
        assert ("legal moves, such as" in first[0]) == (legal == "show")
        assert envs[0].get_reward() == -2.0
        assert "You play BlockBattle-v0" in envs[0].rules()
        assert envs[0].play("nonsense").startswith("Not played")
        assert envs[0].get_reward() == pytest.approx(-2.1)
        rng, text = random.Random(1), ""
        for _ in range(1000):
            moves = envs[1].legal_moves().split("\n")
            text = envs[1].play(rng.choice(moves))
            if "The game is over" in text:
                break
        assert envs[1].get_reward() in (-1.0, 0.0, 1.0)
        with pytest.raises(ValueError, match="the episode is over"):
            envs[1].play("r0 x0 y0")
        assert envs[2].reset(seed=8) != first[0]
        with urllib.request.urlopen(f"{url}/health") as health:
            assert health.status == 200
        del envs
        gc.collect()


def test_sessions_end_and_errors_say_what_to_do(program: Path):
    """A session ends with its environment; a full server, a missing tool and a missing server are errors."""
    with serving(
        program, "--game", "WinTetris-v0", "--opponents=hand", "--max-sessions", "1", "--openenv-tools=observe"
    ) as url:
        env = GameEnvironment(url)
        for _ in range(3):
            env.reset()
        with pytest.raises(blockyard.BlockyardError, match='no tool "play"'):
            env.play("r0 x0")
        with pytest.raises(blockyard.BlockyardError, match="max_sessions"):
            GameEnvironment(url).reset()
        del env
        gc.collect()
        GameEnvironment(url).reset()
    with pytest.raises(blockyard.BlockyardError, match=r"no answer of a server.*blockyard serve --openenv"):
        GameEnvironment(url, timeout=5).reset()
