"""The features that the server's ``learned`` evaluators use, for networks that are to become such evaluators.

:func:`feature_spec` lists the features of a game by name, :func:`features` computes them for the
position after each legal action. A network over them, saved as safetensors with
:meth:`FeatureSpec.metadata`, loads as ``learned:weights=FILE``: ``agents arena`` plays it, and
``train export`` turns it into a contest bot. See ``examples/td_afterstates.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import Ids
from .results import best_of_rows, join_indptr, row_counts
from .seeding import check_seed
from .vector import BlockVectorEnv


@dataclass(frozen=True)
class FeatureSpec:
    """The features of a game: the inputs of its ``learned`` evaluator.

    Attributes:
        game: name of the game without its variant.
        rules: version of its rules.
        names: names of the features, in order.
        own: the number of features, the first ones, that change with the seat's own actions.
    """

    game: str
    rules: int
    names: tuple[str, ...]
    own: int

    def metadata(self, **notes: str) -> dict[str, str]:
        """Return the metadata for a safetensors file of weights; notes are added to it.

        The file has the float32 tensors ``fc0.weight`` [out, in], ``fc0.bias`` [out], ``fc1.weight`` and so on:
        a multilayer perceptron with leaky ReLUs of slope 0.01 between the layers, and one output, which is
        higher for a better position of the seat.
        """
        return {"game": self.game, "rules": str(self.rules), "features": json.dumps(self.names)} | notes


@dataclass(frozen=True)
class Features:
    """For each legal action of each row: the features of the position after that seat alone has played it.

    Attributes:
        indptr: uint32 (rows + 1,), CSR offsets: row k has entries ``indptr[k]:indptr[k + 1]`` of the other arrays.
        actions: uint16 (m,), ascending within a row.
        features: float32 (m, F), read-only; zero where done.
        reward: float32 (m,), the reward of the seat for the action.
        done: bool (m,), whether the game is over then.
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
        """int64 (rows,): number of legal actions of each row."""
        return row_counts(self.indptr)

    @property
    def row(self) -> NDArray[np.int64]:
        """int64 (m,): the row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), self.counts)

    def best(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the greatest value, (m,), of each row, int64 (rows,); -1 for a row without entries."""
        return best_of_rows(self.indptr, values)


def feature_spec(env: BlockVectorEnv) -> FeatureSpec:
    """Return the features of an environment's game.

    Raises:
        RequestError: the game defines no features, or the server is too old.
    """
    _check(env)
    d = env.client.connection.call("feature_names", env.game_spec.name)
    return FeatureSpec(d["game"], d["rules"], tuple(d["features"]), d["own"])


def acting_seats(env: BlockVectorEnv) -> NDArray[np.uint8]:
    """Return the seat of each row now, uint8 (num_envs,); 255 where nobody acts."""
    return env._current().seat.copy()


def features(env: BlockVectorEnv, env_ids: Ids = None, *, seed: int | None = None) -> Features:
    """Return the features of the position after each legal action of the rows of these games.

    Args:
        env: the environment.
        env_ids: indices of games; None means all.
        seed: of random draws, as in :meth:`blockyard.BlockVectorEnv.afterstates`.

    Raises:
        RequestError: the game defines no features, or the server is too old.
    """
    _check(env)
    options = [] if seed is None else [{"seed": check_seed(seed)}]
    pages = [_page(env, d) for d in env._pages("features", env_ids, *options)]
    if len(pages) == 1:
        return pages[0]
    joined = (np.concatenate([getattr(p, k) for p in pages]) for k in ("actions", "features", "reward", "done"))
    return Features(join_indptr([p.indptr for p in pages]), *joined)


def _page(env: BlockVectorEnv, d: dict[str, Any]) -> Features:
    m = len(d["actions"]) // 2
    width = -1 if m else len(feature_spec(env).names)
    return Features(
        np.frombuffer(d["indptr"], "<u4"),
        np.frombuffer(d["actions"], "<u2"),
        np.frombuffer(d["features"], "<f4").reshape(m, width),
        np.frombuffer(d["reward"], "<f4"),
        np.frombuffer(d["done"], np.bool_),
    )


def _check(env: BlockVectorEnv) -> None:
    env.client.require("features", "features")
