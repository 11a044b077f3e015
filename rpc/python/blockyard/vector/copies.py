"""Pickling and copying environments."""

from __future__ import annotations

from typing import Any

from ..errors import BlockyardError

_HOW = "save its games with checkpoint() or snapshot(); clone() copies games within an environment"


def copying(env: Any, given: tuple[str, int, dict[str, Any]], own_client: bool, started: bool) -> tuple[Any, ...]:
    """Return how an environment is copied: created with the same arguments, and with its checkpoint if it was started.

    A recording is not copied.

    Raises:
        TypeError: it is on a connection that others use too, or its opponents cannot be continued.
    """
    game, num_envs, options = given
    options = {key: value for key, value in options.items() if key != "record"}
    if not own_client:
        raise TypeError(f"an environment on a shared connection cannot be copied or pickled: {_HOW}")
    if started:
        try:
            options |= {"seed": None, "checkpoint": env.checkpoint()}
        except (BlockyardError, RuntimeError) as error:
            raise TypeError(f"this environment cannot be copied or pickled: {error}; {_HOW}") from error
    return _again, (type(env), game, num_envs, options)


def _again(kind: Any, game: str, num_envs: int, options: dict[str, Any]) -> Any:
    """Create a copy of an environment; a reset starts new episodes, as it does there."""
    env = kind(game, num_envs, **options)
    env._steps.resumed = None
    return env
