"""Ways to games on a server: over a socket, through shared memory."""

from __future__ import annotations

import mmap
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .buffers import Buffer, private_buffer
from .client import Client
from .errors import BlockyardError, LimitError, ProtocolError, RequestError
from .facts import Handle
from .lending import Pool, private_slab
from .pending import Pending
from .progress import bar
from .slab import Slab

# How many slots there are at first, and how far they grow with what the user holds on to.
_FIRST_SLOTS = 4
_MOST_SLOTS = 512
_MOST_SHARED = 1 << 30  # bytes


class Link:
    """The way to games that lie in one handle of one server, over its connection.

    Attributes:
        transport: ``"socket"`` or ``"shm"``.
        handle: what the server announced.
    """

    transport = "socket"

    def __init__(self, client: Client, handle: Handle) -> None:
        self.client, self.handle = client, handle
        self._pool = Pool(self._private)

    # -- memory ---------------------------------------------------------------------

    def slab(self) -> Slab:
        """Return memory for a step that nobody else has."""
        slab = self._pool.slab()
        assert slab is not None
        return slab

    def _private(self) -> Slab:
        return private_slab(self.handle)

    def ring(self, slots: int) -> list[Slab]:
        """Return memory for steps to be used over and over."""
        return [Slab(self.handle) for _ in range(slots)]

    def buffer(self, steps: int) -> Buffer:
        """Return room for many steps."""
        return private_buffer(self.handle, steps)

    # -- requests -------------------------------------------------------------------

    def call(self, method: str, *params: Any) -> Any:
        """Call a method of the handle."""
        return self.client.connection.call(method, self.handle.number, *params)

    def show(self, slab: Slab, method: str, *params: Any) -> None:
        """Call a method that answers with a slab; its options are the last of params."""
        connection = self.client.connection
        connection.wait(connection.post(method, self.handle.number, *params, into=slab.into))

    def post_step(self, actions: NDArray[np.uint16], slab: Slab) -> Any:
        """Send the actions of a step and do not wait."""
        return self.client.connection.post_step(self.handle.number, actions.view(np.uint8).data, slab.into)

    def wait(self, pending: Any) -> None:
        """Wait for a step."""
        self.client.connection.wait(pending)

    def step(self, actions: NDArray[np.uint16], slab: Slab) -> None:
        """Send the actions of a step and wait."""
        self.client.connection.step(self.handle.number, actions.view(np.uint8).data, slab.into, slab.frame)

    def pages(self, method: str, ids: NDArray[np.uint32], *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Ask about games, as many at a time as the server answers at once."""
        done = 0
        while True:
            page = self.call(method, ids[done:].tobytes(), *options)
            yield page
            done += page["count"]
            if done >= len(ids) or page["count"] == 0:
                return

    def restore(self, slab: Slab, ids: NDArray[np.uint32], states: NDArray[np.uint8], options: dict[str, int]) -> None:
        """Put games back to states, as many at a time as the server takes at once."""
        room = max(1, (self.client.limits.get("max_message", 1 << 20) - 4096) // (self.handle.state_len + 4))
        for start in range(0, max(1, len(ids)), room):
            some, part = ids[start : start + room], states[start : start + room]
            self.show(slab, "restore", some.tobytes(), part.tobytes(), options)

    def clone(self, slab: Slab, src: NDArray[np.uint32], dst: NDArray[np.uint32], options: dict[str, int]) -> None:
        """Make games copies of games."""
        self.show(slab, "clone", src.tobytes(), dst.tobytes(), options)

    def rollout(self, buffer: Buffer, policy: str) -> None:
        """Let the server play into a buffer, as many steps at a time as it sends at once."""
        size = self.handle.slab_len + 2 * self.handle.rows
        room = max(1, (self.client.limits.get("max_reply", 1 << 20) - 1024) // size)
        for done, steps in _strides(buffer.steps, room):
            d = self.call("rollout", steps, _policy(self.client, policy))
            slabs, actions = memoryview(d["slabs"]), np.frombuffer(d["actions"], "<u2").reshape(steps, -1)
            for t in range(steps):
                buffer.slab(done + t).bytes[:] = slabs[t * self.handle.slab_len :][: self.handle.slab_len]
            buffer.actions[done : done + steps] = actions

    def skip(self, steps: int, policy: str) -> None:
        """Let the server play and tell nothing."""
        for _, some in _strides(steps, steps):
            self.call("rollout", some, _policy(self.client, policy) | {"keep": "last"})

    def finals(self) -> list[tuple[dict[str, Any], int]]:
        """Return the answers to ``final``, each with the number of its first game."""
        return [(self.call("final"), 0)]

    def close(self, own_client: bool) -> None:
        """Free the games; with the client if nothing else uses it."""
        if own_client:
            self.client.close()
        elif self.client.connection.open:
            self.call("close")


class SharedLink(Link):
    """The way through memory that the server writes to: the socket only says when.

    A step whose slab is no slot (the caller's own arrays, or when there are no free slots any
    more) comes over the socket.
    """

    transport = "shm"

    def __init__(self, client: Client, handle: Handle) -> None:
        super().__init__(client, handle)
        self._unused: list[Slab] = []
        self._slots = self._bytes = 0
        self._grow = True
        self._shared = Pool(self._slot, forget=False)
        self._add(_FIRST_SLOTS)

    def _share(self, slots: int) -> tuple[mmap.mmap, dict[str, int]]:
        """Get slots from the server.

        Raises:
            LimitError: it gives no more memory.
        """
        told, fds = self.client.connection.call_for_files("share", self.handle.number, slots)
        try:
            if len(fds) != 1 or os.fstat(fds[0]).st_size != told["len"]:
                raise ProtocolError(f"share: {len(fds)} files came, want one of {told['len']} bytes")
            if not (
                told["slots"] == slots
                and told["stride"] * slots <= told["len"]
                and self.handle.slab_len <= told["actions"] <= told["stride"] - 2 * self.handle.rows
            ):
                raise ProtocolError(f"share: slots that do not hold a step: {told}")
            memory = mmap.mmap(fds[0], told["len"])
        finally:
            for fd in fds:
                os.close(fd)
        self._slots, self._bytes = self._slots + slots, self._bytes + told["len"]
        return memory, told

    def _add(self, slots: int) -> None:
        memory, told = self._share(slots)
        whole = memoryview(memory)
        for k in range(slots):
            at = k * told["stride"]
            slab = Slab(self.handle, whole[at : at + self.handle.slab_len], told["first"] + k)
            slab.actions = np.ndarray((self.handle.rows,), "<u2", memory, at + told["actions"])
            self._unused.append(slab)

    def _slot(self) -> Slab | None:
        """Return a slot that was not used yet, None if the server gives no more."""
        if not self._unused and self._grow:
            more = max(_FIRST_SLOTS, self._slots)
            self._grow = self._slots + more <= _MOST_SLOTS and 2 * self._bytes <= _MOST_SHARED
            try:
                if self._grow:
                    self._add(more)
            except LimitError:
                self._grow = False
        return self._unused.pop() if self._unused else None

    def slab(self) -> Slab:
        return self._shared.slab() or super().slab()

    def ring(self, slots: int) -> list[Slab]:
        buffer = self.buffer(slots)
        return [buffer.slab(k) for k in range(slots)]

    def buffer(self, steps: int) -> Buffer:
        try:
            memory, told = self._share(steps)
        except (LimitError, RequestError):  # more than there may be
            return super().buffer(steps)
        return Buffer(self.handle, steps, memory, told["stride"], told["actions"], told["first"])

    def show(self, slab: Slab, method: str, *params: Any) -> None:
        if slab.slot is None:
            super().show(slab, method, *params)
            return
        self.call(method, *params[:-1], params[-1] | {"slot": slab.slot})

    def post_step(self, actions: NDArray[np.uint16], slab: Slab) -> Pending:
        if slab.slot is None:
            return super().post_step(actions, slab)  # type: ignore[no-any-return]
        assert slab.actions is not None
        if slab.actions is not actions:
            slab.actions[:] = actions
        return self.client.connection.post_slot(self.handle.number, slab.slot)

    def step(self, actions: NDArray[np.uint16], slab: Slab) -> None:
        if slab.slot is None:
            super().step(actions, slab)
            return
        assert slab.actions is not None
        if slab.actions is not actions:
            slab.actions[:] = actions
        self.client.connection.step_slot(self.handle.number, slab.slot)

    def rollout(self, buffer: Buffer, policy: str) -> None:
        if buffer.first_slot is None:
            super().rollout(buffer, policy)
            return
        for done, steps in _strides(buffer.steps, buffer.steps):
            self.call("rollout", steps, _policy(self.client, policy) | {"slot": buffer.first_slot + done})


def _strides(total: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut a long rollout into parts of about a second, so that silence stays a sign of something wrong."""
    done, some = 0, 1
    with bar("rollout", total, "steps") as advance:
        while done < total:
            some = min(some, most, total - done)
            begun = time.monotonic()
            yield done, some
            done += some
            advance(some)
            if time.monotonic() - begun < 0.5:
                some *= 2


def _policy(client: Client, policy: str) -> dict[str, Any]:
    if policy == "random":  # what servers played before they were told
        return {}
    client.need("policy", f"policy={policy!r}")
    return {"policy": policy}


def link(client: Client, handle: Handle, transport: str) -> Link:
    """Return the fastest way, or the one that transport (``"auto"``, ``"shm"``, ``"socket"``) names.

    Raises:
        RequestError: shared memory is asked for and cannot be had; the message says why.
    """
    if transport == "socket":
        return Link(client, handle)
    here = sys.platform.startswith("linux") and client.connection.address.kind == "unix"
    if transport == "shm" and not here:
        where = client.connection.address
        raise RequestError(f"transport='shm': memory is shared over unix sockets on Linux, not over {where}")
    if transport == "shm":
        client.need("share", "transport='shm'")
    elif not here or "share" not in client.features:
        return Link(client, handle)
    try:
        return SharedLink(client, handle)
    except BlockyardError:
        if transport == "shm" or not client.connection.open:
            raise
        return Link(client, handle)
