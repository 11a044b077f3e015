"""The arrays of the last step, and their conversion into what Gymnasium's ``step`` returns: one entry per row."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..errors import NeedsResetError, plain
from ..formats.arrays import pack
from ..formats.spec import Actions, GameSpec
from ..transport.memory import Handle, StepMemory, resized
from ..transport.over_socket import Finals
from .infos import FinalStep, Infos
from .options import Options
from .results import LegalActions

_FLOAT64 = np.dtype(np.float64)
WARN_AFTER = 1000  # illegal actions
NO_SEAT = 255  # in StepMemory.seat: the row need not act

Obs = dict[str, NDArray[Any]]
Rows = NDArray[np.bool_] | None  # (rows,)
Index = NDArray[np.intp] | None  # (rows,), of each row's seat in flattened arrays of (games, seats)
StepResult = tuple[Obs, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class IllegalActions:
    """Counts the illegal actions that the server replaced.

    If nobody chose what happens to them (the argument ``illegal``), the first :data:`WARN_AFTER` cause one
    RuntimeWarning: a policy that ignores its masks trains, but on other moves than it chose.
    """

    def __init__(self, chosen: str | None) -> None:
        self.warn_after = WARN_AFTER if chosen is None else None  # number of illegal actions; None: never
        self.actions = self.illegal = 0  # actions of rows that had to act, and those of them that were illegal

    def count(self, actions: int, illegal: NDArray[np.bool_] | None) -> None:
        """Count a step in which so many rows acted, and whose action was illegal; None if that is an error."""
        self.actions += actions
        if illegal is not None and (count := int(np.count_nonzero(illegal))):
            self.illegal += count
            if self.warn_after is not None and self.illegal >= self.warn_after:
                self._warn()

    def _warn(self) -> None:
        self.warn_after, actions = None, max(self.actions, self.illegal)
        warn_user(
            f"{self.illegal:,} of {actions:,} actions ({self.illegal / actions:.0%}) were illegal. Each was "
            "replaced by the contest's penalty for an illegal answer, which costs points or the game. Choose actions "
            'with infos["action_mask"]; or pass illegal="error" to stop at the first, illegal="random" to play a '
            'random legal action instead, illegal="penalty" to keep this without a warning'
        )


def warn_user(text: str) -> None:
    """Give a RuntimeWarning whose place is the line of the first caller outside of this package."""
    package, frame, level = __name__.partition(".")[0], sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(plain(text), RuntimeWarning, stacklevel=level)


class Batch:
    """Reads the memory of steps. A row is a seat that the client drives."""

    def __init__(self, spec: GameSpec, handle: Handle, options: Options) -> None:
        self.spec, self.handle, self._options = spec, handle, options
        self.illegal = IllegalActions(options.illegal)
        self.with_mask, self.same_step = options.mask, options.mode is AutoresetMode.SAME_STEP
        self.players, self.seats, self.num_games = handle.players, handle.seats, handle.games
        self.rows_per_game, self.num_envs = handle.rows_per_game, handle.rows
        # Whether rows belong to a different seat at each step, as with ``rows="acting"`` in turn-based games.
        self.varying = self.rows_per_game != len(self.players)
        others = [seat for seat in range(self.seats) if seat not in self.players]
        self.choices = spec.actions  # number of actions of a row
        # Columns of the server's seats in arrays (games, seats): one index, or several, or None.
        self.others = others[0] if len(others) == 1 else (others or None)
        self.memory: StepMemory | None = None  # the current position; None before the first reset
        self.rungs: NDArray[np.int64] | None = None  # of opponents in the curriculum, by number; None without one
        self._all = np.ones(self.num_envs, np.bool_)
        self._all.flags.writeable = False
        # Index of each row's game, and offset of a seat, in flattened arrays of (games, seats).
        self._starts = np.repeat(np.arange(self.num_games) * self.seats, self.rows_per_game)
        # A seat of 255 means that the row need not act: then any column will do.
        self._column = np.minimum(np.arange(256), self.seats - 1)

    def resized(self, games: int) -> Batch:
        """Return a batch of another number of games with the same options, which counts illegal actions here."""
        batch = Batch(self.spec, resized(self.handle, games), self._options)
        batch.illegal = self.illegal
        return batch

    @property
    def current(self) -> StepMemory:
        """The current position; raise NeedsResetError if there is none yet."""
        if self.memory is None:
            raise NeedsResetError("the environment was not reset yet: call reset()")
        return self.memory

    # -- what rows choose among ---------------------------------------------------------

    def observation_space(self) -> spaces.Dict:
        """Return the space of what a row sees: boards and globals."""
        return self.spec.observation_space(self._options.packed)

    def action_space(self) -> Actions:
        """Return the space of the ids among which a policy chooses."""
        return self.spec.action_space()

    def observation(self, memory: StepMemory) -> Obs:
        """Return the boards and globals of the rows, the latter as a copy if the memory is pooled."""
        boards = "bits" if memory.planes is None else "planes"
        return {boards: memory.arrays[boards], "globals": memory.globals.copy() if memory.pooled else memory.globals}

    def masks(self, memory: StepMemory) -> NDArray[np.bool_]:
        """Return the action masks, bool (rows, choices); they are unpacked once."""
        if memory.unpacked is None:
            packed = self.packed_masks(memory)
            memory.unpacked = np.unpackbits(packed, axis=1, count=self.choices, bitorder="little").view(np.bool_)
        return memory.unpacked

    def packed_masks(self, memory: StepMemory) -> NDArray[np.uint8]:
        """Return the action masks as bits, uint8 (rows, ceil(choices / 8)); raise RuntimeError with ``mask=False``."""
        if memory.mask is None:
            what = "action_masks: the environment was created with mask=False"
            raise RuntimeError(f"{what}; call legal_actions(), or pass mask=True")
        return memory.mask

    def legal(self, memory: StepMemory) -> LegalActions | None:
        """Return the legal actions; None: they are ids, which the server lists."""
        return None

    def to_ids(self, row: NDArray[np.uint16], last: StepMemory, to: StepMemory, acted: NDArray[np.bool_]) -> None:
        """Replace the actions of a step from last to another position by their ids; as it is, they are ids."""

    # -- a step -----------------------------------------------------------------------

    def result(self, memory: StepMemory, before: Index, acted: Rows, finals: Callable[[], Finals]) -> StepResult:
        """Return what a step into memory returns.

        before is own_index of the step before, whose seats get the rewards; acted, bool (rows,), which rows had to act,
        None if unknown; finals returns what the server says of the games that ended.
        """
        self.complete(memory, self.same_step)
        self.illegal.count(0 if acted is None else int(np.count_nonzero(acted)), memory.illegal)
        reward = memory.own_reward
        if reward is None or before is not None:
            reward = self.per_row(memory.reward, before)
        terminated, truncated = memory.terminated, memory.truncated
        infos = self.infos(memory)
        if self.same_step and (ended := terminated | truncated).any():
            self._add_final(infos, ended, finals)
        if self.rows_per_game > 1:
            terminated, truncated = self.rows_of(terminated), self.rows_of(truncated)
        elif memory.pooled:  # one that is kept must not keep the observations
            terminated, truncated = terminated.copy(), truncated.copy()
        return self.observation(memory), reward.astype(_FLOAT64), terminated, truncated, infos

    def shown(self, rows: Rows = None) -> tuple[Obs, dict[str, Any]]:
        """Return what reset returns: the current observations, and infos that are valid in some rows, or all."""
        return self.observation(self.current), self.infos(self.current, rows)

    def rows_of(self, per_game: NDArray[Any]) -> NDArray[Any]:
        """Return the entry of each row's game, of an array whose first axis is games."""
        return per_game if self.rows_per_game == 1 else per_game.repeat(self.rows_per_game, axis=0)

    def own_index(self, memory: StepMemory) -> Index:
        """Return the index of each row's seat in flattened arrays of (games, seats); None if it never changes."""
        if not self.varying:
            return None
        if memory.own_index is None:
            memory.own_index = self.index_of(memory.seat)
        return memory.own_index

    def index_of(self, seats: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Return the index of each row's seat, uint8 (rows,), in flattened arrays of (games, seats)."""
        index = self._column.take(seats)
        index += self._starts
        return index

    def per_row(self, per_seat: NDArray[Any], index: Index) -> NDArray[Any]:
        """Return each row's entry of an array of (games, seats)."""
        return per_seat[:, self.players].reshape(-1) if index is None else per_seat.take(index)

    def complete(self, memory: StepMemory, reset: bool) -> NDArray[np.bool_]:
        """Give every row that need not act one legal action, id 0, and return which rows must act.

        With reset, the games that ended have been reset already, so that their rows act again.
        """
        if memory.acting is None:
            acting = memory.seat != NO_SEAT
            if not reset and memory.terminated.any():
                acting &= ~self.rows_of(memory.terminated)
            if memory.mask is not None and not acting.all():
                memory.mask[:, 0] |= (~acting).view(np.uint8)  # the mask of such a row is empty
            if not reset and memory.truncated.any():  # a truncated game keeps its masks, for bootstrapping
                acting &= ~self.rows_of(memory.truncated)
            memory.acting = acting
        return memory.acting

    def infos(self, memory: StepMemory, rows: Rows = None) -> Infos:
        """Return infos that are valid in some rows; None means all rows."""
        valid = self._all if rows is None else rows
        acting = self.complete(memory, False)
        score = memory.own_score
        if score is None:
            score = self.per_row(memory.score, self.own_index(memory))
        infos = Infos()
        if self.with_mask:
            infos.put_lazy("action_mask", partial(self._masks, memory, memory.generation), valid)
        infos.put("acting", acting.copy(), valid)
        if memory.illegal is not None:
            infos.put("illegal", memory.illegal.copy() if memory.pooled else memory.illegal, valid)
        infos.put("score", score.copy() if memory.pooled else score, valid)
        if self.others is not None:
            opponents = self.rows_of(memory.arrays["opponent"][:, self.others])
            infos.put("opponent", opponents.copy() if memory.pooled else opponents, valid)
        if (place := self.places(memory)) is not None:
            infos.put("rung", self.rows_of(place), valid)
        return infos

    def places(self, memory: StepMemory) -> NDArray[np.int64] | None:
        """Return the rung that each game plays against, int64 (games,), -1 if it is none; None without a curriculum."""
        if self.rungs is None or self.others is None:
            return None
        first = self.others if isinstance(self.others, int) else self.others[0]
        return self.rungs.take(memory.arrays["opponent"][:, first], mode="clip")

    def _masks(self, memory: StepMemory, generation: int) -> NDArray[np.bool_]:
        """Return the masks of a step; raise RuntimeError if its memory has been reused since."""
        if memory.generation != generation:
            raise RuntimeError(
                "infos['action_mask']: a later step has overwritten its memory; read it earlier, or pass copy=True"
            )
        return self.masks(memory)

    # -- ends of episodes -------------------------------------------------------------

    def _add_final(self, infos: Infos, ended: NDArray[np.bool_], finals: Callable[[], Finals]) -> None:
        """Add ``final_obs`` and ``final_info`` of games that ended and were reset in the same step.

        Their arrays of dicts take longer than the step itself, so they are made when they are read. Everything that
        later steps overwrite is copied now.
        """
        rows, final = self.rows_of(ended), finals()
        last = Infos()
        if self.with_mask:
            last.put_lazy("action_mask", lambda: self._final_masks(final, rows), rows)
        last.put("acting", np.zeros(self.num_envs, np.bool_), rows)
        if "illegal" in infos:
            last.put("illegal", infos["illegal"] & rows, rows)
        score = infos["score"]
        last.put("score", score * rows, rows)
        infos.put("score", score * ~rows, self._all)
        if self.others is not None:
            opponents = np.zeros_like(infos["opponent"])
            opponents[rows] = self.rows_of(final["opponents"].reshape(-1, self.seats)[:, self.others])
            last.put("opponent", opponents, rows)
        infos.put_lazy("final_obs", lambda: self._final_obs(final, rows), rows)
        infos.put("final_info", last, rows)

    def _final_obs(self, final: Finals, rows: NDArray[np.bool_]) -> NDArray[np.object_]:
        """Return the last observations of games that ended: a dict per row, None in the other rows."""
        name, boards = "planes", final["planes"].reshape(-1, *self.spec.planes_shape)
        if self._options.packed:
            name, boards = "bits", pack(boards, self.spec)
        numbers = final["globals"].reshape(-1, len(self.spec.global_names))
        out = np.full(self.num_envs, None, object)
        for k, row in enumerate(np.flatnonzero(rows)):
            out[row] = {name: boards[k], "globals": numbers[k]}
        return out

    def _final_masks(self, final: Finals, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the masks at the end of games: only id 0, unless the game was truncated."""
        out = np.zeros((self.num_envs, self.spec.actions), np.bool_)
        out[:, 0] = True
        packed = final["mask"].reshape(-1, self.spec.mask_len)
        masks = np.unpackbits(packed, axis=1, count=self.spec.actions, bitorder="little").view(np.bool_)
        masks[:, 0] |= ~masks.any(axis=1)
        out[rows] = masks
        return out

    def final_step(self, finals: Finals) -> FinalStep:
        """Return the final positions in what the server says of games that ended."""
        games, mask = finals["envs"].astype(np.int64), None
        if self.with_mask:
            mask = finals["mask"].reshape(-1, self.spec.mask_len)
            mask[~mask.any(axis=1), 0] = 1
        return FinalStep(
            games,
            finals["planes"].reshape(-1, *self.spec.planes_shape),
            finals["globals"].reshape(-1, len(self.spec.global_names)),
            finals["seat"] if self.varying else np.tile(np.array(self.players, np.uint8), len(games)),
            finals["scores"].reshape(-1, self.seats),
            finals["lengths"],
            mask,
            None if self.others is None else finals["opponents"].reshape(-1, self.seats),
        )
