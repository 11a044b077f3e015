"""Converts the memory of a step into what Gymnasium's ``step`` returns, with one entry per row."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..errors import NeedsResetError
from ..formats.packing import pack, unpack
from ..formats.spec import GameSpec
from ..transport.layout import Handle
from ..transport.memory import StepMemory
from .illegal import IllegalActions
from .infos import FinalStep, Infos

_FLOAT64 = np.dtype(np.float64)
_NO_SEAT = 255  # in StepMemory.seat: the row need not act

Obs = dict[str, NDArray[Any]]
StepResult = tuple[Obs, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class LastRows(NamedTuple):
    """The part of :class:`FinalStep` that infos need."""

    planes: NDArray[np.uint8]
    globals: NDArray[np.float32]
    mask: NDArray[np.uint8] | None
    opponents: NDArray[np.uint16] | None


class Rows:
    """The part of BlockVectorEnv that reads the memory of a step. A row is a seat that the client drives."""

    game_spec: GameSpec
    num_envs: int
    num_games: int
    rows_per_game: int
    players: tuple[int, ...]
    seats: int
    packed: bool
    autoreset_mode: AutoresetMode
    _handle: Handle
    _memory: StepMemory | None
    _with_mask: bool
    _illegal: IllegalActions
    _acted: NDArray[np.bool_] | None
    _shared_final: dict[str, NDArray[Any]] | None = None  # where the server leaves the last observations, if it does

    def _set_row_indices(self) -> None:
        """Set what follows from the number of rows and their seats."""
        self._all = np.ones(self.num_envs, np.bool_)
        self._all.flags.writeable = False
        # With rows="acting", the row of a turn-based game belongs to a different seat at each step.
        self._varying = self.rows_per_game != len(self.players)
        # Index of each row's game, and offset of a seat, in flattened arrays of (games, seats).
        self._starts = np.repeat(np.arange(self.num_games) * self.seats, self.rows_per_game)
        # Columns of the server's seats in arrays of (games, seats): one index, or several, or None.
        others = [seat for seat in range(self.seats) if seat not in self.players]
        self._others = others[0] if len(others) == 1 else (others or None)
        # A seat of 255 means that the row need not act: then any column will do.
        self._column = np.minimum(np.arange(256), self.seats - 1)

    def final(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step."""
        raise NotImplementedError

    def _final(self) -> FinalStep:
        """Do the same for the first time after a step."""
        return self.final()

    # -- a step -----------------------------------------------------------------------

    def _step_result(self, memory: StepMemory, before: NDArray[np.intp] | None) -> StepResult:
        """Return what step returns; before is _own_index of the step before, whose seats get the rewards."""
        reset = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._complete(memory, reset)
        if memory.illegal is not None:
            self._illegal.add(self._acted, memory.illegal)
        reward = memory.own_reward
        if reward is None or before is not None:
            reward = self._per_row(memory.reward, before)
        terminated, truncated = memory.terminated, memory.truncated
        infos = self._infos(memory)
        if reset:
            ended = terminated | truncated
            if ended.any():
                self._add_final(infos, ended)
        if self.rows_per_game > 1:
            terminated, truncated = self._rows_of(terminated), self._rows_of(truncated)
        return memory.observation(), reward.astype(_FLOAT64), terminated, truncated, infos

    def _rows_of(self, per_game: NDArray[Any]) -> NDArray[Any]:
        return per_game if self.rows_per_game == 1 else per_game.repeat(self.rows_per_game)

    def _own_index(self, memory: StepMemory) -> NDArray[np.intp] | None:
        """Return the index of each row's seat in flattened arrays of (games, seats); None if it never changes."""
        if not self._varying:
            return None
        if memory.own_index is None:
            memory.own_index = self._column.take(memory.seat)
            memory.own_index += self._starts
        return memory.own_index

    def _per_row(self, per_seat: NDArray[Any], index: NDArray[np.intp] | None) -> NDArray[Any]:
        """Return each row's entry of an array of (games, seats)."""
        return per_seat[:, self.players].reshape(-1) if index is None else per_seat.take(index)

    def _opponents(self, numbers: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Return each row's entry of the opponents of games, uint16 (games, seats): those of the server's seats."""
        mine = numbers[:, self._others]
        return mine if self.rows_per_game == 1 else mine.repeat(self.rows_per_game, axis=0)

    def _complete(self, memory: StepMemory, reset: bool) -> NDArray[np.bool_]:
        """Give every row that need not act one legal action, id 0, and return which rows must act.

        Args:
            memory: of a step, or of the answer to another request.
            reset: whether the games that ended have been reset already, so that their rows act again.
        """
        if memory.acting is None:
            acting = memory.seat != _NO_SEAT
            if not reset and memory.terminated.any():
                acting &= ~self._rows_of(memory.terminated)
            if memory.mask is not None and not acting.all():
                memory.mask[~acting, 0] = 1  # the mask of such a row is empty
            if not reset and memory.truncated.any():  # a truncated game keeps its masks, for bootstrapping
                acting &= ~self._rows_of(memory.truncated)
            memory.acting = acting
        return memory.acting

    def _infos(self, memory: StepMemory, rows: NDArray[np.bool_] | None = None) -> Infos:
        """Return infos that are valid in some rows; None means all rows."""
        valid = self._all if rows is None else rows
        acting = self._complete(memory, False)
        score = memory.own_score
        if score is None:
            score = self._per_row(memory.score, self._own_index(memory))
        infos = Infos({"action_mask": None, "_action_mask": valid} if self._with_mask else {})
        if self._with_mask:
            infos.set_lazy("action_mask", partial(_masks, memory, memory.generation, self.game_spec.actions))
        infos.put("acting", acting, valid)
        if memory.illegal is not None:
            infos.put("illegal", memory.illegal, valid)
        infos.put("score", score, valid)
        if self._others is not None:
            infos.put("opponent", self._opponents(memory.arrays["opponent"]), valid)
        return infos

    # -- ends of episodes -------------------------------------------------------------

    def _add_final(self, infos: Infos, ended: NDArray[np.bool_]) -> None:
        """Add ``final_obs`` and ``final_info`` of games that ended and were reset in the same step.

        Their arrays of dicts take longer than the step itself, so they are made when they are read. Everything that
        later steps overwrite is copied now.
        """
        rows = self._rows_of(ended)
        final = self._last_rows(ended, rows)
        last = Infos({"action_mask": None, "_action_mask": rows} if self._with_mask else {})
        if self._with_mask:
            last.set_lazy("action_mask", lambda: self._final_masks(final, rows))
        last.put("acting", np.zeros(self.num_envs, np.bool_), rows)
        if "illegal" in infos:
            last.put("illegal", infos["illegal"] & rows, rows)
        score = infos["score"]
        last.put("score", score * rows, rows)
        infos.put("score", score * ~rows, self._all)
        if final.opponents is not None:
            opponents = np.zeros_like(infos["opponent"])
            opponents[rows] = self._opponents(final.opponents)
            last.put("opponent", opponents, rows)
        infos.put("final_obs", None, rows)
        infos.set_lazy("final_obs", lambda: self._final_obs(final, rows))
        infos.put("final_info", last, rows)

    def _final_obs(self, final: FinalStep | LastRows, rows: NDArray[np.bool_]) -> NDArray[np.object_]:
        """Return the last observations of games that ended: a dict per row, None in the other rows."""
        name, boards = ("bits", pack(final.planes, self.game_spec)) if self.packed else ("planes", final.planes)
        out = np.full(self.num_envs, None, object)
        for k, row in enumerate(np.flatnonzero(rows)):
            out[row] = {name: boards[k], "globals": final.globals[k]}
        return out

    def _last_rows(self, ended: NDArray[np.bool_], rows: NDArray[np.bool_]) -> FinalStep | LastRows:
        """Return the last observations of games that ended: from shared memory, or by asking the server."""
        if not self._shared_final:
            return self._final()
        at, mask, opponents = np.flatnonzero(rows), None, None
        if self._with_mask:
            mask = self._shared_final["mask"][at]
            mask[~mask.any(axis=1), 0] = 1
        if self._others is not None:
            opponents = self._shared_final["opponent"][np.flatnonzero(ended)]
        return LastRows(self._shared_final["planes"][at], self._shared_final["globals"][at], mask, opponents)

    def _final_masks(self, final: FinalStep | LastRows, rows: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return the masks at the end of games: only id 0, unless the game was truncated."""
        out = np.zeros((self.num_envs, self.game_spec.actions), np.int8)
        out[:, 0] = 1
        if final.mask is not None:
            out[rows] = np.unpackbits(final.mask, axis=1, count=self.game_spec.actions, bitorder="little")
        return out

    # -- properties -------------------------------------------------------------------

    def unpack(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Unpack packed boards, uint8 (..., packed_len), into planes, uint8 (..., C, H, W)."""
        return unpack(bits, self.game_spec)

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions now: bool (num_envs, actions); only id 0 for a row that need not act.

        Raises:
            NeedsResetError: the environment was not reset yet.
            RuntimeError: the environment was created with ``mask=False``.
        """
        return self._current().masks(self.game_spec.actions)

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Which rows must act in the next step: bool (num_envs,)."""
        memory = self._current()
        assert memory.acting is not None
        return memory.acting

    @property
    def packed_masks(self) -> NDArray[np.uint8]:
        """The action masks as bits: uint8 (num_envs, ceil(actions / 8)), bit a & 7 of byte a >> 3; zero-copy.

        Like :attr:`action_masks`, they have only id 0 for a row that need not act.
        """
        return self._current().packed_masks()

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of all seats after the last step: int32 (num_games, seats)."""
        return self._current().score

    @property
    def seat_rewards(self) -> NDArray[np.float32]:
        """Rewards of all seats, opponents included, in the last step: float32 (num_games, seats)."""
        return self._current().reward

    def _current(self) -> StepMemory:
        if self._memory is None:
            raise NeedsResetError("the environment was not reset yet: call reset()")
        return self._memory


def _masks(memory: StepMemory, generation: int, actions: int) -> NDArray[np.int8]:
    """Return the masks of a step; raise RuntimeError if its memory has been reused since."""
    if memory.generation != generation:
        raise RuntimeError(
            "infos['action_mask']: a later step has overwritten its memory; read it earlier, or pass copy=True"
        )
    return memory.masks(actions).view(np.int8)
