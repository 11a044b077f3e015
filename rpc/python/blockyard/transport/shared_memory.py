"""Environments on a server that steps to memory of the client: mapped by both, or in the same process."""

import contextlib
import ctypes
import itertools
import mmap
import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, LimitError, ProtocolError, RequestError
from .connection import Future
from .memory import HEAD, Field, Handle, MemoryPool, RolloutBuffer, StepMemory
from .over_socket import Pause, SocketTransport, rollout_parts
from .policies import Policies
from .session import Session

_SLOTS = 4  # of the pool, and again as many if the user keeps arrays: whoever keeps one keeps a whole slot
_MOST_SHARED = 1 << 30  # bytes
_MAP_FIXED = 0x10  # of Linux on every architecture that Python supports there but for Alpha
_CHUNK = 1 << 20  # bytes that are copied at a time; a multiple of every page size


class SharedMemoryTransport(SocketTransport):
    """Moves steps through shared memory; the socket carries only signals, and steps whose memory is not shared."""

    name = "shm"

    def __init__(self, client: Session, handle: Handle, policies: Policies) -> None:
        super().__init__(client, handle, policies)
        self._pool = MemoryPool(self._new_memory, forget=False)
        self._numbered: weakref.WeakSet[StepMemory | RolloutBuffer] = weakref.WeakSet()
        self._mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._unused = itertools.chain(self._share(_SLOTS).memories, self._more_slots())

    def _more_slots(self) -> Iterator[StepMemory]:
        """Share slots when they are needed, unless they are too large or the server gives no more."""
        if 2 * _SLOTS * self.handle.slab_len <= _MOST_SHARED:
            with contextlib.suppress(LimitError):
                yield from self._share(_SLOTS).memories

    def _share(self, slots: int) -> RolloutBuffer:
        """Map new slots of the server; raise LimitError if the server gives no more memory."""
        answer, fds = self.client.connection.call_for_files("share", self.handle.number, slots)
        memory, stride, actions = self._map(answer["len"], fds), answer["stride"], answer["actions"]
        fits = self.handle.slab_len <= actions <= stride - 2 * self.handle.rows
        if answer["slots"] != slots or stride * slots > answer["len"] or not fits:
            raise ProtocolError(f"share: the slots are too small for a step: {answer}")
        buffer = RolloutBuffer(self.handle, slots, memory, stride, actions, answer["first"])
        self._mapped.add(memory)
        self._numbered.update([buffer, *buffer.memories])
        return buffer

    def _new_memory(self) -> StepMemory | None:
        """Return a slot that was not used yet; None if the server gives no more."""
        return next(self._unused, None)

    def buffer(self, steps: int) -> RolloutBuffer:
        try:
            return self._share(steps)
        except (LimitError, RequestError):  # more than the server shares
            return super().buffer(steps)

    def abandon(self) -> None:
        self.final = None
        for memory in self._mapped:  # a server that hangs may write to it later
            make_private(memory)
        for shared in self._numbered:
            if isinstance(shared, StepMemory):
                shared.slot = None
            else:
                shared.first_slot = None

    def keep_finals(self) -> None:
        try:
            answer, fds = self.client.connection.call_for_files("share_final", self.handle.number)
        except (LimitError, RequestError):  # more than the server shares
            super().keep_finals()
        else:
            self.final = final_arrays(answer["layout"], self._map(answer["len"], fds))

    def _map(self, size: int, fds: list[int]) -> mmap.mmap:
        """Map the only file of these, and close its descriptor.

        It must be one that nobody can shrink: whoever reads memory whose file has shrunk is killed by the kernel.
        """
        try:
            if len(fds) != 1 or os.fstat(fds[0]).st_size != size:
                raise ProtocolError(f"share: got {len(fds)} files, want one of {size} bytes")
            if not _sealed(fds[0]):
                raise ProtocolError("share: the server could shrink the memory, since its file is not sealed")
            return mmap.mmap(fds[0], size)
        finally:
            for fd in fds:
                os.close(fd)

    def _post(self, memory: StepMemory, method: str, *params: Any) -> Future:
        if memory.slot is None or memory not in self._numbered:
            return super()._post(memory, method, *params)
        options = params[-1] | {"slot": memory.slot}
        return self.client.connection.post(method, self.handle.number, *params[:-1], options)

    def _post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Future:
        if memory.slot is None or memory not in self._numbered:  # slots of another environment have the same numbers
            return super()._post_step(actions, memory)
        if memory.actions is not actions:
            assert memory.actions is not None
            memory.actions[:] = actions
        future = self.client.connection.post_slot(self.handle.number, memory.slot)
        self.last_step = future.ident
        return future

    def rollout(self, buffer: RolloutBuffer, policy: str, pause: Pause) -> None:
        if buffer.first_slot is None or buffer not in self._numbered:
            super().rollout(buffer, policy, pause)
            return
        for done, steps in rollout_parts(buffer.steps, buffer.steps, pause):
            self.call("rollout", steps, {"policy": policy, "slot": buffer.first_slot + done})


def _sealed(fd: int) -> bool:
    """Return whether nobody can shrink a file."""
    import fcntl  # which not every system has, as it does not have memory to share

    with contextlib.suppress(OSError):  # a file that cannot have seals
        return bool(fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK)
    return False


def make_private(memory: mmap.mmap) -> None:
    """Replace the pages of shared memory by private ones with the same contents, at the same addresses.

    Arrays over the memory stay valid. Only Linux has shared memory of this kind.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED
    for at in range(0, len(memory), _CHUNK):
        contents = memory[at : at + _CHUNK]
        got = libc.mmap(begin + at, len(contents), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        if got != begin + at:
            raise OSError(ctypes.get_errno(), f"mmap: {os.strerror(ctypes.get_errno())}")
        memory[at : at + _CHUNK] = contents


class InprocTransport(SocketTransport):
    """Steps games by a call of the library with the addresses of arrays in one piece; all else is as over a socket."""

    name = "inproc"

    _kept: StepMemory | None = None  # where the server may read until its next request

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        """Step at once, unless policies have to be asked."""
        if self.policies.by_name or memory.frame is None:
            super().step(actions, memory)
        else:
            self._step_at(actions, memory)

    def _step_at(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        assert memory.frame is not None
        assert memory.actions is not None
        if memory.addresses is None:
            slab = np.frombuffer(memory.frame, np.uint8, offset=HEAD).ctypes.data
            memory.addresses = memory.actions.ctypes.data, slab
        if memory.actions is not actions:
            memory.actions[:] = actions
        self._kept = memory
        self.client.connection.step_at(self.handle.number, *memory.addresses)

    def _post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Future:
        if memory.frame is None:
            return super()._post_step(actions, memory)
        future = Future(0, "step")
        try:
            self._step_at(actions, memory)
        except BlockyardError as error:
            future.error = error
        future.done = True
        return future

    def keep_finals(self) -> None:
        """Find the library's own arrays, which exist as long as the games do."""
        answer = self.call("share_final")
        self.final = final_arrays(answer["layout"], (ctypes.c_uint8 * answer["len"]).from_address(answer["at"]))


def final_arrays(layout: Iterable[dict[str, Any]], memory: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays in which the server leaves last observations, by their names in the answer to ``final``."""
    names = {f"final_{name}": name for name in ("planes", "globals", "mask")} | {"final_opponent": "opponents"}
    fields = [f for f in map(Field.from_wire, layout) if f.name in names]
    return {names[f.name]: np.ndarray(f.shape, f.dtype, memory, f.offset) for f in fields}


def choose_transport(client: Session, handle: Handle, policies: Policies, transport: str) -> SocketTransport:
    """Return the requested transport; with ``"auto"`` and ``"process"`` the fastest possible."""
    where = client.connection.address
    if transport == "inproc" and where.kind != "inproc":
        raise RequestError(f"transport='inproc': the server at {where} is another process; leave out address=")
    if transport in ("auto", "inproc") and where.kind == "inproc":
        return InprocTransport(client, handle, policies)
    reason = "" if "share" in client.features else f"the server at {where} cannot share memory"
    if not sys.platform.startswith("linux") or where.kind != "unix":
        reason = f"memory is shared over unix sockets on Linux, not over {where}"
    if transport == "shm" and reason:
        raise RequestError(f"transport='shm': {reason}; pass transport='socket'")
    if transport != "socket" and not reason:
        try:
            return SharedMemoryTransport(client, handle, policies)
        except BlockyardError:
            if transport == "shm" or not client.connection.open:
                raise
    return SocketTransport(client, handle, policies)
