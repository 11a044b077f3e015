"""What evaluate says of a policy is what the arena says of the same policy."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
import torch
from conftest import first

import blockyard
from blockyard.evaluation import evaluate as evaluation
from blockyard.evaluation.standings import Game, Ladder, TwoPlayerEvaluation, report


@pytest.fixture(scope="module")
def arena(program):
    """Return what runs ``agents arena`` with these arguments and returns its output."""

    def run(*args: object) -> str:
        command = [str(a) for a in (program, "agents", "arena", *args, "--seed", 5, "--quiet")]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()

    return run


# first against a policy of equal strength, in every number of seats: the seed of a game and its seats decide who wins
@pytest.mark.parametrize(
    ("game", "opponent", "games", "seats"),
    [
        ("blockbattle", "first", 40, 2),
        ("blockbattle", "terms6:ply=1", 20, 2),
        ("tetrisduel", "first", 40, 2),
        ("blocking", "first", 40, 2),
        ("blocking", "greedy:ply=1", 30, 3),
        ("blocking", "first", 40, 4),
    ],
)
def test_policy_in_python(server, arena, game, opponent, games, seats):
    got = blockyard.evaluate(first, opponent, game=game, games=games, seed=5, seats=seats, address=server.unix)
    said = arena(game, "--a", "first", "--b", opponent, "--games", games, "--seats", seats)
    assert str(got) == repr(got) == re.sub("; the same game twice in [0-9]+", "", said)


def test_games_are_distinct(server):
    """A pair that repeats another one move for move is no other sample: one pair is left, and the report says so."""
    games = [Game((1, -1), (5, 3), 7, True, mark) for mark in (11, 12)]
    with blockyard.connect(server.unix) as client:
        same = report(TwoPlayerEvaluation, client, "blocking", ["a", "b"], 1, [games] * 10)
        other = [g._replace(print=13) for g in games]
        two = report(TwoPlayerEvaluation, client, "blocking", ["a", "b"], 1, [games, other, games])
        between = np.array([(0, 1), (0, 1), (0, 2)], "<u2").tobytes()
        ladder = report(Ladder, client, "blocking", ["a", "b", "c"], 1, [games] * 3, between=between)
    assert (same.games, sum(same.pairs), same.low, same.high) == (2, 1, 0, 1)
    assert "18 more games repeat one of them move for move, and do not count" in str(same)
    assert (two.games, sum(two.pairs)) == (4, 2)
    assert (ladder.games, [m[2:] for m in ladder.meetings]) == (4, [(1, 0, 1), (1, 0, 1)])
    assert "2 more games repeat one of them" in str(ladder)


def test_what_is_drawn_tells_games_apart(server):
    """Also where both policies play the first legal action: nothing but the seed differs."""
    for game in ("BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0"):
        got = blockyard.evaluate("first", first, game=game, games=20, address=server.unix)
        assert got.games == 20, game


@pytest.mark.parametrize(
    ("game", "policy", "limit"),
    [
        ("dropblox", first, {}),
        ("wintetris", "hand", {"cap": 50}),
        ("wintetris", "hand", {"steps": 80}),
        ("wintetris:tick", first, {}),
    ],
)
def test_alone(server, arena, game, policy, limit):
    got = blockyard.evaluate(policy, game=game, games=30, seed=5, address=server.unix, **limit)
    flags = [f"--{key}={value}" for key, value in limit.items()]
    name = policy if isinstance(policy, str) else "first"
    assert str(got) == arena(game, "--a", name, "--games", 30, *flags)
    assert got.as_dict()["games"] == 30
    assert (got.stopped > 0) == bool(limit)
    assert got.ended + got.stopped == 30


@pytest.mark.parametrize(("game", "games"), [("blockbattle", 30), ("tetrisduel", 60), ("blocking", 30)])
def test_policy_of_the_server(server, arena, game, games):
    """A policy by its spec, with a score that is neither 0 nor 1; the interval may end at 1."""
    got = blockyard.evaluate("learned:ply=1", "hand:ply=1", game=game, games=games, seed=5, address=server.unix)
    assert str(got) == arena(game, "--a", "learned:ply=1", "--b", "hand:ply=1", "--games", games)
    assert 0 < got.low < got.score < got.high <= 1
    assert got.elo_low < got.elo < got.elo_high


@pytest.mark.parametrize(("game", "seats"), [("TetrisDuel-v0", 2), ("Blocking-v0", 3), ("Dropblox-v0", 1)])
def test_number_of_games_at_once_changes_nothing(server, game, seats):
    """Also with random opponents, which draw from the seed of each game."""
    how = {"game": game, "games": 24, "seats": seats, "address": server.unix}
    whole = blockyard.evaluate(first, **how)
    for num_envs in (1, 5):
        assert blockyard.evaluate(first, **how, num_envs=num_envs) == whole
    assert blockyard.evaluate(first, **how, packed=True) == whole
    assert blockyard.evaluate(first, **how, seed=2) != whole


def test_on_the_server_of_an_environment(server):
    with blockyard.make_vec("Blocking-v0", 2, seats=3, packed=True, address=server.unix, seed=1) as env:
        seen = set()

        def policy(obs, mask):
            seen.update(obs)
            assert len(obs["bits"]) == len(mask) == 4
            return first(obs, mask)

        env.reset()
        before = env.snapshot()
        got = blockyard.evaluate(policy, game=env, games=12)
        assert (got.seats, got.sets, got.a, got.b) == (3, 4, "policy", "random")
        np.testing.assert_array_equal(env.snapshot(), before)
    assert seen == {"bits", "globals"}
    with blockyard.make("BlockBattle-v0", address=server.unix) as env:
        single = blockyard.evaluate("first", game=env, games=2)
        assert single == blockyard.evaluate("first", game=env.vector, games=2)
        assert len(blockyard.ladder({"a": "first", "b": "random"}, game=env, games=2).players) == 2
    with pytest.raises(TypeError, match="want the id of a game or an environment"):
        blockyard.evaluate("first", game=None)


class Remembering:
    """A policy that counts its actions in each row."""

    def reset(self, begun):
        if not hasattr(self, "count"):
            self.count = np.zeros(len(begun), int)
            self.ends = []
        self.ends += self.count[begun & (self.count > 0)].tolist()
        self.count[begun] = 0

    def __call__(self, obs, mask):
        assert mask.any(1).all()
        self.count += 1
        return first(obs, mask)


def test_policy_with_a_memory(server):
    policy = Remembering()
    got = blockyard.evaluate(policy, game="Dropblox-v0", games=20, num_envs=6, address=server.unix)
    assert got.a == "Remembering"
    policy.reset(np.ones(6, bool))
    assert sum(sorted(policy.ends)) >= got.choices  # those of games that are played on to the end are no choices
    assert got.ended == 20


def test_progress(server, monkeypatch):
    seen = []

    class Bar:
        def __init__(self, what, total, unit):
            seen.append((what, total, unit))

        def __enter__(self):
            return lambda n: seen.append(n)

        def __exit__(self, *exc):
            return None

    monkeypatch.setattr(evaluation, "bar", Bar)
    blockyard.evaluate(first, game="TetrisDuel-v0", games=10, address=server.unix)
    assert seen == [("evaluating", 10, "games"), *[1] * 10]


def test_torch(server):
    def policy(obs, mask):
        scores = torch.as_tensor(mask).float() * torch.arange(mask.shape[1], 0, -1)
        return scores.requires_grad_().argmax(1)

    how = {"game": "TetrisDuel-v0", "games": 10, "address": server.unix}
    assert blockyard.evaluate(policy, **how, name="first") == blockyard.evaluate(first, **how)
    assert blockyard.evaluate(lambda obs, mask: first(obs, mask), **how).a == "policy"


@pytest.mark.parametrize(
    ("policy", "how", "error", "says"),
    [
        (
            lambda o, m: m.argmin(1),
            {},
            ValueError,
            r"policy: it returned action 0 in row 0, .* among the \d+ actions for",
        ),
        (lambda o, m: m.argmax(1) - 1000, {}, ValueError, r"returned action -\d+ in row 0, which is not legal"),
        (lambda o, m: 0, {}, ValueError, r"returned int64 \(\), want one integer per row, \(5,\)"),
        (lambda o, m: m.argmax(1) * 1.0, {}, ValueError, r"returned float64 \(5,\)"),
        (7, {}, TypeError, r"policy: want a callable policy\(obs, mask\) or a spec"),
        ("nobody", {}, blockyard.RequestError, 'unknown agent "nobody"'),
        (first, {"opponents": "nobody"}, blockyard.RequestError, 'unknown agent "nobody"'),
        (first, {"opponents": {1: "hand"}}, TypeError, "want specs such as"),
        (first, {"games": 11}, ValueError, "games: 11, but games come in pairs"),
        (first, {"games": 11, "game": "Blocking-v0", "seats": 4}, ValueError, "games come in sets of 4"),
        (first, {"games": 0}, ValueError, "games: want at least 1"),
        (first, {"game": "Chess-v0"}, blockyard.UnknownGameError, "Chess"),
        (first, {"cap": 5}, ValueError, "games of one seat, tetrisduel is played by 2"),
        (first, {"cap": 0, "game": "Dropblox-v0"}, ValueError, "cap: want at least 1"),
        (first, {"seats": 5}, ValueError, "seats"),
        (first, {"seed": -1}, ValueError, "seed"),
    ],
)
def test_refuses(server, policy, how, error, says):
    arguments = {"game": "TetrisDuel-v0", "games": 10, "address": server.unix} | how
    with pytest.raises(error, match=says):
        blockyard.evaluate(policy, **arguments)


def test_seeds():
    """Against what env.Derive of the server and of the arena returns."""
    seeds = [evaluation.derive_seed(seed, i) for seed, i in ((1, 0), (5, 3), (2**64 - 1, 2**40))]
    assert seeds == [10036363693062598137, 10475882881754336134, 2363930870545323503]
