"""The opponents of a vector environment while it runs: who plays, replacing them, and the results against each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError
from ..formats.opponents import UPLOADED, Lineup, Opponents, OpponentStats, opponents_by_seat, read_lineup, read_policy
from ..transport.layout import Handle
from ..transport.session import Session
from .search import Search

_WEIGHTS = re.compile(rf"weights=({UPLOADED}[0-9a-f]{{64}})")
_NONE = np.zeros((4, 0), np.uint64)


class Opposition(Search):
    """The part of BlockVectorEnv for the seats that the server plays."""

    client: Session
    _lineup: Lineup | None = None
    _policy: Lineup | None = None
    _counted: NDArray[np.uint64]  # (4, specs): results from before a checkpoint

    def _enlist(self, session: Session, opponents: Opponents, seats: int) -> dict[int, Any]:
        """Return opponents as the request ``open`` takes them."""
        if self._lineup is None:
            self._lineup = read_lineup(opponents_by_seat(opponents, seats), "trust_specs" in session.features)
            self._names: dict[str, str] = {}  # what the caller calls a spec of the server
            self._user = object()
            self._counted = _NONE
        return self._lineup.wire

    def _open(self, session: Session, options: dict[str, Any], files: Mapping[str, tuple[str, bytes]]) -> Handle:
        """Open the games on a server, after uploading the weights that the opponents name."""
        try:
            session.uploads.use(self._user, self.game_spec.name, files)
            return session.open(self.game_spec.name, options)
        except BaseException:
            session.uploads.release(self._user)
            raise

    def _dismiss(self) -> None:
        """Let sessions that go on drop the weights that only this environment used."""
        for part in self._transport.parts:
            part.release(self._user)

    @property
    def opponent_specs(self) -> tuple[str, ...]:
        """The opponents that have been in ``opponents`` so far, indexed by ``infos["opponent"]``.

        They are named as you named them. If a weights file has changed between two calls of :meth:`set_opponents`, the
        new content is another opponent, named ``SPEC@`` and the first digits of its SHA-256. Files of the same content
        are one opponent.
        """
        self._name_opponents()
        return tuple(self._names.values())

    def _name_opponents(self) -> None:
        """Give names to the specs that are new."""
        assert self._lineup is not None
        for spec in self._handle.opponents[len(self._names) :]:
            name = self._lineup.names.get(spec, spec)
            if name in self._names.values() and (found := _WEIGHTS.search(spec)):
                name = f"{name}@{found[1].removeprefix(UPLOADED)[:8]}"
            self._names[spec] = name

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents, from the next episode of each game on.

        Args:
            opponents: as in :func:`blockyard.make_vec`. A spec or a mixture is for all seats that have opponents; a
                dict by seat changes only the seats in it. Local weights files are read now.

        Raises:
            RequestError, LimitError: the server refuses a spec, or you drive the seat; nothing has changed.
            TypeError, ValueError, OSError: opponents is malformed, or a weights file cannot be read.
        """
        self._refuse_pending("set_opponents")
        assert self._lineup is not None
        others = [seat for seat in range(self.seats) if seat not in self.players]
        by_seat = opponents_by_seat(opponents, self.seats, others)
        if not others:
            raise ValueError("set_opponents: you drive every seat; create the environment with opponents=")
        if not by_seat:
            raise ValueError(f"set_opponents: got {opponents!r:.100}, want opponents for some of the seats {others}")
        parts = self._transport.parts
        self._name_opponents()
        lineup = read_lineup(by_seat, "trust_specs" in parts[0].client.features)
        changed, first, specs = [], len(self._handle.opponents), []
        try:
            for part in parts:
                part.upload(self._user, self.game_spec.name, lineup.files)
            for part in parts:
                answer = part.call("set_opponents", lineup.wire)
                changed.append(part)
                if answer["first"] != first:
                    raise BlockyardError("set_opponents failed on one of the servers before: create a new environment")
                specs = answer["opponents"]
        except BaseException:
            for part in changed:
                part.call("set_opponents", self._lineup.wire)
            self._keep_weights()
            raise
        self._handle.opponents.extend(specs)
        wire = self._lineup.wire | lineup.wire
        self._lineup = Lineup(wire, {}, lineup.names)
        self._keep_weights()

    def _keep_weights(self) -> None:
        """Drop the weights that no opponent and no policy needs now."""
        keep: set[str] = set()
        for lineup in filter(None, (self._lineup, self._policy)):
            for mixture in lineup.wire.values():
                entries = [(mixture, 1.0)] if isinstance(mixture, str) else mixture
                keep.update(name for spec, _ in entries for name in _WEIGHTS.findall(spec))
        for part in self._transport.parts:
            part.release(self._user, keep)

    def _send_policy(self, policy: str) -> str:
        """Return the spec of a rollout's policy as it is sent, after uploading the weights that it names."""
        sent, lineup = read_policy(policy, "trust_specs" in self.client.features)
        for part in self._transport.parts:
            part.upload(self._user, self.game_spec.name, lineup.files)
        lineup.wire[0] = sent
        self._policy = lineup
        self._keep_weights()
        return sent

    def opponent_stats(self, *, reset: bool = False) -> dict[str, OpponentStats]:
        """Return wins, draws, losses and score against each opponent, by its name in :attr:`opponent_specs`.

        Each finished episode counts once, also in rollouts; episodes that ``reset`` abandons do not count.

        Args:
            reset: start to count again from zero.
        """
        self._refuse_pending("opponent_stats")
        names = self.opponent_specs
        counts = np.zeros((4, len(names)), np.uint64)
        for part in self._transport.parts:
            answer = part.call("opponent_stats", {"reset": reset})
            for k, key in enumerate(("wins", "draws", "losses", "truncated")):
                counts[k, : answer["count"]] += np.frombuffer(answer[key], "<u8")
        counts[:, : self._counted.shape[1]] += self._counted
        if reset:
            self._counted = _NONE
        return {name: OpponentStats(*map(int, counts[:, k])) for k, name in enumerate(names)}
