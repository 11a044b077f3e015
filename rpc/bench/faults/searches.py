"""How long a search of the server goes on after its client is gone."""

from __future__ import annotations

import select
import socket
import statistics
import time
from dataclasses import dataclass
from typing import Any

import msgpack

from faults.clients import Plain


@dataclass(frozen=True)
class Search:
    """A rollout whose first step alone takes the server many seconds."""

    game: str
    envs: int
    policy: str


SEARCHES = (
    Search("BlockBattle-v0", 1000, "hand:ply=4,width=10000"),
    Search("TetrisDuel-v0", 1000, "hand:ply=6,width=10000"),
    Search("Blocking-v0", 1000, "learned:ply=6"),
    Search("WinTetris-v0", 20_000, "learned"),
    Search("Dropblox-v0", 1000, "learned:width=10000"),
)
UNDER_WAY = 0.2  # seconds after which a search is in the middle


class Searcher(Plain):
    """A connection that asks for a rollout and does not wait for it."""

    def leave(self) -> None:
        """End the connection as the end of a process does that has not read all: with a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._socket.close()

    def answered(self) -> bool:
        """Whether the server has answered what was not waited for."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def begin(self, search: Search) -> None:
        """Open games, and begin a rollout of them."""
        h = self.call("open", search.game, {"num_envs": search.envs, "seed": 1})["h"]
        self.call("reset", h)
        options = {"policy": search.policy, "keep": "last"}
        self._socket.sendall(msgpack.packb([0, 1 << 20, "rollout", [h, 1000, options]]))


def stops_in(address: str, search: Search) -> float:
    """Return after how many seconds a search has stopped, with its games, once its client is gone."""
    watch, client = Plain(address), Searcher(address)

    def stats() -> Any:
        return watch.call("stats")

    before = stats()["handles"]
    client.begin(search)
    loaded, memory = time.monotonic(), stats()["memory"]
    while stats()["memory"] == memory and time.monotonic() - loaded < 10:  # the policy counts once it is loaded
        time.sleep(0.001)
    time.sleep(UNDER_WAY)
    if client.answered():
        raise RuntimeError(f"{search}: it is over already")
    client.leave()
    gone = time.monotonic()
    while stats()["handles"] > before and time.monotonic() - gone < 60:
        time.sleep(0.001)
    took = time.monotonic() - gone
    watch.close()
    return took


def stopping(address: str, tries: int) -> dict[str, float]:
    """Return the median number of milliseconds in which each search stops."""
    return {
        f"{search.game} {search.policy}": round(
            1000 * statistics.median(stops_in(address, search) for _ in range(tries)), 1
        )
        for search in SEARCHES
    }
