"""Checkpoints of environments: saving their games with the agents that play in them, and continuing exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, CheckpointError
from ..formats.checkpoint_file import Checkpoint, Part, runs, split_games
from ..formats.opponents import Lineup
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .batch import Obs
from .opponents import Opposition

_PACKAGE = (Path(__file__).parents[1] / "VERSION").read_text(encoding="ascii").strip()
_MESSAGE = 4096  # bytes of a request besides its games


class Checkpoints(Opposition):
    """The part of BlockVectorEnv that saves and continues its games."""

    _first: int
    _first_seed: int | list[int | None] | None
    _seeded: NDArray[np.bool_]
    _resumed: tuple[StepMemory, int] | None

    def checkpoint(self) -> bytes:
        """Return all games as bytes, from which :meth:`restore_checkpoint` continues them exactly.

        The bytes hold the states of the games and their random generators, the opponents that play in them with what
        they remember, the opponents of later episodes with their weights, the policy of :meth:`rollout`, and the
        counters of this environment. They do not hold the generators of your own program, nor a recording.

        Raises:
            NeedsResetError: the environment was not reset yet.
            RequestError: an opponent cannot be continued exactly: its search has a time limit (``time=``), or it is a
                program (``exec:``).
            RuntimeError: a step is in progress.
        """
        self._refuse_pending("checkpoint")
        self._current()
        return save([self]).to_bytes()

    def restore_checkpoint(self, data: bytes) -> tuple[Obs, dict[str, Any]]:
        """Continue the games of a checkpoint, exactly as the environment that was saved would have.

        That environment may have been another process, with another server, transport or number of servers. It must
        have had the same game, version of the rules, ``num_envs``, ``seats``, seats with opponents, ``rows``,
        ``autoreset_mode``, ``reward``, ``illegal`` and ``max_episode_steps``. The opponents become those of the
        checkpoint. Episodes that were being recorded here are left out of the record.

        Returns:
            The observations and infos of all rows, as they were after the last step or reset before the checkpoint.

        Raises:
            CheckpointError: data is no checkpoint, damaged, of another version, or of another environment; the message
                says which. Nothing has changed, unless the games needed more than one message or server: then restore
                again or reset.
            RequestError: the server lacks an opponent, or does not allow it.
            RuntimeError: a step is in progress.
        """
        self._refuse_pending("restore_checkpoint")
        resume([self], Checkpoint.from_bytes(data))
        self._resumed = None
        memory = self._current()
        return memory.observation(), self._infos(memory)

    def _show(self, memory: StepMemory) -> None:
        raise NotImplementedError

    # -- what the client keeps -----------------------------------------------------------

    def _kept(self) -> dict[str, Any]:
        """Return what a checkpoint says about this side of the connection."""
        counts = self.opponent_stats()
        return {
            "afterstate_calls": self._afterstate_calls,
            "actions": self._illegal.actions,
            "illegal": self._illegal.illegal,
            "opponents": list(self.opponent_specs),
            "opponent_stats": [[s.wins, s.draws, s.losses, s.truncated] for s in counts.values()],
        }

    def _keep(self, kept: dict[str, Any], head: dict[str, Any]) -> None:
        """Take over what _kept returned, and the opponents and the policy of the head."""
        self._afterstate_calls = kept["afterstate_calls"]
        self._illegal.actions, self._illegal.illegal = kept["actions"], kept["illegal"]
        specs = head["opponents"]
        self._handle.opponents[:] = specs
        self._names = dict(zip(specs, kept["opponents"], strict=True))
        wire: dict[int, str | list[tuple[str, float]]] = {
            seat: [(specs[entry["number"]], entry["weight"]) for entry in mixture]
            for seat, mixture in enumerate(head["mixtures"])
            if mixture
        }
        self._lineup = Lineup(wire, {}, dict(self._names))
        self._policy = Lineup({0: head["policy"]}) if head["policy"] else None
        self._keep_weights()
        self.opponent_stats(reset=True)
        self._counted = np.array(kept["opponent_stats"], np.uint64).reshape(-1, 4).T
        self._seeded[:] = True
        self._first_seed = None


def save(envs: Sequence[Checkpoints]) -> Checkpoint:
    """Return the games of environments whose games follow one another, such as those of a pool."""
    out = Checkpoint(envs[0].game_spec.name, envs[0]._first, _PACKAGE)
    for env in envs:
        for part in env._transport.parts:
            part.client.require("checkpoint", "checkpoint()")
            saved = Part(b"", [])
            for page in part.pages("checkpoint", np.arange(part.handle.games, dtype="<u4")):
                saved.head = page["head"]
                saved.games += split_games(page["games"])
                for name in page["weights"]:
                    if name not in out.weights:
                        out.weights[name] = part.call("weights", name)["weights"]
            out.parts.append(saved)
        out.client.append(env._kept())
    _head(out)
    return out


def _head(data: Checkpoint) -> dict[str, Any]:
    """Return what the server says of all games of a checkpoint.

    Raises:
        CheckpointError: it says different things of its parts.
    """
    heads: list[dict[str, Any]] = [json.loads(part.head) for part in data.parts]
    if any(head != heads[0] for head in heads[1:]):
        raise CheckpointError(
            "the environments have different opponents or rollout policies: save each by its own checkpoint()"
        )
    return heads[0]


def resume(envs: Sequence[Checkpoints], data: Checkpoint) -> None:
    """Continue the games of a checkpoint in environments whose games follow one another.

    Raises:
        CheckpointError: they do not fit.
    """
    games = sum(env.num_games for env in envs)
    for name, have, want in (
        ("game", data.game, envs[0].game_spec.name),
        ("num_envs", data.games, games),
        ("first", data.first, envs[0]._first),
    ):
        if have != want:
            raise CheckpointError(
                f"{name} is {have} in the checkpoint and {want} in this environment: create it with {name}={have!r}"
            )
    head = _head(data)
    kept = _per_env(data.client, len(envs))
    games_left = [game for part in data.parts for game in part.games]
    for env, mine in zip(envs, kept, strict=True):
        memory = env._next_memory()
        try:
            for part, place in zip(env._transport.parts, env._transport.places(memory), strict=True):
                part.client.require("checkpoint", "restore_checkpoint()")
                part.upload(env._user, env.game_spec.name, _files(data, head))
                _send(part, place, data.parts[0].head, games_left[: part.handle.games])
                del games_left[: part.handle.games]
        except BaseException:
            env._keep_weights()
            raise
        env._keep(mine, head)
        env._infos(memory)  # notes in memory which rows must act
        env._show(memory)
        env._resumed = (memory, memory.generation)


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

    Raises:
        CheckpointError: it depends on the environment.
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
