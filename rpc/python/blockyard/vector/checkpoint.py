"""Checkpoints of environments: saving their games with the agents that play in them, and continuing exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BlockyardError, CheckpointError
from ..formats.checkpoint_file import Checkpoint, Part, runs, split_games
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .batch import Batch
from .opponents import OpponentSeats
from .requests import Requests
from .search import Search
from .steps import Steps

_PACKAGE = (Path(__file__).parents[1] / "VERSION").read_text(encoding="ascii").strip()
_MESSAGE = 4096  # bytes of a request besides its games


class Checkpoints:
    """Saves and continues the games of one environment.

    Attributes:
        first: number of the first game.
        game: name of the game, with its variant.
        count: the number of games.
    """

    def __init__(
        self, first: int, requests: Requests, batch: Batch, steps: Steps, search: Search, opponents: OpponentSeats
    ) -> None:
        self.first, self.game, self.count = first, batch.spec.name, batch.num_games
        self._requests, self._batch, self._steps = requests, batch, steps
        self._search, self._opponents = search, opponents

    def save(self) -> bytes:
        """Return all games as bytes; see :meth:`BlockVectorEnv.checkpoint`."""
        self._requests.check("checkpoint")
        assert self._batch.current is not None
        return save([self]).to_bytes()

    def restore(self, data: bytes) -> None:
        """Continue the games of a checkpoint; see :meth:`BlockVectorEnv.restore_checkpoint`."""
        self._requests.check("restore_checkpoint")
        resume([self], Checkpoint.from_bytes(data))
        self._steps.resumed = None

    def add_to(self, out: Checkpoint) -> None:
        """Add these games to a checkpoint."""
        for part in self._requests.transport.parts:
            part.client.require("checkpoint", "checkpoint()")
            saved = Part(b"", [])
            for page in part.pages("checkpoint", np.arange(part.handle.games, dtype="<u4")):
                saved.head = page["head"]
                saved.games += split_games(page["games"])
                for name in page["weights"]:
                    if name not in out.weights:
                        out.weights[name] = part.call("weights", name)["weights"]
            out.parts.append(saved)
        illegal = self._batch.illegal
        own = {
            "afterstate_calls": self._search.afterstate_calls,
            "actions": illegal.actions,
            "illegal": illegal.illegal,
        }
        out.client.append(own | self._opponents.saved())

    def take_from(self, data: Checkpoint, head: dict[str, Any], games: list[bytes], own: dict[str, Any]) -> None:
        """Continue some games of a checkpoint.

        Args:
            data: the checkpoint.
            head: what the server says of all its games.
            games: those that are left; these games are removed from it.
            own: what :meth:`add_to` added for the client.
        """
        memory, transport = self._steps.next_memory(), self._requests.transport
        try:
            for part, place in zip(transport.parts, transport.places(memory), strict=True):
                part.client.require("checkpoint", "restore_checkpoint()")
                part.upload(self._opponents.user, self.game, _files(data, head))
                _send(part, place, data.parts[0].head, games[: part.handle.games])
                del games[: part.handle.games]
        except BaseException:
            self._opponents.keep_weights()
            raise
        self._search.afterstate_calls = own["afterstate_calls"]
        self._batch.illegal.actions, self._batch.illegal.illegal = own["actions"], own["illegal"]
        self._opponents.resume(own, head)
        self._steps.resume(memory)
        self._batch.complete(memory, False)


def save(parts: Sequence[Checkpoints]) -> Checkpoint:
    """Return the games of environments whose games follow one another, such as those of a pool."""
    out = Checkpoint(parts[0].game, parts[0].first, _PACKAGE)
    for games in parts:
        games.add_to(out)
    _head(out)
    return out


def _head(data: Checkpoint) -> dict[str, Any]:
    """Return what the server says of all games of a checkpoint.

    Raise CheckpointError if it says different things of its parts.
    """
    heads: list[dict[str, Any]] = [json.loads(part.head) for part in data.parts]
    if any(head != heads[0] for head in heads[1:]):
        raise CheckpointError(
            "the environments have different opponents or rollout policies: save each by its own checkpoint()"
        )
    return heads[0]


def resume(parts: Sequence[Checkpoints], data: Checkpoint) -> None:
    """Continue the games of a checkpoint in environments whose games follow one another.

    Raise CheckpointError if they do not fit.
    """
    for name, have, want in (
        ("game", data.game, parts[0].game),
        ("num_envs", data.games, sum(games.count for games in parts)),
        ("first", data.first, parts[0].first),
    ):
        if have != want:
            raise CheckpointError(
                f"{name} is {have} in the checkpoint and {want} in this environment: create it with {name}={have!r}"
            )
    head = _head(data)
    left = [game for part in data.parts for game in part.games]
    for games, own in zip(parts, _per_env(data.client, len(parts)), strict=True):
        games.take_from(data, head, left, own)


def _send(part: SocketTransport, memory: StepMemory, head: bytes, games: list[bytes]) -> None:
    """Resume the games of one server, as many at a time as fit into one message."""
    room = part.client.limits.get("max_message", 1 << 20) - len(head) - _MESSAGE
    for start, end in runs(games, room):
        ids = np.arange(start, end, dtype="<u4")
        try:
            part.show(memory, "resume", ids.tobytes(), head, b"".join(games[start:end]), {})
        except BlockyardError as error:
            if error.name != "bad_state":
                raise
            raise CheckpointError(str(error), code=error.code, name=error.name, data=error.data) from None


def _files(data: Checkpoint, head: dict[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Return the weights in the form in which they are uploaded: by name, with a spec that uses them."""
    specs = [*head["opponents"], head["policy"]]
    return {
        name: (next((s for s in specs if f"weights={name}" in s), f"learned:weights={name}"), content)
        for name, content in data.weights.items()
    }


def _per_env(client: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return what each of count environments is to keep, if another number of them was saved.

    Raise CheckpointError if it depends on the environment.
    """
    if len(client) == count:
        return client
    calls = {one["afterstate_calls"] for one in client}
    if len(calls) != 1:
        raise CheckpointError(
            f"the checkpoint has {len(client)} environments that called afterstates() a different number of times: "
            f"restore it into {len(client)} environments"
        )
    names = max((one["opponents"] for one in client), key=len)
    total = np.sum([np.array(one["opponent_stats"], np.int64).reshape(-1, 4) for one in client], axis=0)
    first = {
        "afterstate_calls": calls.pop(),
        "actions": sum(one["actions"] for one in client),
        "illegal": sum(one["illegal"] for one in client),
        "opponents": names,
        "opponent_stats": total.tolist(),
    }
    none = first | {"actions": 0, "illegal": 0, "opponent_stats": (0 * total).tolist()}
    return [first, *([none] * (count - 1))]
