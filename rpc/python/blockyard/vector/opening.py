"""Opening the games of an environment on its servers, at first and again after a server was lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import RequestError
from ..formats.arguments import game_name, positive
from ..formats.opponents import BySeat, Lineup, opponents_by_seat, read_lineup
from ..formats.spec import GameSpec
from ..transport import library
from ..transport.healing import HealingTransport
from ..transport.over_socket import SocketTransport
from ..transport.session import Session
from ..transport.sharded import open_shards
from ..transport.shared_memory import choose_transport
from .options import Options

FEW = 64  # games whose step takes about as long as a message to another process and back, or less


class Opening:
    """Opens games with the same options on any number of servers.

    Attributes:
        spec: the game's specification, from the first server.
        lineup: the opponents of the first episodes, with the contents of their weights files at that time.
        user: stands for the environment where sessions count who uses uploaded weights.
    """

    spec: GameSpec
    lineup: Lineup

    def __init__(self, game: str, options: Options, choose: Callable[[GameSpec, int], BySeat] | None = None) -> None:
        """Prepare to open; choose returns the server's opponents of a game with a number of seats."""
        self._game, self._options, self._healing = game, options, options.healing
        self._choose = choose or (lambda spec, seats: opponents_by_seat(options.opponents, seats))
        self._opened = False
        self.needs_mask = False  # even if the options exclude masks
        self.user = object()
        reward = "result" if options.reward == "shaped" else options.reward
        self.wire: dict[str, Any] = {"autoreset": options.mode.value, "rows": options.rows}  # as the server knows them
        self.wire["illegal"] = options.illegal or "penalty"
        for name, value in (("reward", reward), ("max_episode_steps", options.max_episode_steps)):
            if value is not None:
                self.wire[name] = value
        if self._healing is not None:
            self.wire["log"] = True

    def transport(self, num_envs: int) -> SocketTransport:
        """Open this many games on the servers of the options, and return what moves their steps."""
        o, games = self._options, positive("num_envs", num_envs)
        where = "inproc:" if self._in_process(games) else o.address
        return open_shards(games, where, self._open_shard, o.tls, o.client, token=o.token, timeout=o.timeout)

    def _in_process(self, games: int) -> bool:
        """Return whether the games are to run in this process."""
        o = self._options
        if o.address is not None or o.client is not None:
            return False
        if o.transport == "inproc" and self._healing is not None:
            raise RequestError(
                "heal=True: a server in this process is lost only together with it; leave out heal, or pass "
                'transport="process"'
            )
        if o.transport != "auto":
            return o.transport == "inproc"
        # A time limit that somebody has set can only be kept for another process.
        return games <= FEW and self._healing is None and o.timeout == Options.timeout and library.available()

    def _open_shard(self, session: Session, games: int, start: int) -> SocketTransport:
        if self._healing is None:
            return self._open(session, games, start)
        session.require("replay", "heal=True")
        inner = self._open(session, games, start)
        # Games that are resumed have the opponents of their checkpoint, so they are opened with some without weights.
        some = Lineup(dict.fromkeys(self.lineup.wire, "random"))

        def reopen(session: Session, resumed: bool) -> SocketTransport:
            return self._open(session, games, start, some if resumed else self.lineup)

        whole = HealingTransport(inner, reopen, self._healing, self._options.first + start)
        whole.upload(self.user, self.spec.name, self.lineup.files)
        return whole

    def _open(self, session: Session, games: int, start: int, lineup: Lineup | None = None) -> SocketTransport:
        """Open games with opponents; by default those of the options."""
        spec = session.describe(game_name(self._game))
        if self._opened:
            self.spec.check_same(spec, str(session.connection.address))
        else:
            seats = spec.min_seats if self._options.seats is None else positive("seats", self._options.seats)
            given = self._options.opponents
            if seats == 1 and given not in (None, "random"):
                raise ValueError(f"opponents: {spec.id} is played by one seat, got {given!r:.100}; leave them out")
            by_seat = self._choose(spec, seats)
            self.spec, self.wire["seats"] = spec, seats
            self.lineup = read_lineup(by_seat, "trust_specs" in session.features)
            self._opened = True
        lineup = self.lineup if lineup is None else lineup
        options = self.wire | {"num_envs": games, "opponents": lineup.wire} | self._optional(session, start)
        handle = None
        try:
            session.uploads.use(self.user, self.spec.name, lineup.files)
            handle = session.open(self.spec.name, options)
            return choose_transport(session, handle, self._options.transport)
        except BaseException:
            if handle is not None and self._options.client is not None and session.connection.open:
                session.connection.call("close", handle.number)
            session.uploads.release(self.user)
            raise

    def _optional(self, session: Session, start: int) -> dict[str, Any]:
        """Return the options that not every server has; raise RequestError if this one lacks them."""
        out: dict[str, Any] = {}
        if not (self._options.mask or self.needs_mask) and "fields" in session.features:
            out["fields"] = ["planes", "globals", "seat"]
        if self._options.packed:
            session.require("packed", "packed=True")
            out["packed"] = True
        if first := self._options.first + start:
            session.require("first", "address of several servers, or first=")
            out["first"] = first
        return out
