"""Games that go on elsewhere when their server is lost."""

import dataclasses
import logging
import time
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import errors
from ..formats.checkpoint_file import split_games
from .address import Address, Tls, Where, look_up
from .journal import MOVES, Again, Journal, Steps
from .memory import RolloutBuffer, StepMemory
from .over_socket import Finals, SocketTransport, T
from .session import Session

_log = logging.getLogger("blockyard")
LOST = (errors.ServerGoneError, errors.DrainingError)  # what says that a server is lost
_PATIENCE = 5.0  # seconds to connect to one of several servers
_FIRST_WAIT, _MOST_WAIT = 0.05, 2.0  # seconds between two rounds of all servers


@dataclasses.dataclass(frozen=True)
class Healing:
    """How games go on when their server is lost."""

    addresses: Sequence[str | Address] | None  # that may take them over; None: the local server, which is started again
    tls: Tls
    timeout: float  # seconds without any server after which the environment gives up
    every: int  # a checkpoint of a game is made when it has been stepped this many times since the last

    def candidates(self, last: Address, skip: int, suspect: bool) -> list[Where]:
        """Return the servers to try: the lost one first, or last if it may hang; the others from number skip on."""
        if self.addresses is None:
            return [None]
        found: list[Where] = []
        for text in self.addresses:
            try:
                found += look_up(text, self.tls)
            except errors.ServerGoneError:
                found.append(text)  # reported when it is connected to
        skip %= max(1, len(found))
        return sorted(found[skip:] + found[:skip], key=lambda where: (str(where) == str(last)) == suspect)


# Opens the games of a transport in a session as at first; if they are resumed anyway, with opponents without weights.
Reopen = Callable[[Session, bool], SocketTransport]


class HealingTransport(SocketTransport):
    """Moves the steps of games that are rebuilt on another server, or on the same one, when their server is lost.

    It keeps a checkpoint of each game and the steps since, with the moves of opponents, and replays them. So no search
    is repeated, and all that follows is what it would have been.
    """

    def __init__(self, inner: SocketTransport, reopen: Reopen, healing: Healing, first: int) -> None:
        self.inner, self._reopen, self._healing, self._first = inner, reopen, healing, first
        super().__init__(inner.client, inner.handle, inner.policies)
        self.name = inner.name
        self.eager = False  # all that changes all games is followed by a checkpoint, so that some games may have one
        self.on_rebuilt: weakref.WeakMethod[Callable[[], None]] | None = None  # called after games were rebuilt
        self._all = np.arange(inner.handle.games, dtype="<u4")
        self._journal = Journal(inner.handle.games)
        self._record: dict[str, Any] | None = None  # options with which a recording goes on elsewhere
        self._lines = b""  # records that were fetched and not passed on
        self._files: dict[str, tuple[str, bytes]] = {}
        self._kept: Collection[str] = ()
        self._user: tuple[object, str] | None = None
        self._interrupted = False  # a request that changes games was sent, and is not in the journal

    def retry(self, request: Callable[[], T]) -> T:
        begun, lost = time.monotonic(), None
        if self._interrupted:
            self._interrupted = False
            self.save()
        while True:
            try:
                return request()
            except LOST as error:
                if time.monotonic() - begun > self._healing.timeout:
                    raise
                self.check_slow(error, lost)
                self.recover(lost := error)

    @staticmethod
    def check_slow(error: errors.BlockyardError, last: errors.BlockyardError | None) -> None:
        """Give up a request that has timed out on one server after the other; last is the error before this one."""
        if isinstance(error, errors.ServerTimeoutError) and isinstance(last, errors.ServerTimeoutError):
            raise errors.ServerTimeoutError(f"{error}; a second server was as slow: pass a longer timeout=") from error

    def recover(self, error: errors.BlockyardError) -> None:
        """Rebuild the games after this error, which says that the server is lost."""
        begun = time.monotonic()
        try:
            with errors.on_error(self.client.close):  # games that are rebuilt in part must not get further requests
                self._find_server(error, begun)
        finally:
            self.lost_seconds += time.monotonic() - begun

    def _find_server(self, error: errors.BlockyardError, begun: float) -> None:
        wait, lost, hung = _FIRST_WAIT, self.client.connection.address, isinstance(error, errors.ServerTimeoutError)
        while True:
            refusals = []
            for where in self._healing.candidates(lost, self._first // self.handle.games, hung):
                try:
                    steps = self._rebuild_at(where)
                except (errors.ForkError, errors.BadStateError, errors.OpponentError):
                    raise
                except errors.BlockyardError as refusal:
                    refusals.append(str(refusal))
                    continue
                how = self.handle.games, self.client.connection.address, time.monotonic() - begun, steps
                _log.warning("%s; %d games continue at %s after %.2f s and %d replayed steps", error, *how)
                return
            if time.monotonic() - begun + wait > self._healing.timeout:
                tried = "; ".join(refusals) or "no address was found"
                text = f"{error}; in {self._healing.timeout:g} s none was found to continue with: {tried}"
                raise errors.ServerGoneError(f"{text}; or pass a larger heal_timeout=") from error
            time.sleep(wait)
            wait = min(2 * wait, _MOST_WAIT)

    def _rebuild_at(self, where: Where) -> int:
        """Rebuild the games on a server; return the number of steps that were replayed."""
        self.client.reconnect(where, min(_PATIENCE, self._healing.timeout))
        inner = self._reopen(self.client, bool(self._journal.head))
        inner.handle = dataclasses.replace(inner.handle, opponents=self.handle.opponents)
        if self._user is not None:
            self.client.uploads.use(*self._user, self._files)
        if self._record is not None:
            inner.call("record", self._record)
        steps, inner.asked = self._journal.rebuild(inner), None
        self.inner.abandon()
        self.inner, self.handle, self.name = inner, inner.handle, inner.name
        if rebuilt := self.on_rebuilt and self.on_rebuilt():
            rebuilt()
        return steps

    def _change(self, request: Callable[[], T]) -> T:
        """Make a request that changes games. If it is interrupted, the journal misses it, and the next saves them."""

        def once() -> T:
            self._interrupted = True
            try:
                return request()
            except Exception:
                self._interrupted = False
                raise

        return self.retry(once)

    def _change_all(self, request: Callable[[SocketTransport], T], heavy: bool = False) -> T:
        """Make a request that changes games, and note it. A heavy one is saved, so as not to be repeated."""
        answer = self._change(lambda: request(self.inner))
        self._interrupted = False
        self._journal.add(Again(self._all, lambda part, _: request(part)))
        if heavy or self.eager or not self._journal.head:
            self.save()
        return answer

    def save(self, ids: NDArray[np.uint32] | None = None) -> None:
        """Make checkpoints of games; None means all. The results of a step that ended must have been read."""
        try:
            self.retry(lambda: self._save(self._all if ids is None else ids))
        except errors.NeedsResetError:
            if self._journal.head:
                raise  # otherwise some games were not reset yet, and none can be stepped

    def _save(self, ids: NDArray[np.uint32]) -> None:
        recording = self._record is not None
        while recording and self._fetch()["waiting"]:  # a recording that goes on with the checkpoint has them behind it
            pass
        pages = list(self.inner.pages("checkpoint", ids, *([{"recordings": True}] if recording else [])))
        games = split_games(b"".join(page["games"] for page in pages))
        recordings = b"".join(page.get("recordings", b"") for page in pages)
        weights = {name for page in pages for name in page["weights"]}
        weights.update(self._journal.weights if len(ids) < len(self._all) else ())  # the other games may need more
        for name in weights - self._files.keys():
            self._files[name] = (f"learned:weights={name}", self.inner.call("weights", name)["weights"])
        self._journal.saved(ids, pages[-1]["head"], games, sorted(weights), recordings)
        self._files = {name: file for name, file in self._files.items() if name in weights or name in self._kept}

    def due(self, share: float = 1.0) -> NDArray[np.bool_]:
        """Return which games have been stepped so often that a checkpoint is due, or a share of that."""
        return self._journal.lengths >= share * self._healing.every

    def log(self, games: NDArray[np.uint32], actions: NDArray[np.uint16], moves: NDArray[np.uint16]) -> None:
        """Note a step of some games: their actions, uint16 (k, rows_per_game), and moves of opponents, (k, n)."""
        if moves.size:  # mostly zeros
            moves = moves[:, : min(MOVES, 1 + int(moves[:, 0].max()))]
        self._journal.add(Steps(games, actions, moves.copy()))

    def memory(self) -> StepMemory:
        return self.retry(lambda: self.inner.memory())

    def buffer(self, steps: int) -> RolloutBuffer:
        return self.retry(lambda: self.inner.buffer(steps))

    def finals(self, memory: StepMemory | None = None) -> Finals:
        at = self.inner  # on another server, the games that replayed steps ended have to be asked for
        return self.retry(lambda: self.inner.finals(memory if self.inner is at else None))

    def call(self, method: str, *params: Any) -> Any:
        """Call a method; afterwards, keep what is needed to do the same on another server."""
        if method == "records" and self._record is not None:
            return self._records(*params)
        if method in ("rollout", "set_opponents"):
            return self._change_all(lambda part: part.call(method, *params), method == "rollout")
        answer = self.retry(lambda: self.inner.call(method, *params))
        if method == "record":
            self._record = dict(*params)
            if self._journal.head:
                self.save()
        elif method == "opponent_stats" and params[0].get("reset"):
            self._journal.add(
                Again(self._all, lambda part, games: part.call(method, {"reset": True, "games": games.tobytes()}))
            )
        return answer

    def _fetch(self, **options: bool) -> dict[str, Any]:
        """Fetch some records, which are kept here, and return the answer."""
        answer: dict[str, Any] = self.inner.call("records", options)
        self._lines += answer["lines"]
        assert self._record is not None
        self._record |= {name: answer[name] for name in ("given", "dropped", "interrupted")}
        return answer

    def _records(self, options: dict[str, bool]) -> dict[str, Any]:
        last = self.retry(lambda: self._fetch(**options))
        if not last["recording"] and not last["waiting"]:
            self._record = None  # the server has forgotten the recording
        lines, self._lines = self._lines, b""
        return last | {"lines": lines}

    def show(self, memory: StepMemory, method: str, *params: Any) -> None:
        heavy = method == "resume" or bool(self.policies.by_name)  # whose answers are not in the journal

        def ask(part: SocketTransport) -> None:
            part.show(memory if part is self.inner else part.memory(), method, *params)

        self._change_all(ask, heavy)

    @property
    def leaf(self) -> SocketTransport:
        return self.inner.leaf

    def _before_step(self) -> None:
        if self._journal.lengths[0] >= self._healing.every:
            self.save()

    def _after_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        self._interrupted = False
        rows = actions.copy().reshape(len(self._all), -1)
        self.log(self._all, rows, memory.arrays.get("moves", rows[:, :0]))

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        """Step on this server, or on another one if it has gone, and note what a third one would need."""
        self._before_step()
        self._change(lambda: self.inner.step(actions, memory))
        self._after_step(actions, memory)

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        self._before_step()
        posted = self.retry(lambda: self.inner.post_step(actions, memory))
        return self.inner, posted, actions, memory

    def wait(self, future: Any) -> None:
        """Wait for a step that was posted; if the server has gone, make it again on another one."""
        at, posted, actions, memory = future
        self._interrupted = False  # when it was waited for before
        self._change(lambda: self.inner.wait(posted) if self.inner is at else self.inner.step(actions, memory))
        self._after_step(actions, memory)

    def upload(self, user: object, game: str, files: Mapping[str, tuple[str, bytes]]) -> None:
        self._user = (user, game)
        self.retry(lambda: self.inner.upload(user, game, files))
        self._files.update(files)
        self._kept = {*self._kept, *files}

    def release(self, user: object, keep: Collection[str] = ()) -> None:
        self._kept = keep
        self.retry(lambda: self.inner.release(user, keep))

    def close(self, own_client: bool) -> None:
        self.inner.close(own_client)
