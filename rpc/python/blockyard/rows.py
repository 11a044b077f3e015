"""What the memory of a step says, row by row."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .errors import NeedsResetError
from .facts import GameFacts, Handle
from .infos import Infos
from .packing import pack, unpack
from .positions import Final
from .slab import Slab

_FLOAT64 = np.dtype(np.float64)

Obs = dict[str, NDArray[Any]]
StepResult = tuple[Obs, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class Rows:
    """The part of BlockVectorEnv that reads slabs. One row is one seat that we drive."""

    facts: GameFacts
    num_envs: int
    num_games: int
    rows_per_game: int
    players: tuple[int, ...]
    seats: int
    packed: bool
    autoreset_mode: AutoresetMode
    _handle: Handle
    _slab: Slab | None
    _with_mask: bool

    def _count_rows(self) -> None:
        """Set what follows from the number of rows and whose they are."""
        self._all = np.ones(self.num_envs, np.bool_)
        self._all.flags.writeable = False
        # Whether a row is now one seat's, now another's; and where in numbers by seat each row's game begins.
        self._varying = self.rows_per_game != len(self.players)
        self._starts = np.repeat(np.arange(self.num_games) * self.seats, self.rows_per_game)
        self._column = np.minimum(np.arange(256), self.seats - 1)  # of a seat, any for nobody's

    def final(self) -> Final:
        """Return how the games stood that ended in the last step."""
        raise NotImplementedError

    # -- a step -----------------------------------------------------------------------

    def _told(self, slab: Slab, before: NDArray[np.intp] | None) -> StepResult:
        """Return what step returns; before says where the rewards are, if that varies: see _picked."""
        reward = slab.own_reward
        if reward is None or before is not None:
            reward = self._per_row(slab.reward, before)
        terminated, truncated = slab.terminated, slab.truncated
        infos = self._infos(slab)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            ended = terminated | truncated
            if ended.any():
                self._add_final(infos, slab, ended)
        if self.rows_per_game > 1:
            terminated, truncated = self._rows_of(terminated), self._rows_of(truncated)
        return slab.observation(), reward.astype(_FLOAT64), terminated, truncated, infos

    def _rows_of(self, per_game: NDArray[Any]) -> NDArray[Any]:
        return per_game if self.rows_per_game == 1 else per_game.repeat(self.rows_per_game)

    def _picked(self, slab: Slab) -> NDArray[np.intp] | None:
        """Return where in numbers by seat those of each row's seat are, None if it never changes."""
        if not self._varying:
            return None
        if slab.picked is None:
            slab.picked = self._column.take(slab.seat)
            slab.picked += self._starts
        return slab.picked

    def _per_row(self, per_seat: NDArray[Any], picked: NDArray[np.intp] | None) -> NDArray[Any]:
        """Return each row's own number of (games, seats)."""
        return per_seat[:, self.players].reshape(-1) if picked is None else per_seat.take(picked)

    def _infos(self, slab: Slab, rows: NDArray[np.bool_] | None = None) -> Infos:
        """Return infos that count in some rows, None for all; other rows have theirs all the same."""
        counts = self._all if rows is None else rows
        score = slab.own_score
        if score is None:
            score = self._per_row(slab.score, self._picked(slab))
        if not self._with_mask:
            return Infos({"score": score, "_score": counts})
        infos = Infos({"action_mask": None, "_action_mask": counts, "score": score, "_score": counts})
        infos.defer("action_mask", partial(_masks, slab, slab.generation, self.facts.actions))
        return infos

    # -- ends of episodes -------------------------------------------------------------

    def _add_final(self, infos: Infos, slab: Slab, ended: NDArray[np.bool_]) -> None:
        """Add how the episodes ended whose successors the slab shows already."""
        final, rows = self.final(), self._rows_of(ended)
        final_obs = np.full(self.num_envs, None, object)
        boards = self._final_boards(final)
        for k, row in enumerate(np.flatnonzero(rows)):
            final_obs[row] = {boards[0]: boards[1][k], "globals": final.globals[k]}
        score, last = infos["score"], Infos()
        if self._with_mask:
            last.put("action_mask", None, rows)
            last.defer("action_mask", lambda: self._final_masks(final, rows))
        last.put("score", np.where(rows, score, 0), rows)
        infos.put("score", np.where(rows, 0, score), self._all)
        infos.put("final_obs", final_obs, rows)
        infos.put("final_info", last, rows)

    def _final_boards(self, final: Final) -> tuple[str, NDArray[np.uint8]]:
        if not self.packed:
            return "planes", final.planes
        return "bits", pack(final.planes, self.facts)

    def _final_masks(self, final: Final, rows: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return what the rows of ended games might have played: nothing, unless they were cut off."""
        out = np.zeros((self.num_envs, self.facts.actions), np.int8)
        if final.mask is not None:
            out[rows] = np.unpackbits(final.mask, axis=1, count=self.facts.actions, bitorder="little")
        return out

    # -- as properties ----------------------------------------------------------------

    def unpack(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return packed boards as planes: uint8 (..., C, H, W) of (..., packed_len)."""
        return unpack(bits, self.facts)

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: bool (num_envs, actions), all False where a row need not act.

        Raises:
            NeedsResetError: there was no reset yet.
        """
        return self._current().masks(self.facts.actions)

    @property
    def packed_masks(self) -> NDArray[np.uint8]:
        """The same as bits, as they came: uint8 (num_envs, ceil(actions / 8)), bit a & 7 of byte a >> 3."""
        return self._current().packed_masks()

    @property
    def scores(self) -> NDArray[np.int32]:
        """Points of all seats after the last step: int32 (num_games, seats)."""
        return self._current().score

    @property
    def seat_rewards(self) -> NDArray[np.float32]:
        """Rewards of all seats in the last step, also of opponents: float32 (num_games, seats)."""
        return self._current().reward

    def _current(self) -> Slab:
        if self._slab is None:
            raise NeedsResetError("the environment was not reset yet")
        return self._slab


def _masks(slab: Slab, generation: int, actions: int) -> NDArray[np.int8]:
    """Return the masks of a slab, unless its memory was used again since."""
    if slab.generation != generation:
        raise RuntimeError("action_mask: its memory was used again (copy=False); read it sooner")
    return slab.masks(actions).view(np.int8)
