"""The journal of games that heal forgets what checkpoints make unnecessary, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from blockyard.transport.journal import Again, Journal, Steps
from blockyard.transport.over_socket import SocketTransport


class Part:
    """Notes what a server would be asked for."""

    client = SimpleNamespace(limits={})
    resume = SocketTransport.resume

    def __init__(self):
        self.calls = []

    def memory(self):
        return None

    def show(self, memory, method, ids, head, games, options):
        self.calls.append((method, np.frombuffer(ids, "<u4").tolist(), games))

    def call(self, method, *params):
        dtypes = ("<u4", "<u4", "<u2", "<u2")
        self.calls.append((method, *(np.frombuffer(p, t).tolist() for p, t in zip(params, dtypes, strict=False))))


def step(journal, games, actions):
    ids = np.array(games, "<u4")
    journal.add(Steps(ids, np.array(actions, "<u2").reshape(-1, 1), np.zeros((len(ids), 0), np.uint16)))


def save(journal, *games):
    journal.saved(np.array(games, "<u4"), b"head", [b"%d" % g for g in games], ["w"], b"")


def again(journal):
    part = Part()
    steps = journal.rebuild(part)
    assert part.calls.pop(0) == ("resume", [0, 1, 2], b"012")
    return part.calls, steps


def test_single_games_are_forgotten():
    journal = Journal(3)
    save(journal, 0, 1, 2)
    step(journal, [2, 0], [20, 0])
    step(journal, [1, 2], [10, 21])
    assert again(journal) == ([("replay", [0, 1, 2], [1, 1, 2], [0, 10, 20, 21], [])], 2)
    save(journal, 2)
    step(journal, [2], [22])
    assert journal.lengths.tolist() == [1, 1, 1]
    assert again(journal) == ([("replay", [0, 1, 2], [1, 1, 1], [0, 10, 22], [])], 1)
    save(journal, 0, 1)
    save(journal, 2)
    assert again(journal) == ([], 0)
    assert not journal._entries


def test_requests_stay_until_all_games_are_saved():
    """They stay in their place, for the games that were not saved since."""
    journal = Journal(3)
    save(journal, 0, 1, 2)
    step(journal, [0, 2], [1, 2])
    journal.add(Again(np.arange(3, dtype="<u4"), lambda part, games: part.call("set_opponents", games.tobytes())))
    step(journal, [0, 2], [3, 4])
    save(journal, 2)
    want = [
        ("replay", [0, 1, 2], [1, 0, 0], [1], []),
        ("set_opponents", [0, 1]),
        ("replay", [0, 1, 2], [1, 0, 0], [3], []),
    ]
    assert again(journal) == (want, 3)
    save(journal, 0, 1)
    assert again(journal) == ([], 0)


def test_it_does_not_grow():
    """As games are saved in turn, and never all of them together."""
    journal, rng = Journal(3), np.random.default_rng(0)
    save(journal, 0, 1, 2)
    for _ in range(300):
        step(journal, rng.permutation(3)[:2], [1, 2])
        if (due := journal.lengths >= 8).any():
            save(journal, *np.flatnonzero(due).tolist())
        assert sum(len(e.games) for e in journal._entries) == journal.lengths.sum() <= 3 * 8
