"""The numbers that the server's trained players look at, for nets that shall become such players.

A net over them, saved as safetensors with :meth:`FeatureFacts.metadata`, is one that
``agents arena --a learned:weights=FILE`` plays and ``train export`` makes a contest bot of;
see ``examples/td_afterstates.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .asking import Ids, one_seed
from .errors import RequestError
from .positions import Afterstates, Legal
from .vector import BlockVectorEnv


@dataclass(frozen=True)
class FeatureFacts:
    """What a file of weights for a game says of the net in it.

    Attributes:
        game: the game, without its variant.
        rules: version of its rules.
        names: of the features, in order.
        own: how many of them change with a seat's own choices; they come first.
    """

    game: str
    rules: int
    names: tuple[str, ...]
    own: int

    def metadata(self, **notes: str) -> dict[str, str]:
        """Return the metadata of a safetensors file, with notes of your own.

        The tensors beside it are ``fc0.weight`` [out, in], ``fc0.bias``, ``fc1.weight`` and so on,
        float32, leaky ReLUs of slope 0.01 between them, and one output that is higher where the
        seat's position is better.
        """
        return {"game": self.game, "rules": str(self.rules), "features": json.dumps(self.names)} | notes


@dataclass(frozen=True)
class Features:
    """For each legal action of each row, the features of the position after that seat alone has played it.

    Attributes:
        indptr: uint32 (rows + 1,); those of row k are ``indptr[k]:indptr[k + 1]`` of the rest.
        actions: uint16 (m,), ascending within a row.
        features: float32 (m, F), read-only; zero where done.
        reward: float32 (m,), the change of the seat's reward measure.
        done: bool (m,), whether the game is then over.
    """

    indptr: NDArray[np.uint32]
    actions: NDArray[np.uint16]
    features: NDArray[np.float32]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64 (rows,): how many actions each row has."""
        return Legal(self.indptr, self.actions).counts

    @property
    def row(self) -> NDArray[np.int64]:
        """int64 (m,): the row each one belongs to."""
        return np.repeat(np.arange(len(self.indptr) - 1), self.counts)

    def best(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return for each row the index of its greatest value, int64 (rows,); -1 where it has none."""
        nothing = self.features[:, :0]
        same = Afterstates(self.indptr, self.actions, nothing.view(np.uint8), nothing, self.reward, self.done)
        return same.best(values)


def feature_facts(env: BlockVectorEnv) -> FeatureFacts:
    """Return names and number of the features of an environment's game.

    Raises:
        RequestError: nobody is told features in this game, or the server is too old to tell them.
    """
    _check(env)
    d = env.client.connection.call("feature_names", env.facts.name)
    return FeatureFacts(d["game"], d["rules"], tuple(d["features"]), d["own"])


def acting_seats(env: BlockVectorEnv) -> NDArray[np.uint8]:
    """Return whose row each row is now, uint8 (num_envs,); 255 where nobody acts."""
    return env._current().seat.copy()


def features(env: BlockVectorEnv, env_ids: Ids = None, *, seed: int | None = None) -> Features:
    """Return the features of the position after each legal action of the rows of these games.

    Args:
        env: the environment.
        env_ids: its games; None for all.
        seed: of what the choices draw, as in :meth:`blockyard.BlockVectorEnv.afterstates`.

    Raises:
        RequestError: nobody is told features in this game, or the server is too old to tell them.
    """
    _check(env)
    options = [] if seed is None else [{"seed": one_seed(seed)}]
    pages = [_page(env, d) for d in env._pages("features", env_ids, *options)]
    if len(pages) == 1:
        return pages[0]
    counts = np.concatenate([page.counts for page in pages])
    indptr = np.concatenate([np.zeros(1, np.uint32), np.cumsum(counts).astype(np.uint32)])
    joined = (np.concatenate([getattr(p, k) for p in pages]) for k in ("actions", "features", "reward", "done"))
    return Features(indptr, *joined)


def _page(env: BlockVectorEnv, d: dict[str, Any]) -> Features:
    m = len(d["actions"]) // 2
    width = -1 if m else len(feature_facts(env).names)
    return Features(
        np.frombuffer(d["indptr"], "<u4"),
        np.frombuffer(d["actions"], "<u2"),
        np.frombuffer(d["features"], "<f4").reshape(m, width),
        np.frombuffer(d["reward"], "<f4"),
        np.frombuffer(d["done"], np.bool_),
    )


def _check(env: BlockVectorEnv) -> None:
    if "features" not in env.client.features:
        raise RequestError(f"features: the server, {env.client.server!r}, has no such method; it is too old")
