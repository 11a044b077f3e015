"""Matches and ratings of policies: the numbers of the arena and of the ladder."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from conftest import Server, first, last

import blockyard


@pytest.mark.parametrize("game", ["blockbattle", "tetrisduel", "blocking"])
def test_the_ladder_of_the_program(server: Server, program, tmp_path, game):
    """The same games, the same ratings, the same table: a policy, agents and weights."""
    facts, rng = blockyard.feature_facts(game, address=server.unix), np.random.default_rng(0)
    path = tmp_path / "w.safetensors"
    blockyard.save_weights(path, [(rng.normal(size=(1, len(facts))), np.zeros(1))], facts)
    weights = f"learned:ply=1,weights={path}"
    agents = ["first", "hand:ply=1", weights]
    command = [program, "agents", "ladder", game, *agents, "--games", "8", "--seed", "3", "--out", tmp_path / "l"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    players = {"first": first, "hand:ply=1": "hand:ply=1", weights: path}
    got = blockyard.ladder(players, game=game, games=8, seed=3, address=server.unix)
    assert str(got) == said
    report = json.loads((tmp_path / "l" / "ladder.json").read_text())
    for mine, theirs in zip(got.players, report["players"], strict=True):
        assert (mine.name, mine.games, mine.score) == (theirs["name"], theirs["games"], theirs["score"])
        np.testing.assert_allclose(mine.elo, [theirs["elo"][k] for k in ("value", "low", "high")], atol=1e-6)
    assert [m[:2] for m in got.meetings] == [(m["a"], m["b"]) for m in report["meetings"]]
    assert got.as_dict()["players"][0]["name"] == got.players[0].name
    with pytest.raises(TypeError, match=r"want a dict such as .*, got \['first', 'hand'\]"):
        blockyard.ladder(["first", "hand"], game=game, address=server.unix)
    with pytest.raises(ValueError, match="even number"):
        blockyard.ladder(players, game=game, games=3, address=server.unix)
    with pytest.raises(ValueError, match="no game of two seats"):
        blockyard.ladder(players, game="WinTetris-v0", address=server.unix)


@pytest.mark.parametrize(("game", "seats"), [("BlockBattle-v0", 2), ("TetrisDuel-v0", 2), ("Blocking-v0", 3)])
def test_opponents_that_are_policies(server: Server, game, seats):
    """A policy against a policy is what it is against the same agent of the server, whoever is driven."""
    how = {"game": game, "games": 12, "seats": seats, "address": server.unix, "seed": 4}
    want = blockyard.evaluate(first, "random", **how, name="a")
    assert blockyard.evaluate(last, first, **how, name="a") == blockyard.evaluate(last, "first", **how, name="a")
    other = "hand:ply=1"
    assert blockyard.evaluate(other, first, **how) == blockyard.evaluate(other, "first", **how)
    assert blockyard.evaluate(first, ["random", last], **how, name="a")[0] == want
    mixed = blockyard.evaluate(first, {"random": 1, last: 1}, **how)
    assert mixed.b == "1 random + 1 last"
    assert mixed == blockyard.evaluate(first, {"random": 1, last: 1}, **how)
    with pytest.raises(TypeError, match="a list instead of a mixture"):
        blockyard.evaluate("random", {last: 1}, **how)


def test_picture(server: Server):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    got = blockyard.ladder({"a": first, "b": last}, game="BlockBattle-v0", games=4, address=server.unix)
    assert [label.get_text() for label in got.plot().get_yticklabels()] == [p.name for p in got.players]
