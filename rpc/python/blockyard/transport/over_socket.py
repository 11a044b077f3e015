"""Environments on one server, reached over its socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..formats.checkpoint_file import runs
from .connection import Future
from .memory import Handle, Ids, MemoryPool, RolloutBuffer, StepMemory, private_buffer
from .policies import Policies
from .progress import bar
from .session import Session

T = TypeVar("T")
Pause = Callable[[], object] | None
Finals = dict[str, NDArray[Any]]  # what the server says of games that ended, by the names in the answer to ``final``
_FINAL = {
    **dict.fromkeys(("planes", "mask", "seat"), "u1"),
    **{"envs": "<u4", "lengths": "<u4", "globals": "<f4", "scores": "<i4", "opponents": "<u2"},
}


class SocketTransport:
    """Moves the steps of one handle of one server over its connection."""

    name = "socket"
    lost_seconds = 0.0  # how long it has been without a server, all together
    last_step = 0  # number of the request
    final: Finals | None = None  # where the server leaves last observations; None: it sends them

    def __init__(self, client: Session, handle: Handle, policies: Policies) -> None:
        """Step the games of a handle; policies are those of this program, which are opponents."""
        self.client, self.handle, self.policies = client, handle, policies
        self.asked: dict[str, Any] | None = None  # cached: what the server asks policies now
        self._pool = MemoryPool(self._new_memory)

    def memory(self) -> StepMemory:
        """Return memory for a step that nobody else refers to."""
        return self._pool.get() or StepMemory.separate(self.handle)

    def _new_memory(self) -> StepMemory | None:
        return private_buffer(self.handle, 1).memories[0]

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
        if self.policies.by_name and "mask" in params[-1]:
            self.policies.check()
        self.wait((self._post(memory, method, *params), np.zeros(self.handle.rows, "<u2"), memory))
        if method == "reset" and "mask" not in params[-1]:
            self.policies.broken = False

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        """Send the actions of a step, and wait until its arrays are in memory, with all answers of policies."""
        self.wait(self.post_step(actions, memory))

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        """Send the actions of a step without waiting; pass the result to :meth:`wait`."""
        if self.policies.by_name:
            self.policies.check()
            self.answer()
        return self._post_step(actions, memory), actions, memory

    def wait(self, future: Any) -> None:
        """Wait until the arrays of a step are there; future is the result of :meth:`post_step`."""
        posted, actions, memory = future
        self.client.connection.wait(posted)
        self.asked = None
        if self.policies.by_name:
            with self.policies.moving():
                while len(self.ask()["waiting"]):
                    self.answer()
                    self.client.connection.wait(self._post_step(actions, memory))
                    self.asked = None

    def _post(self, memory: StepMemory, method: str, *params: Any) -> Future:
        return self.client.connection.post(method, self.handle.number, *params, into=memory)

    def _post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Future:
        future = self.client.connection.post_step(self.handle.number, actions.view(np.uint8).data, memory)
        self.last_step = future.ident
        return future

    # -- policies ---------------------------------------------------------------------

    def ask(self, games: Ids | None = None) -> dict[str, Any]:
        """Return whose actions the server asks for in games, by default in all."""
        if games is not None:
            return self.call("asked", games.tobytes())  # type: ignore[no-any-return]
        if self.asked is None:
            self.asked = self.call("asked", None)
        return self.asked

    def answer(self, games: Ids | None = None) -> Ids:
        """Answer for all seats that are asked in games, by default in all; return the games that waited for it."""
        while True:
            asked = self.ask(games)
            count = len(asked["seats"])
            if count:
                actions = self.policies.choose(asked, self.handle.opponents)
                self.call("answer", asked["games"], asked["seats"], actions.tobytes())
            self.asked = None
            if count == asked["all"]:
                return np.frombuffer(asked["waiting"], "<u4")

    @property
    def leaf(self) -> SocketTransport:
        """What talks to the server of now."""
        return self

    # -- games ------------------------------------------------------------------------

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

    def rollout(self, buffer: RolloutBuffer, policy: str, pause: Pause) -> None:
        """Let the server play into a buffer, as many steps at a time as fit into one message; pause between these."""
        size = self.handle.slab_len
        room = max(1, (self.client.limits.get("max_reply", 1 << 20) - 1024) // (size + 2 * self.handle.rows))
        for done, steps in rollout_parts(buffer.steps, room, pause):
            d = self.call("rollout", steps, {"policy": policy})
            for t in range(steps):
                buffer.memories[done + t].fill(memoryview(d["slabs"])[t * size : (t + 1) * size])
            buffer.actions[done : done + steps] = np.frombuffer(d["actions"], "<u2").reshape(steps, -1)

    def skip(self, steps: int, policy: str, pause: Pause) -> None:
        """Let the server play steps whose arrays are not returned; pause between parts of them."""
        for _, some in rollout_parts(steps, steps, pause):
            self.call("rollout", some, {"policy": policy, "keep": "last"})

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

    def keep_finals(self) -> None:
        """Let :meth:`finals` return last observations without a request of its own; only with SAME_STEP."""
        self.call("push_final")

    def finals(self, memory: StepMemory | None = None) -> Finals:
        """Return what ``final`` says of the last step, by name; without entries if no game has ended.

        memory: that of the step, right after it, if :meth:`keep_finals` was called: then the server has left the last
        observations, or sends them without being asked. If it has left them, there is nothing but these.
        """
        if memory is None:
            return self._final(self.call("final", 0))
        ended = memory.terminated | memory.truncated
        if self.final is not None:
            games = rows = np.flatnonzero(ended)
            if self.handle.rows_per_game > 1:
                rows = np.flatnonzero(ended.repeat(self.handle.rows_per_game))
            return {name: array.take(games if name == "opponents" else rows, 0) for name, array in self.final.items()}
        if not ended.any():
            return {}
        return self._final(self.client.connection.final_after(self.handle.number, self.last_step))

    def _final(self, first: dict[str, Any]) -> Finals:
        """Return all answers to ``final``, of which this is the first, as one."""
        parts, have = [first], len(first["lengths"])
        while have < 4 * first["ended"]:  # more than fit into one message
            parts.append(self.call("final", have // 4))
            have += len(parts[-1]["lengths"])
        return {
            name: np.frombuffer(bytearray().join(part[name] for part in parts), dtype) for name, dtype in _FINAL.items()
        }

    def close(self, own_client: bool) -> None:
        """Free the games; close the session too if this transport alone uses it."""
        if own_client:
            self.client.close()
        elif self.client.connection.open:
            self.call("close")


def rollout_parts(total: int, most: int, pause: Pause) -> Iterator[tuple[int, int]]:
    """Cut a rollout into parts (start, steps) of about a second each, so that none of them exceeds the timeout.

    After each, pause is called.
    """
    done, some = 0, 1
    with bar("rollout", total, "steps") as advance:
        while done < total:
            some = min(some, most, total - done)
            begun = time.monotonic()
            yield done, some
            done += some
            advance(some)
            if pause is not None:
                pause()
            if time.monotonic() - begun < 0.5:
                some *= 2
