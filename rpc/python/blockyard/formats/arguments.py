"""Checks of users' arguments, such as seeds, and their conversion to what the server expects."""

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import IllegalActionError

Seed = int | Sequence[int | None] | None
Ids = Sequence[int] | NDArray[Any] | None
Games = NDArray[np.bool_] | None  # bool (games,); None means all
Rows = Literal["seat", "acting"]
Actions = Literal["ids", "afterstates", "afterstate_planes"]
Reward = Literal["result", "score", "shaped"]
Illegal = Literal["penalty", "random", "error"]
Transport = Literal["auto", "inproc", "process", "shm", "socket"]
_64_BITS = (1 << 64) - 1
_UNSIGNED: dict[np.dtype[Any], np.dtype[Any]] = {}  # by integer type: the unsigned one of its size


def game_name(game: str) -> str:
    """Return the name that the server knows: ``"blockyard/X-v0"`` becomes ``"X-v0"``."""
    if not isinstance(game, str):
        raise TypeError(f"game: want a name such as 'BlockBattle-v0', got {game!r:.100}")
    return game.removeprefix("blockyard:").removeprefix("blockyard/")


def integer(name: str, value: Any) -> int:
    """Return an integer argument; raise TypeError if it is something else, which a bool and an array are."""
    with suppress(TypeError):
        if not isinstance(value, (bool, np.bool_)):
            return operator.index(value)
    raise TypeError(f"{name}: want an integer, got {value!r:.100}")


def positive(name: str, value: object) -> int:
    """Return an integer argument of at least 1; raise TypeError or ValueError if it is none."""
    if (number := integer(name, value)) < 1:
        raise ValueError(f"{name}: want at least 1, got {value}")
    return number


def seconds(name: str, value: object) -> float:
    """Return an argument that must be a positive number of seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{name}: want a positive number of seconds, got {value!r}")
    return float(value)


def one_of(name: str, value: object, names: Sequence[str]) -> str:
    """Return an argument that is one of names; raise ValueError, with the names, if it is not."""
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} {value!r:.100}: want one of {list(names)}")
    return value


def reset_options(
    options: Mapping[str, Any] | None, games: int, rows_per_game: int, width: int
) -> tuple[Games, tuple[NDArray[np.uint8], NDArray[np.uint32]] | None]:
    """Return the games that reset selects, and the states that some begin with: uint8 (n, width), and these n games."""
    given = dict(options or {})
    mask, states = given.pop("reset_mask", None), given.pop("state", None)
    if given:
        raise ValueError(f"options: unknown {sorted(given)}; the options are 'reset_mask' and 'state'")
    chosen = None if mask is None else _reset_mask(mask, games, rows_per_game)
    return chosen, None if states is None else _reset_states(states, chosen, games, width)


def _reset_mask(mask: object, games: int, rows_per_game: int) -> NDArray[np.bool_]:
    """Return the games that a reset mask, bool (rows,), selects with all of their rows: bool (games,)."""
    if not isinstance(mask, np.ndarray):
        raise TypeError(f"options['reset_mask']: want a numpy array, got {type(mask).__name__}")
    if mask.dtype != np.bool_:
        raise TypeError(f"options['reset_mask']: want dtype bool, got {mask.dtype}")
    if mask.shape != (games * rows_per_game,):
        raise ValueError(f"options['reset_mask']: want shape ({games * rows_per_game},), got {mask.shape}")
    if not mask.any():
        raise ValueError("options['reset_mask']: want at least one True")
    by_game = mask.reshape(games, -1)
    if len(partly := np.flatnonzero((by_game != by_game[:, :1]).any(axis=1))):
        want = f"want all {rows_per_game} rows of a game or none"
        raise ValueError(f"options['reset_mask']: it selects only some rows of game {partly[0]}, {want}")
    return np.ascontiguousarray(by_game[:, 0])


def _reset_states(
    states: Sequence[bytes | NDArray[np.uint8] | None] | NDArray[np.uint8], chosen: Games, games: int, width: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return the states that reset begins with, uint8 (n, width), and their n games: chosen ones that have a state."""
    if len(states) != games:
        raise ValueError(f"options['state']: got {len(states)} states for {games} games, want one or None for each")
    rows, which = [], [k for k in range(games) if states[k] is not None and (chosen is None or chosen[k])]
    for k in which:
        one: Any = states[k]
        row = np.frombuffer(one, np.uint8) if isinstance(one, bytes) else np.asarray(one)
        if row.dtype != np.uint8 or row.shape != (width,):
            want = f"want uint8 ({width},), as snapshot returns it, or its bytes"
            raise ValueError(f"options['state'][{k}]: {want}; got {row.dtype} {row.shape}")
        rows.append(row)
    return np.array(rows, np.uint8).reshape(-1, width), np.array(which, "<u4")


def game_ids(ids: Ids, games: int, name: str = "env_ids") -> NDArray[np.uint32]:
    """Return indices of games as ``<u4``; None means all games."""
    if ids is None:
        return np.arange(games, dtype="<u4")
    array = np.asarray(ids)
    if array.shape == (0,):
        array = array.astype(np.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{name}: want a list of integers, got shape {array.shape}, dtype {array.dtype}")
    if len(array) and not (array.min() >= 0 and array.max() < games):
        raise ValueError(f"{name}: want indices from 0 to {games - 1}, got {array.min()} to {array.max()}")
    return array.astype("<u4")


def copy_actions(actions: object, out: NDArray[np.uint16], count: int, acting: NDArray[np.bool_] | None = None) -> None:
    """Copy actions into out, uint16 (rows,), which is as it was if they are refused, and may be the same array.

    Args:
        actions: integers (rows,), 0 <= action < count in the rows that act; other rows' actions are ignored.
        count: number of actions of the game.
        acting: bool (rows,), the rows that act; None means all.
    """
    array = actions if isinstance(actions, np.ndarray) else np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"actions: want integers, got dtype {array.dtype}")
    if array.shape != out.shape:
        raise ValueError(f"actions: want shape {out.shape}, got {array.shape}")
    if array.dtype not in _UNSIGNED:
        _UNSIGNED[array.dtype] = np.dtype(f"{array.dtype.byteorder}u{array.itemsize}")
    # As unsigned numbers, negative ones are large.
    if array.size and np.maximum.reduce(array.view(_UNSIGNED[array.dtype])) >= count:
        wrong = (array < 0) | (array >= count)
        if acting is None or wrong[acting].any():
            row = int(np.flatnonzero(wrong if acting is None else wrong & acting)[0])
            text = f"actions[{row}]: {array[row]} is not an action, want 0 <= action < {count}"
            raise IllegalActionError(text, data={"row": row, "action": int(array[row])})
        array = np.where(wrong, 0, array)
    if array is not out:
        np.copyto(out, array, "unsafe")


def check_seed(seed: object, name: str = "seed") -> int:
    """Return a seed as an int, 0 <= seed < 2**64; name is the argument's, for the error."""
    if not 0 <= (value := integer(name, seed)) < 1 << 64:
        raise ValueError(f"{name}: want 0 <= seed < 2**64, got {value}")
    return value


def check_seeds(seed: Seed, games: int) -> int | list[int | None] | None:
    """Return a seed, or a list of seeds with one entry per game, after checking it."""
    if not isinstance(seed, (list, tuple, np.ndarray)):
        return None if seed is None else check_seed(seed)
    if len(seed) != games:
        raise ValueError(f"seed: got a list of {len(seed)} seeds for {games} games, want one seed per game")
    return [None if s is None else check_seed(s, f"seed[{i}]") for i, s in enumerate(seed)]


def fresh_seed() -> int:
    """Return a seed from the entropy of the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def derive_seed(seed: int, i: int) -> int:
    """Return an independent seed for part i of something seeded with seed, as the server and ``agents`` do."""
    mixed = _mix(i + 1)
    return _mix(seed + (mixed << 17 | mixed >> 47))


def _mix(z: int) -> int:
    z &= _64_BITS
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _64_BITS
    return z ^ z >> 31


def reset_requests(
    seed: int | list[int | None] | None, chosen: NDArray[np.bool_], seeded: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Return the options of the ``reset`` requests that together reset the chosen games, bool (games,).

    The seed is from :func:`check_seeds`. A game without one continues its own sequence if it was seeded before.
    """
    if seed is None:
        seed = [None] * len(chosen) if seeded.any() else fresh_seed()
    if isinstance(seed, int):
        return [{"seed": seed} | _only(chosen)]
    full = [fresh_seed() if s is None and not old else s for s, old in zip(seed, seeded, strict=True)]
    given = np.fromiter((s is not None for s in full), np.bool_, len(chosen)) & chosen
    requests: list[dict[str, Any]] = []
    if given.any():
        values = np.array([0 if s is None else s for s in full], "<u8")
        requests.append({"seeds": values.tobytes()} | _only(given))
    if (rest := chosen & ~given).any():
        requests.append(_only(rest))
    return requests


def _only(games: NDArray[np.bool_]) -> dict[str, Any]:
    return {} if games.all() else {"mask": games.tobytes()}
