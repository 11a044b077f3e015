"""The rows of an environment one by one, as Gymnasium's ``call`` and ``get_attr`` see them."""

from collections.abc import Callable, Sequence
from typing import Any


def _per_game(values: Callable[..., Sequence[Any]]) -> Callable[..., list[Any]]:
    """Return what gives each row the value of its game."""
    return lambda env, *args, **how: [value for value in values(env, *args, **how) for _ in range(env.rows_per_game)]


def _scores(env: Any) -> list[int]:
    batch = env.engine.batch
    scores: list[int] = batch.per_row(batch.current.score, batch.own_index(batch.current)).tolist()
    return scores


def _same(name: str) -> Callable[..., list[Any]]:
    """Return what gives all rows an attribute of the vector environment."""
    return lambda env: [getattr(env, name)] * env.num_envs


# The methods and attributes of rows, of which each entry returns those of all rows; see :meth:`BlockVectorEnv.call`.
ROWS: dict[str, Callable[..., Sequence[Any]]] = {
    "action_masks": lambda env: list(env.action_masks),
    "legal_actions": lambda env: list(env.legal_actions()),
    "render": lambda env: env.render() or [None] * env.num_envs,
    "observation_text": lambda env, legal=True: env.observation_texts(legal=legal),
    "picture": _per_game(lambda env, mode=None: [env.picture(game, mode) for game in range(env.num_games)]),
    "snapshot": _per_game(lambda env: env.snapshot()),
    "game": _per_game(lambda env: range(env.num_games)),
    "score": _scores,
    "observation_space": _same("single_observation_space"),
    "action_space": _same("single_action_space"),
    **{name: _same(name) for name in ("game_spec", "render_mode", "metadata", "spec")},
}
