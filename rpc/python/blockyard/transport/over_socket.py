"""Environments on one server, reached over its socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..formats.checkpoint_file import runs
from .layout import Handle, Ids
from .memory import MemoryPool, RolloutBuffer, StepMemory, private_buffer, private_memory
from .policies import Policies
from .progress import bar
from .session import Session

T = TypeVar("T")


class SocketTransport:
    """Moves the steps of one handle of one server over its connection."""

    name = "socket"
    lost_seconds = 0.0  # how long it has been without a server, all together
    policies: Policies | None = None  # of this program, which are opponents
    asked: dict[str, Any] | None = None  # cached: what the server asks them now

    def __init__(self, client: Session, handle: Handle) -> None:
        self.client, self.handle = client, handle
        self.between: Callable[[], None] | None = None  # called between the parts of a rollout
        self._pushed = False  # the server sends the last observations of ended games after each step
        self._last: tuple[int, StepMemory] | None = None  # the number of the last step, and its arrays
        self._pool = MemoryPool(self._new_memory)

    def memory(self) -> StepMemory:
        """Return memory for a step that nobody else refers to."""
        return self._pool.get() or StepMemory.separate(self.handle)

    def _new_memory(self) -> StepMemory | None:
        return private_memory(self.handle)

    def ring(self, slots: int) -> list[StepMemory]:
        """Return memory for steps that is to be reused in turn, whoever still refers to it."""
        buffer = self.buffer(slots)
        return [buffer.memory(k) for k in range(slots)]

    def buffer(self, steps: int) -> RolloutBuffer:
        """Return memory for a rollout of so many steps."""
        return private_buffer(self.handle, steps)

    @property
    def parts(self) -> Sequence[SocketTransport]:
        """The transports of the single servers."""
        return (self,)

    def places(self, memory: StepMemory) -> Sequence[StepMemory]:
        """Return each server's part of the arrays of a step."""
        return (memory,)

    def call(self, method: str, *params: Any) -> Any:
        """Call a method about this handle and return the result."""
        return self.client.connection.call(method, self.handle.number, *params)

    def show(self, memory: StepMemory, method: str, *params: Any) -> None:
        """Call a method that answers with the arrays of a step; its options are the last of params."""
        if not self.policies:
            self._show(memory, method, *params)
            return
        if "mask" in params[-1]:
            self.policies.check()
        self._show(memory, method, *params)
        if method == "reset" and "mask" not in params[-1]:
            self.policies.reset()
        self.asked = None
        self.policies.go_on(self, np.zeros(self.handle.rows, "<u2"), memory)

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        """Send the actions of a step without waiting; pass the result to :meth:`wait`."""
        if self.policies:
            self.policies.check()
            self.policies.answer(self)
        return self._post_step(actions, memory), actions, memory

    def wait(self, future: Any) -> None:
        """Wait until the arrays of a step are there; future is the result of :meth:`post_step`."""
        posted, actions, memory = future
        self._wait(posted)
        if self.policies:
            self.asked = None
            self.policies.go_on(self, actions, memory)

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        """Send the actions of a step, and wait until its arrays are in memory, with all answers of policies."""
        if not self.policies:
            self._step(actions, memory)
            return
        self.policies.check()
        self.policies.answer(self)
        self.go_on(actions, memory)
        self.policies.go_on(self, actions, memory)

    def ask(self, games: Ids | None = None) -> dict[str, Any]:
        """Return whose actions the server asks for in games, by default in all."""
        if games is not None:
            return self.call("asked", games.tobytes())  # type: ignore[no-any-return]
        if self.asked is None:
            self.asked = self.call("asked", None)
        return self.asked

    def go_on(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        """Step; or, where games wait for answers that were given, go on with their step."""
        self.asked = None
        self._step(actions, memory)

    def play(self, policies: Policies) -> None:
        """Let policies of this program be opponents."""
        self.leaf.policies = policies

    @property
    def leaf(self) -> SocketTransport:
        """What talks to the server of now."""
        return self

    def _show(self, memory: StepMemory, method: str, *params: Any) -> None:
        connection = self.client.connection
        connection.wait(connection.post(method, self.handle.number, *params, into=memory.pieces))

    def _post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        future = self.client.connection.post_step(self.handle.number, actions.view(np.uint8).data, memory.pieces)
        self._last = future.ident, memory
        return future

    def _wait(self, posted: Any) -> None:
        self.client.connection.wait(posted)

    def _step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        step, data = self.client.connection.step, actions.view(np.uint8).data
        self._last = step(self.handle.number, data, memory.pieces, memory.frame), memory

    def pages(self, method: str, ids: Ids, *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a request about games; yield the responses, each for as many games as fit into one message."""
        done = 0
        while True:
            page = self.call(method, ids[done:].tobytes(), *options)
            yield page
            done += page["count"]
            if done >= len(ids) or page["count"] == 0:
                return

    def states(self, ids: Ids) -> NDArray[np.uint8]:
        """Return the states of games, uint8 (len(ids), state_len); an index may appear more than once."""
        games, places = np.unique(ids, return_inverse=True)
        pages = b"".join(page["states"] for page in self.pages("snapshot", games))
        return np.frombuffer(pages, np.uint8).reshape(len(games), self.handle.state_len)[places]

    def restore(self, memory: StepMemory, ids: Ids, states: NDArray[np.uint8], options: dict[str, int]) -> None:
        """Restore the states of games, as many at a time as fit into one message."""
        room = max(1, (self.client.limits.get("max_message", 1 << 20) - 4096) // (self.handle.state_len + 4))
        for start in range(0, max(1, len(ids)), room):
            some, part = ids[start : start + room], states[start : start + room]
            self.show(memory, "restore", some.tobytes(), part.tobytes(), options)

    def clone(self, memory: StepMemory, src: Ids, dst: Ids, options: dict[str, int]) -> None:
        """Copy games src over games dst, which then go on as their own; fill in memory for dst."""
        self.show(memory, "clone", src.tobytes(), dst.tobytes(), options)

    def resume(self, memory: StepMemory, head: bytes, games: Sequence[bytes], recordings: Mapping[int, bytes]) -> None:
        """Continue games from checkpoints, with recordings, as many at a time as fit into one message."""
        room = self.client.limits.get("max_message", 1 << 20) - len(head) - 4096
        lines = [recordings.get(k, b"") for k in range(len(games))]
        for start, end in runs([len(one) + len(line) for one, line in zip(games, lines, strict=True)], room):
            ids, some = np.arange(start, end, dtype="<u4"), b"".join(lines[start:end])
            options = {"recordings": some} if some else {}
            self.show(memory, "resume", ids.tobytes(), head, b"".join(games[start:end]), options)

    def rollout(self, buffer: RolloutBuffer, policy: str) -> None:
        """Let the server play into a buffer, as many steps at a time as fit into one message."""
        size = self.handle.slab_len
        room = max(1, (self.client.limits.get("max_reply", 1 << 20) - 1024) // (size + 2 * self.handle.rows))
        for done, steps in rollout_parts(buffer.steps, room):
            d = self.call("rollout", steps, {"policy": policy})
            for t in range(steps):
                buffer.memory(done + t).pieces[0][:] = memoryview(d["slabs"])[t * size : (t + 1) * size]
            buffer.actions[done : done + steps] = np.frombuffer(d["actions"], "<u2").reshape(steps, -1)
            self.pause()

    def skip(self, steps: int, policy: str) -> None:
        """Let the server play steps whose arrays are not returned."""
        for _, some in rollout_parts(steps, steps):
            self.call("rollout", some, {"policy": policy, "keep": "last"})
            self.pause()

    def pause(self) -> None:
        """Do what is to be done between the parts of a rollout."""
        if self.between is not None:
            self.between()

    def upload(self, user: object, game: str, files: Mapping[str, tuple[str, bytes]]) -> None:
        """As :meth:`Uploads.use`."""
        self.client.uploads.use(user, game, files)

    def release(self, user: object, keep: Collection[str] = ()) -> None:
        """As :meth:`Uploads.release`."""
        self.client.uploads.release(user, keep)

    def retry(self, request: Callable[[], T]) -> T:
        """Return what a request to the server returns that changes no game; it is repeated if the server is lost."""
        return request()

    def abandon(self) -> None:
        """Turn memory that was shared with the server, which is lost, into memory of this process alone."""

    def share_final(self) -> dict[str, NDArray[Any]] | None:
        """Return arrays in which the server leaves the last observations of ended games; None: call :meth:`finals`.

        They are ``planes``, ``globals``, ``mask``, and ``opponent`` if the server plays a seat, of all rows or games.
        """
        self.push_final()
        return None

    def push_final(self) -> None:
        """Let the server send the last observations of ended games with each step; only with SAME_STEP."""
        self.call("push_final")
        self._pushed = True

    def finals(self, new: bool = False) -> list[tuple[dict[str, Any], int]]:
        """Return answers to ``final`` about the last step, each with the index of its server's first game.

        new: this is the first call after the step; its arrays are still valid.
        """
        if new and self._pushed and self._last is not None:
            ident, memory = self._last
            if not (memory.terminated.any() or memory.truncated.any()):
                return []
            parts = [self.client.connection.final_after(self.handle.number, ident)]
        else:
            parts = [self.call("final", 0)]
        have = len(parts[0]["lengths"])
        while have < 4 * parts[0]["ended"]:  # more than fit into one message
            parts.append(self.call("final", have // 4))
            have += len(parts[-1]["lengths"])
        return [(part, 0) for part in parts]

    def close(self, own_client: bool) -> None:
        """Free the games; close the session too if this transport alone uses it."""
        if own_client:
            self.client.close()
        elif self.client.connection.open:
            self.call("close")


def rollout_parts(total: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut a rollout into parts (start, steps) of about a second each, so that none of them exceeds the timeout."""
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
