"""Games spread over several servers, with the results of one server."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .address import Address, Tls, Where, look_up
from .memory import Ids, RolloutBuffer, StepMemory, resized, span
from .over_socket import Finals, Pause, SocketTransport, T

_NONE = np.zeros(0, np.uint32)


class ShardedTransport(SocketTransport):
    """Moves the steps of several servers, all at the same time; each has a range of consecutive games.

    Random draws depend on a game's index among all games, so the results are bit-exact those of one server.
    """

    name = "split"

    def __init__(self, shards: Sequence[SocketTransport]) -> None:
        self.shards = list(shards)
        starts = np.cumsum([0, *(s.handle.games for s in shards)]).tolist()
        self._starts, self._spans = np.array(starts), list(zip(shards, starts, starts[1:], strict=False))
        super().__init__(shards[0].client, resized(shards[0].handle, starts[-1]), shards[0].policies)
        self._own = [s.buffer(1).memories[0] for s in shards]  # where each server puts its part of a step

    @property
    def parts(self) -> Sequence[SocketTransport]:
        return self.shards

    def places(self, memory: StepMemory) -> Sequence[StepMemory]:
        if memory.parts is None:
            per, memory.parts = self.handle.rows_per_game, []
            for shard, lo, hi in self._spans:
                given = {name: array[span(name, lo, hi, per)] for name, array in memory.arrays.items()}
                memory.parts.append(StepMemory.over_arrays(shard.handle, given))
        return memory.parts

    def _new_memory(self) -> StepMemory | None:
        if (memory := super()._new_memory()) is not None:
            self.places(memory)
        return memory

    def _shard_of(self, ids: Ids) -> NDArray[np.intp]:
        return np.searchsorted(self._starts, ids, side="right") - 1

    def call(self, method: str, *params: Any) -> Any:
        if method == "render":
            shard, lo, _ = self._spans[int(self._shard_of(np.array(params[:1]))[0])]
            return shard.call(method, params[0] - lo, *params[1:])
        answers = [shard.call(method, *params) for shard in self.shards]
        return answers[0]

    def show(self, memory: StepMemory, method: str, *params: Any) -> None:
        for (shard, lo, hi), part in zip(self._spans, self.places(memory), strict=True):
            mine = dict(params[-1])
            if "seeds" in mine:
                mine["seeds"] = mine["seeds"][8 * lo : 8 * hi]
            if "mask" in mine:
                mine["mask"] = mine["mask"][lo:hi]
                if not any(mine["mask"]):
                    shard.clone(part, _NONE, _NONE, {})  # changes nothing and returns all observations
                    continue
            shard.show(part, method, *params[:-1], mine)

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        per = self.handle.rows_per_game
        posted = [
            shard.post_step(actions[lo * per : hi * per], own)
            for (shard, lo, hi), own in zip(self._spans, self._own, strict=True)
        ]
        return posted, actions, memory

    def wait(self, future: Any) -> None:
        """Wait for the step of every server; the first error is raised when all have answered."""
        posted, _, memory = future
        errors = []
        for one, shard, own, part in zip(posted, self.shards, self._own, self.places(memory), strict=True):
            try:
                shard.wait(one)
                for name, array in own.arrays.items():
                    np.copyto(part.arrays[name], array)
            except Exception as error:  # the answers of the other servers must still be read
                errors.append(error)
        if errors:
            raise errors[0]

    def pages(self, method: str, ids: Ids, *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        which = self._shard_of(ids)
        cuts = np.flatnonzero(np.diff(which)) + 1
        for run in np.split(np.arange(len(ids)), cuts):  # consecutive ids of the same server
            shard, lo, _ = self._spans[int(which[run[0]]) if len(run) else 0]
            yield from shard.pages(method, (ids[run] - lo).astype("<u4"), *options)

    def restore(self, memory: StepMemory, ids: Ids, states: NDArray[np.uint8], options: dict[str, int]) -> None:
        which = self._shard_of(ids)
        for k, ((shard, lo, _), part) in enumerate(zip(self._spans, self.places(memory), strict=True)):
            shard.restore(part, (ids[which == k] - lo).astype("<u4"), states[which == k], options)

    def clone(self, memory: StepMemory, src: Ids, dst: Ids, options: dict[str, int]) -> None:
        self.restore(memory, dst, self.states(src), options)

    def rollout(self, buffer: RolloutBuffer, policy: str, pause: Pause) -> None:
        per = self.handle.rows_per_game
        for shard, lo, hi in self._spans:
            own = shard.buffer(buffer.steps)
            shard.rollout(own, policy, pause)
            for name, array in own.arrays.items():
                buffer.arrays[name][:, span(name, lo, hi, per)] = array
            buffer.actions[:, lo * per : hi * per] = own.actions

    def skip(self, steps: int, policy: str, pause: Pause) -> None:
        for shard in self.shards:
            shard.skip(steps, policy, pause)

    def finals(self, memory: StepMemory | None = None) -> Finals:
        places = [None] * len(self.shards) if memory is None else self.places(memory)
        every = [shard.finals(place) for shard, place in zip(self.shards, places, strict=True)]
        for one, lo in zip(every, self._starts.tolist(), strict=False):
            if "envs" in one:
                one["envs"] = one["envs"] + np.uint32(lo)
        found = [one for one in every if one]
        names = set.intersection(*map(set, found))
        return {name: np.concatenate([one[name] for one in found], axis=None) for name in names}

    def retry(self, request: Callable[[], T]) -> T:
        return self.shards[0].retry(request)  # whose session is that of the environment

    def close(self, own_client: bool) -> None:
        for shard in self.shards:
            shard.close(own_client)


def shares_of(address: Where | Sequence[str | Address], tls: Tls, games: int) -> list[tuple[Where, int, int]]:
    """Distribute games over the servers at each address, or for ``dns:NAME:PORT`` all of that name.

    Return each server, with its first game and its number of games: as equal as possible, larger ones first.
    """
    one = address is None or isinstance(address, (str, Address))
    listed: Any = [address] if one else address
    if not one and (not isinstance(listed, Sequence) or not all(isinstance(each, (str, Address)) for each in listed)):
        want = "want None, an address such as 'unix:PATH', or a list of them"
        raise TypeError(f"address: {want}, got {address!r:.100}")
    if not listed:
        raise ValueError("address: got an empty list, want at least one address, or None for a local server")
    if games < len(listed):
        raise ValueError(f"address: {len(listed)} servers for {games} games, want at least one game per server")
    servers = [where for each in listed for where in look_up(each, tls)][:games]
    counts = [games // len(servers) + (k < games % len(servers)) for k in range(len(servers))]
    return list(zip(servers, accumulate(counts, initial=0), counts, strict=False))
