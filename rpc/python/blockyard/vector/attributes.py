"""Methods and attributes of single rows, as ``gymnasium.vector.SyncVectorEnv`` has them for its environments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .texts import Texts


class Attributes(Texts):
    """The part of BlockVectorEnv that treats each row as an environment of its own.

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
    :meth:`set_attr` added.
    """

    _extra: dict[str, tuple[Any, ...]]

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every row, or get an attribute of every row.

        Methods that need the server are one request for all rows, except pictures, which are one per game.

        Args:
            name: of a method or attribute; see the class.
            *args, **kwargs: of the method.

        Returns:
            The results, one per row.

        Raises:
            AttributeError: rows have no such method or attribute.
        """
        if name in self._extra:
            return tuple(v(*args, **kwargs) if callable(v) else v for v in self._extra[name])
        if method := _METHODS.get(name):
            return tuple(method(self, *args, **kwargs))
        if attribute := _ATTRIBUTES.get(name):
            return tuple(attribute(self))
        have = ", ".join(sorted({*_METHODS, *_ATTRIBUTES, *self._extra}))
        raise AttributeError(f"rows have no attribute {name!r}, they have {have}; set_attr adds attributes")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every row; as in Gymnasium, a method is called without arguments."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Give every row an attribute, for :meth:`get_attr` and :meth:`call`.

        Args:
            name: of the attribute; not one that rows have anyway.
            values: a list or tuple with one value per row; anything else is the value of all rows.

        Raises:
            AttributeError: the attribute cannot be changed.
            ValueError: the list has a wrong length.
        """
        if name in _METHODS or name in _ATTRIBUTES:
            raise AttributeError(f"set_attr: {name!r} of a row cannot be changed; choose another name")
        n = self.num_envs
        row_values = tuple(values) if isinstance(values, (list, tuple)) else (values,) * n
        if len(row_values) != n:
            raise ValueError(f"set_attr({name!r}): got {len(row_values)} values, want one for each of {n} rows")
        self._extra[name] = row_values

    def _of_games(self, per_game: Sequence[Any]) -> list[Any]:
        """Return the entry of each row's game."""
        return [value for value in per_game for _ in range(self.rows_per_game)]

    def _pictures(self, mode: str | None = None) -> list[Any]:
        return self._of_games([self.picture(i, mode) for i in range(self.num_games)])


def _same(name: str) -> Callable[[Attributes], list[Any]]:
    """Return a function that returns one attribute of the vector environment for every row."""
    return lambda env: [getattr(env, name)] * env.num_envs


_METHODS: dict[str, Callable[..., Sequence[Any]]] = {
    "action_masks": lambda env: list(env.action_masks),
    "legal_actions": lambda env: list(env.legal_actions()),
    "render": lambda env: [None] * env.num_envs if env.render_mode in (None, "human") else env._pictures(),
    "observation_text": lambda env, legal=True: env.observation_texts(legal=legal),
    "picture": Attributes._pictures,
    "snapshot": lambda env: env._of_games(list(env.snapshot())),
}

_ATTRIBUTES: dict[str, Callable[[Attributes], Sequence[Any]]] = {
    "game": lambda env: env._of_games(range(env.num_games)),
    "score": lambda env: env._per_row(env.scores, env._own_index(env._current())).tolist(),
    "observation_space": _same("single_observation_space"),
    "action_space": _same("single_action_space"),
    **{name: _same(name) for name in ("game_spec", "render_mode", "metadata", "spec")},
}
