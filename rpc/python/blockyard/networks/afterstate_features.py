"""The features that the server's ``learned`` evaluators use, for networks that are to become such evaluators.

:func:`feature_facts` lists the features of a game by name, :func:`features` computes them for the
position after each legal action. :func:`blockyard.save_weights` writes a network over them, which loads as
``learned:weights=FILE``: ``agents arena`` plays it, and ``agents bundle`` makes a contest bot of it. See
docs/contest.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import Ids
from ..formats.seeding import check_seed
from ..transport.address import Tls
from ..vector.env import BlockVectorEnv
from ..vector.results import Outcomes
from ..vector.surface import asked
from .perceptron import ACTIVATION


@dataclass(frozen=True, repr=False)
class FeatureFacts:
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

    def __len__(self) -> int:
        return len(self.names)

    def metadata(self, **notes: str) -> dict[str, str]:
        """Return the metadata for a safetensors file of weights; notes are added to it."""
        facts = {"game": self.game, "rules": str(self.rules), "features": json.dumps(self.names)}
        return notes | facts | {"activation": ACTIVATION}

    def __repr__(self) -> str:
        return f"FeatureFacts({self.game!r}, rules {self.rules}, {len(self)} features, the first {self.own} own)"


@dataclass(frozen=True)
class Features(Outcomes):
    """For each legal action of each row: the features of the position after that seat alone has played it.

    Attributes:
        indptr: uint32 (rows + 1,), CSR offsets: row k has entries ``indptr[k]:indptr[k + 1]`` of the other arrays.
        actions: uint16 (m,), ascending within a row.
        features: float32 (m, F); zero where done.
        reward: float32 (m,), the reward of the seat for the action.
        done: bool (m,), whether the game is over then.
    """

    features: NDArray[np.float32]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]


def feature_facts(
    game: str | BlockVectorEnv, *, address: str | None = None, token: str | None = None, tls: Tls = None
) -> FeatureFacts:
    """Return the features of a game.

    Args:
        game: an id such as ``"BlockBattle-v0"``, or an environment, whose server is asked.
        address, token, tls: the server to ask about an id, as in :func:`blockyard.make_vec`.

    Raises:
        UnknownGameError: the server has no such game.
        RequestError: the game defines no features, or the server is too old.
    """
    with asked(game, address, token=token, tls=tls) as (session, spec):
        d = session.connection.call("feature_names", spec.name)
    return FeatureFacts(d["game"], d["rules"], tuple(d["features"]), d["own"])


def features(env: BlockVectorEnv, env_ids: Ids = None, *, seed: int | None = None) -> Features:
    """Return the features of the position after each legal action of the rows of these games.

    Args:
        env: the environment.
        env_ids: indices of games; None means all.
        seed: of random draws, as in :meth:`blockyard.BlockVectorEnv.afterstates`.

    Raises:
        RequestError: the game defines no features, or the server is too old.
    """
    options = [] if seed is None else [{"seed": check_seed(seed)}]
    pages = list(env._engine.pages("features", env_ids, *options))
    entries = sum(len(d["done"]) for d in pages)
    width = sum(len(d["features"]) for d in pages) // 4 // entries if entries else len(feature_facts(env))
    return Features.read(pages, features=(width,))
