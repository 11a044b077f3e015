"""How games are opened, on one server or on several."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gymnasium.vector import AutoresetMode

from .address import Tls
from .asking import game_name, opponents_by_seat
from .client import Client
from .errors import BlockyardError
from .facts import GameFacts
from .links import Link, link
from .split import SplitLink, shares

TRANSPORTS = ("auto", "shm", "socket")


@dataclass
class Opening:
    """What games are to be opened, and how steps are to travel.

    Attributes:
        client: a session to use; None: one is made for each address.
        options: of ``open``, but for what follows from the rest.
        facts: the game's, once it is known.
    """

    game: str
    num_envs: int
    first: int
    seats: int | None
    opponents: Mapping[int, str] | str | None
    mask: bool
    packed: bool
    transport: str
    client: Client | None
    options: dict[str, Any]
    facts: GameFacts = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.num_envs, bool) or operator.index(self.num_envs) < 1:
            raise ValueError(f"num_envs: want at least 1, got {self.num_envs}")
        if self.transport not in TRANSPORTS:
            raise ValueError(f"transport {self.transport!r}: want one of {TRANSPORTS}")
        self.num_envs, self.first = operator.index(self.num_envs), operator.index(self.first)

    def open(self, address: str | Sequence[str] | None, token: str | None, timeout: float, tls: Tls) -> Link:
        """Open the games, spread over the servers that address names."""
        addresses = [address] if address is None or isinstance(address, str) else list(address)
        sizes = shares(self.num_envs, len(addresses)) if addresses else []
        if not sizes:
            raise ValueError("address: an empty list of servers")
        links: list[Link] = []
        clients: list[Client] = []  # of our own
        try:
            for where, size in zip(addresses, sizes, strict=True):
                client = self.client
                if client is None:
                    client = Client(where, token=token, timeout=timeout, tls=tls)
                    clients.append(client)
                links.append(self._open(client, size, self.first + sum(sizes[: len(links)])))
        except BaseException:
            for client in clients:
                client.close()
            raise
        return links[0] if len(links) == 1 else SplitLink(links)

    def _open(self, client: Client, num_envs: int, first: int) -> Link:
        """Open games on one server."""
        self.facts = client.describe(game_name(self.game))
        count = self.facts.min_seats if self.seats is None else self.seats
        players = opponents_by_seat(self.opponents, count)
        options = self.options | {"num_envs": num_envs, "seats": count, "opponents": players}
        if not self.mask and "fields" in client.features:
            options["fields"] = ["planes", "globals", "seat"]
        if self.packed:
            client.need("packed", "packed=True")
            options["packed"] = True
        if first:
            client.need("first", "address of several servers, or first=")
            options["first"] = first
        handle = client.open(self.facts.name, options)
        try:
            return link(client, handle, self.transport)
        except BlockyardError:
            if self.client is not None and client.connection.open:
                client.connection.call("close", handle.number)
            raise


def open_options(
    autoreset: AutoresetMode, reward: str, illegal: str, max_episode_steps: int | None
) -> dict[str, Any]:
    """Return options of ``open`` by the names the server has for them."""
    options: dict[str, Any] = {"autoreset": autoreset.value, "reward": reward, "illegal": illegal}
    if max_episode_steps is not None:
        options["max_episode_steps"] = operator.index(max_episode_steps)
    return options
