"""The opponents of a vector environment while it runs: who plays, replacing them, and the results against each."""

import re
from collections.abc import Collection
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, CheckpointError, RequestError
from ..formats.opponents import ASKED, UPLOADED, Lineup, Opponents, OpponentStats, Policy, policy_name
from ..transport.over_socket import SocketTransport
from .opening import Opening

_WEIGHTS = re.compile(rf"weights=({UPLOADED}[0-9a-f]{{64}})")
_HASH = re.compile(rf"(?:weights=|^{ASKED}.*@){UPLOADED}([0-9a-f]{{64}})")


class OpponentSeats:
    """Replaces the opponents of games, names them, and counts the results against each.

    Attributes:
        user: stands for the environment where sessions count who uses uploaded weights.
        lineup: the opponents of the next episodes.
        policies: those of this program among the opponents.
        policy: the last policy of a rollout; None if there was none.
    """

    def __init__(self, transport: SocketTransport, opening: Opening) -> None:
        """Take over the opponents with which the games were opened."""
        self._transport, self._game = transport, opening.spec.name
        self.lineup, self.user, self.policies = opening.lineup, opening.user, opening.policies
        self.policies.use(self.lineup.policies)
        self._known = transport.handle.opponents
        self.policy: Lineup | None = None
        self._names: dict[str, str] = {}  # what the caller calls a spec of the server

    @property
    def specs(self) -> tuple[str, ...]:
        """The opponents so far; see :attr:`BlockVectorEnv.opponent_specs`."""
        self._name_opponents()
        return tuple(self._names.values())

    @property
    def hashes(self) -> tuple[str | None, ...]:
        """The hashes of their weights; see :attr:`BlockVectorEnv.opponent_hashes`."""
        found = map(_HASH.search, self._known)
        return tuple(hit and hit[1] for hit in found)

    def _name_opponents(self) -> None:
        for spec in self._known[len(self._names) :]:
            name = self.lineup.names.get(spec, spec)
            if name in self._names.values() and (found := _WEIGHTS.search(spec)):
                name = f"{name}@{found[1].removeprefix(UPLOADED)[:8]}"
            self._names[spec] = name

    def _name_policy(self, policy: Policy, others: Collection[str]) -> str:
        """Return the name of a policy, which is not that of a spec so far: their results stay apart."""
        specs = {name for sent, name in self._names.items() if policy_name(sent) is None}
        return self.policies.name(policy, {*others, *specs})

    @property
    def rungs(self) -> NDArray[np.int64] | None:
        """The rung of each opponent in the curriculum, by its number, -1 for none; None without a curriculum."""
        if not self.lineup.how:
            return None
        places = {spec: k for k, (spec, _) in enumerate(next(iter(self.lineup.wire.values())))}
        return np.array([places.get(spec, -1) for spec in self._known], np.int64)

    def set(self, opponents: Opponents) -> None:
        """Replace opponents; see :meth:`BlockVectorEnv.set_opponents`."""
        handle, parts = self._transport.handle, self._transport.parts
        if not (others := [seat for seat in range(handle.seats) if seat not in handle.players]):
            raise ValueError("set_opponents: you drive every seat; create the environment with opponents=")
        self._name_opponents()
        trusted = "trust_specs" in parts[0].client.features
        lineup = Lineup.of(opponents, self._game, handle.seats, trusted, self._name_policy, others)
        if not lineup.wire:
            raise ValueError(f"set_opponents: got {opponents!r:.100}, want opponents for some of the seats {others}")
        self.policies.refuse({name for sent, name in lineup.names.items() if policy_name(sent) is None})
        first, specs = len(self._known), []
        with ExitStack() as undo:
            undo.callback(self.keep_weights)
            for part in parts:
                part.upload(self.user, self._game, lineup.files)
            for part in parts:
                answer = part.call("set_opponents", lineup.wire, lineup.how)
                undo.callback(part.call, "set_opponents", self.lineup.wire, self.lineup.how)
                if answer["first"] != first:
                    raise BlockyardError("set_opponents failed on one of the servers before: create a new environment")
                specs = answer["opponents"]
            undo.pop_all()
        self._known.extend(specs)
        self.lineup = Lineup(self.lineup.wire | lineup.wire, {}, lineup.names, {}, lineup.how)
        now = set(map(policy_name, self.lineup.entries))
        self.policies.use({k: p for k, p in (self.policies.by_name | lineup.policies).items() if k in now})
        self.keep_weights()

    def seen(self, playing: NDArray[np.uint16]) -> None:
        """Forget policies that do not play any more; playing are the opponents in all games."""
        if self.policies.by_name:
            self.policies.seen(playing, self._known)

    def keep_weights(self) -> None:
        """Drop the weights that no opponent and no policy needs now."""
        keep: set[str] = set()
        for lineup in filter(None, (self.lineup, self.policy)):
            keep.update(name for spec in lineup.entries for name in _WEIGHTS.findall(spec))
        for part in self._transport.parts:
            part.release(self.user, keep)

    def send_policy(self, policy: str) -> str:
        """Return the spec of a rollout's policy as it is sent, after uploading the weights that it names."""
        if self.policies.by_name:
            raise RequestError("rollout: the server cannot ask the policies of this program; call step")
        if not isinstance(policy, str):
            raise TypeError(f"policy: want a spec such as 'hand', which the server plays, got {policy!r:.100}")
        lineup = Lineup()
        sent = lineup.read("policy", policy, "trust_specs" in self._transport.client.features)
        for part in self._transport.parts:
            part.upload(self.user, self._game, lineup.files)
        lineup.wire[0] = [(sent, 1.0)]
        self.policy = lineup
        self.keep_weights()
        return sent

    def stats(self, reset: bool = False) -> dict[str, OpponentStats]:
        """Return the results against each opponent; see :meth:`BlockVectorEnv.opponent_stats`."""
        names = self.specs
        counts = np.zeros((4, len(names)), np.uint64)
        for part in self._transport.parts:
            answer = part.call("opponent_stats", {"reset": reset})
            for k, key in enumerate(("wins", "draws", "losses", "truncated")):
                counts[k, : answer["count"]] += np.frombuffer(answer[key], "<u8")
        return {name: OpponentStats(*map(int, counts[:, k])) for k, name in enumerate(names)}

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint holds of the opponents besides what the server says."""
        return {"opponents": list(self.specs), "policies": sorted(self.policies.by_name)}

    def check(self, saved: dict[str, Any], head: dict[str, Any]) -> None:
        """Raise CheckpointError unless the policies of what :meth:`saved` returned are here, by their names."""
        mixtures = {policy_name(head["opponents"][one["number"]]) for m in head["mixtures"] for one in m}
        needed = {name for name in mixtures | set(saved["policies"]) if name is not None}
        if missing := sorted(needed - self.policies.by_name.keys()):
            raise CheckpointError(
                f"the checkpoint has the opponents {missing}, policies that are not here: name them so, and pass them "
                f"in opponents=; here are {sorted(self.policies.by_name)}"
            )

    def resume(self, saved: dict[str, Any], head: dict[str, Any]) -> None:
        """Take over what :meth:`saved` returned, and the opponents and the policy that the server saved."""
        specs = head["opponents"]
        self._known[:] = specs
        self._names = dict(zip(specs, saved["opponents"], strict=True))
        wire = {
            seat: [(specs[entry["number"]], entry["weight"]) for entry in mixture]
            for seat, mixture in enumerate(head["mixtures"])
            if mixture
        }
        climb = head.get("curriculum")
        self.lineup = Lineup(wire, {}, dict(self._names), {}, {"curriculum": climb} if climb else {})
        now, mine = set(map(policy_name, self.lineup.entries)), self.policies.by_name
        self.policies.by_name = {name: mine[name] for name in mine.keys() & {*saved["policies"], *now}}
        self.policies.use({name: policy for name, policy in self.policies.by_name.items() if name in now})
        self.policy = Lineup({0: [(head["policy"], 1.0)]}) if head["policy"] else None
        self.keep_weights()

    def free(self, own_client: bool) -> None:
        """Free the games; on a session that stays open, drop the weights that only they used."""
        self._transport.close(own_client)
        for part in self._transport.parts:
            part.release(self.user)
