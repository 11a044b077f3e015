"""Opening the games of an environment on its servers, at first and again after a server was lost."""

from contextlib import ExitStack
from functools import partial
from typing import Any

from gymnasium.vector import AutoresetMode

from ..formats.arguments import game_name, positive
from ..formats.opponents import Lineup
from ..formats.spec import GameSpec
from ..transport import library
from ..transport.healing import HealingTransport
from ..transport.over_socket import SocketTransport
from ..transport.policies import Policies
from ..transport.session import Session
from ..transport.sharded import ShardedTransport, shares_of
from ..transport.shared_memory import choose_transport
from .afterstates import requested
from .options import Options

FEW = 64  # games whose step takes about as long as a message to another process and back, or less


class Opening:
    """Opens games with the same options on any number of servers.

    Attributes:
        spec: the game's specification, from the first server.
        lineup: the opponents of the first episodes, with the contents of their weights files at that time.
        policies: those of this program among them.
        user: stands for the environment where sessions count who uses uploaded weights.
    """

    spec: GameSpec
    lineup: Lineup
    policies: Policies

    def __init__(self, game: str, options: Options) -> None:
        """Prepare to open."""
        self._game, self._options = game, options
        # A server in this process is lost only together with it.
        self._healing = None if options.transport == "inproc" else options.healing
        self._opened = False
        self.user = object()
        optional: dict[str, Any] = {"reward": options.reward, "max_episode_steps": options.max_episode_steps}
        optional |= {"fields": None if options.mask else ["planes", "globals", "seat"], "log": self._healing and True}
        self.wire = {name: value for name, value in optional.items() if value is not None}
        self.wire |= {"autoreset": options.mode.value, "rows": options.rows, "packed": options.packed}
        self.wire["illegal"] = options.illegal or "penalty"

    def transport(self, num_envs: int) -> SocketTransport:
        """Open this many games on the servers of the options, and return what moves their steps."""
        o, games = self._options, positive("num_envs", num_envs)
        where = "inproc:" if self._in_process(games) else o.address
        shards = list[SocketTransport]()
        with ExitStack() as own:
            for server, first, count in shares_of(where, o.tls, games):
                new = partial(Session, server, token=o.token, timeout=o.timeout, tls=o.tls)
                shards.append(self._open_shard(o.client or own.enter_context(new()), count, first))
            own.pop_all()  # which stay open
        return shards[0] if len(shards) == 1 else ShardedTransport(shards)

    def _in_process(self, games: int) -> bool:
        """Return whether the games are to run in this process."""
        o = self._options
        if o.address is not None or o.client is not None:
            return False
        if o.transport != "auto":
            return o.transport == "inproc"
        # A time limit that somebody has set can only be kept for another process.
        return games <= FEW and self._healing is None and o.timeout == Options.timeout and library.available()

    def _open_shard(self, session: Session, games: int, start: int) -> SocketTransport:
        inner = self._open(session, games, start)
        if self._healing is None:
            return inner
        # Games that are resumed have the opponents of their checkpoint, so they are opened with some without weights.
        some = Lineup({seat: [("random", 1.0)] for seat in self.lineup.wire})

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
            self.spec, self.wire["seats"] = spec, seats
            self.wire |= requested(self._options, spec)
            self.policies = Policies(spec, self._options.packed)
            self.lineup = Lineup.of(given, spec.id, seats, "trust_specs" in session.features, self.policies.name)
            self._opened = True
        lineup = self.lineup if lineup is None else lineup
        options = self.wire | {"num_envs": games, "opponents": lineup.wire, "first": self._options.first + start}
        options |= lineup.how
        with ExitStack() as undo:
            undo.callback(session.uploads.release, self.user)
            session.uploads.use(self.user, self.spec.name, lineup.files)
            handle = session.open(self.spec.name, options)
            if self._options.client is not None:
                undo.callback(lambda: session.connection.open and session.connection.call("close", handle.number))
            transport = choose_transport(session, handle, self.policies, self._options.transport)
            if self._options.mode is AutoresetMode.SAME_STEP:
                transport.keep_finals()
            undo.pop_all()
        return transport
