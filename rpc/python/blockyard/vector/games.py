"""What environments of every form do with their games: who plays against them, results, recordings, checkpoints."""

import operator
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..errors import on_error
from ..formats.arguments import Ids, game_ids, positive
from ..formats.checkpoint_file import Checkpoint
from ..formats.opponents import Opponents, OpponentStats, by_number
from ..formats.records import RecordFile
from .checkpoint import resume, save
from .engine import Engine
from .options import Path
from .recording import Recording, Source, end, follow, forget, repair

G = TypeVar("G", bound="Games")


class Games:
    """The games of an engine: a base class of environments."""

    engine: Engine

    def _before(self, method: str) -> None:
        """Refuse a method that may not be called now."""
        self.engine.check(method)

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents, from the next episode of each game on; opponents are as in :func:`blockyard.make_vec`.

        A spec or a mixture is for all seats that have opponents; a dict by seat changes only the seats in it. Local
        weights files are read now (OSError). RequestError, LimitError: the server refuses a spec, or you drive the
        seat; nothing has changed.
        """
        self._before("set_opponents")
        self.engine.set_opponents(opponents)

    def opponent_stats(self, *, reset: bool = False) -> dict[str, OpponentStats]:
        """Return wins, draws, losses and score against each opponent, by its name in :attr:`opponent_specs`.

        Each finished episode counts once, also in rollouts; episodes that ``reset`` abandons do not count. With
        ``reset=True`` counting starts again from zero.
        """
        return self.engine.opponent_stats(reset)

    @property
    def opponent_specs(self) -> tuple[str, ...]:
        """The opponents that have been in ``opponents`` so far, indexed by ``infos["opponent"]``.

        They are named as you named them. If a weights file has changed between two calls of :meth:`set_opponents`, the
        new content is another opponent, named ``SPEC@`` and the first digits of its SHA-256. Files of the same content
        are one opponent.
        """
        return self.engine.opponents.specs

    @property
    def opponent_hashes(self) -> tuple[str | None, ...]:
        """The SHA-256 of the weights of each of :attr:`opponent_specs`, as 64 hexadecimal digits.

        None for an opponent without a file of weights, and for a policy without an attribute ``sha256``.
        """
        return self.engine.opponents.hashes

    def record(
        self,
        path: Path,
        every: int = 100,
        *,
        envs: Ids = None,
        players: Mapping[int, str] | str | None = None,
        max_games: int | None = None,
        max_bytes: int = 1 << 30,
        append: bool = False,
        memory: int | None = None,
    ) -> Recording:
        """Record whole games into a file, from the next episode of each game on; docs/recording.md has every detail.

        Args:
            path: the file, of JSON lines; compressed if its name ends in ``.gz``.
            every: one in this many episodes is recorded: of game i episode k if i + k is a multiple of it.
            envs: indices of the games to choose from; None: all.
            players: names of the client's seats in the records, by default ``"policy"``: one for all, or by seat.
            max_games, max_bytes: recording ends after so many games, or before the file would become longer.
            append: whether to append to an existing file, which is otherwise refused by FileExistsError.
            memory: bytes of each server's memory for games that are not fetched yet, 64 KiB to 1 GiB; by default 8 MiB,
                and 4 KiB for each game recorded at a time. If it is full, the oldest are lost, with a warning.

        Raises:
            OSError: the file cannot be created; or, as BlockingIOError, another recording is writing it.
            RuntimeError: the games are being recorded already.
            RequestError, LimitError: the server refuses an argument, or cannot record.
        """
        self._before("record")
        if self.recording is not None and self.recording.state == "recording":
            raise RuntimeError(f"record: already recording to {self.recording.path}; call stop_recording first")
        how = {"every": positive("every", every)} | ({} if memory is None else {"memory": operator.index(memory)})
        parts = self.engine.transport.parts
        ends, ids = np.cumsum([part.handle.games for part in parts]), None
        if envs is not None and not len(ids := np.unique(game_ids(envs, int(ends[-1]), "envs"))):
            raise ValueError("envs: got an empty list, want at least one game, or None for all")
        most = None if max_games is None else positive("max_games", max_games)
        file, sources = RecordFile(path, repair if append else None), list[Source]()
        with on_error(partial(forget, sources), file.discard):
            for part, last in zip(parts, ends, strict=True):
                names = dict.fromkeys(part.handle.players, players) if isinstance(players, str) else dict(players or {})
                named = {operator.index(seat): name for seat, name in by_number(names).items()}
                mine: dict[str, Any] = how | {"players": named}
                if ids is not None:
                    some = ids[(ids >= last - part.handle.games) & (ids < last)] - (last - part.handle.games)
                    mine["games"] = some.astype("<u4").tobytes()
                if mine.get("games") != b"":
                    part.call("record", mine)
                    sources.append(Source(part, how.get("memory", 8 << 20)))
            recording = Recording(file, sources, most, positive("max_bytes", max_bytes))
        follow(self.engine, recording)
        return recording

    def _record_as(self, record: Path | Mapping[str, Any] | None) -> None:
        """Start what the argument ``record`` of make_vec asks for: a path, or the arguments of :meth:`record`."""
        if isinstance(record, Mapping):
            self.record(**record)
        elif isinstance(record, (str, os.PathLike)):
            self.record(record)
        elif record is not None:
            raise TypeError(f"record: want a path, or a dict of the arguments of env.record, got {record!r:.100}")

    def stop_recording(self) -> Recording:
        """Write the games that have ended, without those in progress, and end the recording; RuntimeError: none."""
        self._before("stop_recording")
        if (recording := self.recording) is None:
            raise RuntimeError("stop_recording: nothing is being recorded; call record first")
        end(self.engine)
        return recording

    @property
    def recording(self) -> Recording | None:
        """The current or last recording; None if there was none."""
        recording: Recording | None = self.engine.recording
        return recording

    def checkpoint(self) -> bytes:
        """Return all games as bytes, from which ``restore_checkpoint`` continues them exactly.

        They hold the games, the opponents and the counters, but neither the generators of your own program nor a
        recording; see docs/checkpoint.md. RequestError: an opponent cannot be continued exactly: its search has a time
        limit (``time=``), or it is a program (``exec:``).
        """
        self._before("checkpoint")
        return save(self.engine).to_bytes()

    def _resume(self, data: bytes | None) -> None:
        """Continue the games of a checkpoint, if it is one."""
        if data is not None:
            resume(self.engine, Checkpoint.from_bytes(data))

    def __enter__(self: G) -> G:
        return self

    def __exit__(self, *args: Any) -> Any:
        self.close()  # type: ignore[attr-defined]
