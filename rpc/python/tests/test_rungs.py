"""Opponents between random and the baseline."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import advance, begun

import blockyard
from blockyard.formats import opponents as module

TABLE = json.loads(Path(module.__file__).with_name("rungs.json").read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[1] / "docs/leagues.md"


def test_each_is_stronger_than_the_one_before():
    for env_id, found in TABLE["rungs"].items():
        elo = [rung["value"] for rung in found]
        assert len(elo) == 10
        assert all(b - a > 50 for a, b in zip([0, *elo], elo, strict=False)), env_id


def test_the_page_shows_the_table():
    text = PAGE.read_text(encoding="utf-8")
    shown = [line.split("|")[1:-1] for line in text.splitlines() if re.match(r"\| \d+ \| `hand", line)]
    columns = [[(rung["agent"], f"{rung['value']:+d}") for rung in found] for found in TABLE["rungs"].values()]
    rows = enumerate(zip(*columns, strict=True), 1)
    want = [[str(n), *(f"`{agent}` {elo}" for agent, elo in row)] for n, row in rows]
    assert [[cell.strip() for cell in row] for row in shown] == want
    assert f"--games {TABLE['games']} --seed {TABLE['seed']}" in text


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0"])
def test_they_play(game):
    with begun(game, num_envs=20, opponents=dict.fromkeys(blockyard.rungs(game), 1), seed=1) as env:
        advance(env, 20, 0)


def test_the_weakest_loses_to_the_strongest():
    found = blockyard.rungs("BlockBattle-v0")
    assert blockyard.evaluate(found[-1], found[0], game="BlockBattle-v0", games=40, seed=5).score > 0.9


@pytest.mark.parametrize(("game", "agent"), [("BlockBattle-v0", "terms6"), ("Blocking-v0", "greedy")])
def test_where_other_agents_stand(game, agent):
    """The README says: above the fifth rung, and below the baseline of one ply."""
    rung, baseline = (blockyard.rungs(game)[k] for k in (4, -1))
    above, below = blockyard.evaluate(f"{agent}:ply=1", [rung, baseline], game=game, games=40, seed=6)
    assert (above.low > 0.5, below.high < 0.5) == (True, True), (above, below)
    readme = re.sub(r"\s+", " ", (PAGE.parents[1] / "README.md").read_text(encoding="utf-8"))
    assert "`terms6` and `greedy` evaluate positions by a few terms: with `ply=1` they are above the fifth of" in readme


@pytest.mark.parametrize("game", ["WinTetris-v0", "chess"])
def test_games_without_are_refused(game):
    with pytest.raises(ValueError, match="no rungs for"):
        blockyard.rungs(game)
    for name in ("blocking:4", "blockyard/Blocking-v0"):
        assert blockyard.rungs(name) == blockyard.rungs("Blocking-v0")
