"""Methods and attributes of single rows, as ``gymnasium.vector.SyncVectorEnv`` has them for its environments.

===========================  ======================================================================
method of a row              what it returns
===========================  ======================================================================
``action_masks()``           bool (actions,)
``legal_actions()``          uint16, ascending
``render()``                 a picture of the row's game in the ``render_mode``; None without one
``picture(mode)``            the same in any mode, see :meth:`BlockVectorEnv.picture`
``observation_text()``       str, see :meth:`BlockVectorEnv.observation_texts`
``snapshot()``               uint8 (state_len,), the state of the row's game
===========================  ======================================================================

Attributes of a row are ``game`` (index of its game), ``score`` (points of its seat), ``game_spec``,
``observation_space``, ``action_space``, ``render_mode``, ``metadata`` and ``spec``, and those that
:meth:`BlockVectorEnv.set_attr` added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def _of_games(env: Any, per_game: Sequence[Any]) -> list[Any]:
    return [value for value in per_game for _ in range(env.rows_per_game)]


def _pictures(env: Any, mode: str | None = None) -> list[Any]:
    return _of_games(env, [env.picture(i, mode) for i in range(env.num_games)])


def _scores(env: Any, *_: Any) -> Any:
    batch = env._batch
    return batch.per_row(batch.current.score, batch.own_index(batch.current)).tolist()


def _same(name: str) -> Callable[..., list[Any]]:
    """Return a function that returns one attribute of the vector environment for every row."""
    return lambda env, *_: [getattr(env, name)] * env.num_envs


OWN: dict[str, Callable[..., Sequence[Any]]] = {
    "action_masks": lambda env: list(env.action_masks),
    "legal_actions": lambda env: list(env.legal_actions()),
    "render": lambda env: [None] * env.num_envs if env.render_mode in (None, "human") else _pictures(env),
    "observation_text": lambda env, legal=True: env.observation_texts(legal=legal),
    "picture": _pictures,
    "snapshot": lambda env: _of_games(env, list(env.snapshot())),
    "game": lambda env, *_: _of_games(env, range(env.num_games)),
    "score": _scores,
    "observation_space": _same("single_observation_space"),
    "action_space": _same("single_action_space"),
    **{name: _same(name) for name in ("game_spec", "render_mode", "metadata", "spec")},
}
