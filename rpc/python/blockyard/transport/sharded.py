"""Games spread over several servers, with the results of one server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EnvironmentsError
from .address import Address, Tls, look_up
from .buffer import RolloutBuffer
from .layout import ROW_FIELDS, joined
from .memory import StepMemory
from .over_socket import SocketTransport, T
from .session import Session

_NONE = np.zeros(0, np.uint32)


class ShardedTransport(SocketTransport):
    """Moves the steps of several servers; each has a range of consecutive games.

    Random draws depend on a game's index among all games, so the results are bit-exact those of one
    server. All servers step at the same time, and each answer is received into its part of the arrays.
    """

    name = "split"

    def __init__(self, shards: Sequence[SocketTransport]) -> None:
        self.shards = list(shards)
        self.starts = np.cumsum([0, *(s.handle.games for s in shards)])
        super().__init__(shards[0].client, joined([s.handle for s in shards]))
        # A server with shared memory fills a slot, which is copied to its part of the arrays.
        slots = [s.ring(1)[0] if s.name == "shm" else None for s in shards]
        self._slots = [slot if slot is not None and slot.slot is not None else None for slot in slots]

    @property
    def parts(self) -> Sequence[SocketTransport]:
        return self.shards

    def places(self, memory: StepMemory) -> Sequence[StepMemory]:
        return self._parts(memory)

    def _new_memory(self) -> StepMemory:
        memory = super()._new_memory()
        self._parts(memory)
        return memory

    def _parts(self, memory: StepMemory) -> list[StepMemory]:
        """Return each server's part of the arrays."""
        if memory.parts is None:
            rows, per = self.handle.rows, self.handle.rows_per_game
            memory.parts = []
            for shard, start in zip(self.shards, self.starts, strict=False):
                lo, n = int(start), shard.handle.games
                given = {
                    name: a[lo * per : (lo + n) * per] if len(a) == rows and name in ROW_FIELDS else a[lo : lo + n]
                    for name, a in memory.arrays.items()
                }
                memory.parts.append(StepMemory.over_arrays(shard.handle, given))
        return memory.parts

    def _shard_of(self, ids: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return the index of the shard of each game."""
        return np.searchsorted(self.starts, ids, side="right") - 1

    def call(self, method: str, *params: Any) -> Any:
        if method == "render":
            which = int(self._shard_of(np.array(params[:1]))[0])
            return self.shards[which].call(method, params[0] - int(self.starts[which]), *params[1:])
        answers = [shard.call(method, *params) for shard in self.shards]
        return answers[0]

    def show(self, memory: StepMemory, method: str, *params: Any) -> None:
        options = params[-1]
        for shard, part, start in zip(self.shards, self._parts(memory), self.starts, strict=False):
            lo, hi = int(start), int(start) + shard.handle.games
            mine = dict(options)
            if "seeds" in mine:
                mine["seeds"] = mine["seeds"][8 * lo : 8 * hi]
            if "mask" in mine and not any(mine["mask"][lo:hi]):
                shard.clone(part, _NONE, _NONE, {})  # changes nothing and returns all observations
                continue
            if "mask" in mine:
                mine["mask"] = mine["mask"][lo:hi]
            shard.show(part, method, *params[:-1], mine)

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        per = self.handle.rows_per_game
        out = []
        for shard, part, slot, start in zip(self.shards, self._parts(memory), self._slots, self.starts, strict=False):
            mine = actions[int(start) * per : (int(start) + shard.handle.games) * per]
            out.append((shard, shard.post_step(mine, slot or part), part))
        return out

    def wait(self, future: Any) -> None:
        errors = []
        for (shard, one, part), slot, start in zip(future, self._slots, self.starts, strict=False):
            try:
                shard.wait(one)
                if slot is not None:
                    for name, array in slot.arrays.items():
                        np.copyto(part.arrays[name], array)
            except Exception as error:  # the answers of the other servers must still be read
                if isinstance(error, EnvironmentsError):
                    error.renumber(int(start))
                errors.append(error)
        if errors:
            raise errors[0]

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        self.wait(self.post_step(actions, memory))

    def pages(self, method: str, ids: NDArray[np.uint32], *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        which = self._shard_of(ids)
        cuts = np.flatnonzero(np.diff(which)) + 1
        for run in np.split(np.arange(len(ids)), cuts):  # consecutive ids of the same server
            k = int(which[run[0]]) if len(run) else 0
            mine = (ids[run] - self.starts[k]).astype("<u4")
            yield from self.shards[k].pages(method, mine, *options)

    def restore(
        self, memory: StepMemory, ids: NDArray[np.uint32], states: NDArray[np.uint8], options: dict[str, int]
    ) -> None:
        which = self._shard_of(ids)
        for k, (shard, part) in enumerate(zip(self.shards, self._parts(memory), strict=True)):
            some = which == k
            shard.restore(part, (ids[some] - self.starts[k]).astype("<u4"), states[some], options)

    def clone(
        self, memory: StepMemory, src: NDArray[np.uint32], dst: NDArray[np.uint32], options: dict[str, int]
    ) -> None:
        self.restore(memory, dst, self.states(src), options)

    def rollout(self, buffer: RolloutBuffer, policy: str) -> None:
        per = self.handle.rows_per_game
        for k, shard in enumerate(self.shards):
            own = shard.buffer(buffer.steps)
            shard.rollout(own, policy)
            lo, n = int(self.starts[k]), shard.handle.games
            for name, array in own.arrays.items():
                first, count = (lo * per, n * per) if name in ROW_FIELDS else (lo, n)
                buffer.arrays[name][:, first : first + count] = array
            buffer.actions[:, lo * per : (lo + n) * per] = own.actions

    def skip(self, steps: int, policy: str) -> None:
        for shard in self.shards:
            shard.skip(steps, policy)

    def push_final(self) -> None:
        for shard in self.shards:
            shard.push_final()

    def finals(self, new: bool = False) -> list[tuple[dict[str, Any], int]]:
        shards = zip(self.shards, self.starts, strict=False)
        return [(part, int(start)) for shard, start in shards for part, _ in shard.finals(new)]

    def retry(self, request: Callable[[], T]) -> T:
        return self.shards[0].retry(request)  # whose session is that of the environment

    def close(self, own_client: bool) -> None:
        for shard in self.shards:
            shard.close(own_client)


def servers_of(
    address: str | Address | Sequence[str | Address] | None, tls: Tls, games: int
) -> list[str | Address | None]:
    """Return the servers over which games are distributed: each address, and for ``dns:NAME:PORT`` all of that name.

    Raise ServerGoneError if a name cannot be looked up, and TypeError if address is neither an address nor a list of
    them, and ValueError if there are no addresses, or more than games.
    """
    if address is None or isinstance(address, Address):
        return [address]
    if not isinstance(address, (str, Sequence)) or any(not isinstance(one, (str, Address)) for one in address):
        raise TypeError(f"address: want None, an address such as 'unix:PATH', or a list of them, got {address!r:.100}")
    addresses = [address] if isinstance(address, str) else list(address)
    if not addresses:
        raise ValueError("address: got an empty list, want at least one address, or None for a local server")
    if games < len(addresses):
        raise ValueError(f"address: {len(addresses)} servers for {games} games, want at least one game per server")
    found: list[str | Address | None] = []
    for one in addresses:
        found += look_up(one, tls) if isinstance(one, str) else [one]
    return found[:games]


def open_shards(
    games: int,
    address: str | Address | Sequence[str | Address] | None,
    open_one: Callable[[Session, int, int], SocketTransport],
    tls: Tls,
    client: Session | None,
    **how: Any,
) -> SocketTransport:
    """Open games on the server at each address; the shards are as equal as possible, larger ones first.

    Args:
        games, address, tls: as in :func:`servers_of`.
        open_one: opens ``count`` games, the first of which has index ``first``, given (session, count, first).
        client: an existing session to use instead of new ones, which are created with tls and ``how``.
    """
    servers = servers_of(address, tls, games)
    shards: list[SocketTransport] = []
    own: list[Session] = []
    first = 0
    try:
        for k, where in enumerate(servers):
            session = client
            if session is None:
                session = Session(where, tls=tls, **how)
                own.append(session)
            count = games // len(servers) + (k < games % len(servers))
            shards.append(open_one(session, count, first))
            first += count
    except BaseException:
        for session in own:
            session.close()
        raise
    return shards[0] if len(shards) == 1 else ShardedTransport(shards)
