"""Games spread over several servers, as if they lay on one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .buffers import Buffer
from .facts import Field, Handle
from .links import Link
from .slab import Slab

_NONE = np.zeros(0, np.uint32)


class SplitLink(Link):
    """The way to games of which each server has a run of neighbours.

    What is drawn follows from a game's number among all, so every byte is as one server would
    have it. Steps of all servers are under way at once, and each answer is received straight into
    its part of the arrays.
    """

    transport = "split"

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = list(links)
        self.starts = np.cumsum([0, *(k.handle.games for k in links)])
        super().__init__(links[0].client, _whole([k.handle for k in links]))
        # Where memory is shared a server fills a slot, and that is copied to its part of the arrays.
        slots = [link.ring(1)[0] if link.transport == "shm" else None for link in links]
        self._slots = [slot if slot is not None and slot.slot is not None else None for slot in slots]

    def _private(self) -> Slab:
        slab = super()._private()
        self._pieces(slab)
        return slab

    def _pieces(self, slab: Slab) -> list[Slab]:
        """Return the part of each server of a slab."""
        if slab.parts is None:
            rows, per = self.handle.rows, self.handle.rows_per_game
            slab.parts = []
            for link, start in zip(self.links, self.starts, strict=False):
                lo, n = int(start), link.handle.games
                given = {
                    name: a[lo * per : (lo + n) * per] if len(a) == rows and _by_row(name) else a[lo : lo + n]
                    for name, a in slab.arrays.items()
                }
                slab.parts.append(Slab.over(link.handle, given))
        return slab.parts

    def _of(self, ids: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return which link has each game."""
        return np.searchsorted(self.starts, ids, side="right") - 1

    def call(self, method: str, *params: Any) -> Any:
        if method == "render":
            which = int(self._of(np.array(params[:1]))[0])
            return self.links[which].call(method, params[0] - int(self.starts[which]), *params[1:])
        answers = [link.call(method, *params) for link in self.links]
        return answers[0]

    def show(self, slab: Slab, method: str, *params: Any) -> None:
        options = params[-1]
        for link, piece, start in zip(self.links, self._pieces(slab), self.starts, strict=False):
            lo, hi = int(start), int(start) + link.handle.games
            mine = dict(options)
            if "seeds" in mine:
                mine["seeds"] = mine["seeds"][8 * lo : 8 * hi]
            if "mask" in mine and not any(mine["mask"][lo:hi]):
                link.clone(piece, _NONE, _NONE, {})  # changes nothing and shows all
                continue
            if "mask" in mine:
                mine["mask"] = mine["mask"][lo:hi]
            link.show(piece, method, *params[:-1], mine)

    def post_step(self, actions: NDArray[np.uint16], slab: Slab) -> Any:
        per = self.handle.rows_per_game
        out = []
        for link, piece, slot, start in zip(self.links, self._pieces(slab), self._slots, self.starts, strict=False):
            mine = actions[int(start) * per : (int(start) + link.handle.games) * per]
            out.append((link, link.post_step(mine, slot or piece), piece))
        return out

    def wait(self, pending: Any) -> None:
        errors = []
        for (link, one, piece), slot, start in zip(pending, self._slots, self.starts, strict=False):
            try:
                link.wait(one)
                if slot is not None:
                    for name, array in slot.arrays.items():
                        np.copyto(piece.arrays[name], array)
            except Exception as error:  # the others have their answers still to be read
                if "envs" in getattr(error, "data", {}):
                    error.data["envs"] = [int(start) + i for i in error.data["envs"]]  # type: ignore[attr-defined]
                errors.append(error)
        if errors:
            raise errors[0]

    def step(self, actions: NDArray[np.uint16], slab: Slab) -> None:
        self.wait(self.post_step(actions, slab))

    def pages(self, method: str, ids: NDArray[np.uint32], *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        which = self._of(ids)
        cuts = np.flatnonzero(np.diff(which)) + 1
        for run in np.split(np.arange(len(ids)), cuts):  # neighbours in the list that one server has
            k = int(which[run[0]]) if len(run) else 0
            mine = (ids[run] - self.starts[k]).astype("<u4")
            yield from self.links[k].pages(method, mine, *options)

    def restore(self, slab: Slab, ids: NDArray[np.uint32], states: NDArray[np.uint8], options: dict[str, int]) -> None:
        which = self._of(ids)
        for k, (link, piece) in enumerate(zip(self.links, self._pieces(slab), strict=True)):
            some = which == k
            link.restore(piece, (ids[some] - self.starts[k]).astype("<u4"), states[some], options)

    def clone(self, slab: Slab, src: NDArray[np.uint32], dst: NDArray[np.uint32], options: dict[str, int]) -> None:
        size = self.handle.state_len
        kinds = np.unique(src)  # a game may be copied several times
        pages = [np.frombuffer(page["states"], np.uint8) for page in self.pages("snapshot", kinds)]
        states = np.concatenate(pages).reshape(-1, size)[np.searchsorted(kinds, src)]
        self.restore(slab, dst, states, options)

    def rollout(self, buffer: Buffer, policy: str) -> None:
        per = self.handle.rows_per_game
        for k, link in enumerate(self.links):
            own = link.buffer(buffer.steps)
            link.rollout(own, policy)
            lo, n = int(self.starts[k]), link.handle.games
            for name, array in own.arrays.items():
                first, count = (lo * per, n * per) if _by_row(name) else (lo, n)
                buffer.arrays[name][:, first : first + count] = array
            buffer.actions[:, lo * per : (lo + n) * per] = own.actions

    def skip(self, steps: int, policy: str) -> None:
        for link in self.links:
            link.skip(steps, policy)

    def finals(self) -> list[tuple[dict[str, Any], int]]:
        return [(link.call("final"), int(start)) for link, start in zip(self.links, self.starts, strict=False)]

    def close(self, own_client: bool) -> None:
        for link in self.links:
            link.close(own_client)


def _by_row(name: str) -> bool:
    """Whether a field has an entry a row, not a game."""
    return name in ("planes", "bits", "globals", "mask", "seat")


def _whole(handles: Sequence[Handle]) -> Handle:
    """Return the handle that one server would have announced."""
    one, games = handles[0], sum(h.games for h in handles)
    rows = games * one.rows_per_game
    fields, at = [], 0
    for f in one.fields:
        shape = (rows if _by_row(f.name) else games, *f.shape[1:])
        at = -(-at // 64) * 64
        fields.append(Field(f.name, f.dtype, shape, at))
        at += -(-int(np.prod(shape)) * f.dtype.itemsize // 8) * 8
    return Handle(-1, games, one.seats, one.players, one.rows_per_game, rows, tuple(fields), at, one.state_len)


def shares(games: int, servers: int) -> list[int]:
    """Return how many games each server gets: as equal as can be, more to the first.

    Raises:
        ValueError: there are more servers than games.
    """
    if games < servers:
        raise ValueError(f"address: {servers} servers for {games} games")
    return [games // servers + (k < games % servers) for k in range(servers)]
