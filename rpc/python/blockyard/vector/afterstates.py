"""Afterstates as actions: what an environment with ``actions="afterstates"`` shows and plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..errors import IllegalActionError
from ..formats.spec import Actions, GameSpec
from ..transport.memory import CANDIDATE_FIELDS, Handle, StepMemory
from ..transport.over_socket import Finals
from .batch import Batch, Obs
from .infos import Infos
from .options import Options
from .results import LegalActions

MOST = 64  # candidates of a row by default
NONE = 65535  # the id of a candidate that there is not
_WIRE = {"afterstates": "features", "afterstate_planes": "observations"}
_SHOWN = {name.removeprefix("candidate_"): name for name in CANDIDATE_FIELDS[1:]}


def requested(options: Options, spec: GameSpec) -> dict[str, Any]:
    """Return the options of ``open`` for these candidates; none if actions are ids."""
    if options.actions == "ids":
        return {}
    most = min(options.candidates or MOST, spec.max_legal, spec.actions)
    fields = ["globals", "seat", "mask"][: 3 if options.mask else 2]
    return {"candidates": {"most": most, "of": _WIRE[options.actions]}, "fields": fields}


class AfterstateBatch(Batch):
    """Reads the memory of steps whose rows choose among candidates: an action is the index of one.

    Candidates come first: of k in a row, the indices below k are legal.
    """

    def __init__(self, spec: GameSpec, handle: Handle, options: Options) -> None:
        super().__init__(spec, handle, options)
        self._decision: Obs = {}  # the observation before the step; only with SAME_STEP
        self.choices = next(f.shape[1] for f in handle.fields if f.name == "candidate")

    def observation_space(self) -> spaces.Dict:
        """Return the space of what a row sees: arrays over its candidates."""
        shapes = {f.name: f.shape[1:] for f in self.handle.fields}
        have: dict[str, spaces.Space[Any]] = {
            key: spaces.Box(-np.inf, np.inf, shapes[name], np.float32)
            for key, name in _SHOWN.items()
            if name in shapes and key not in ("planes", "done")
        }
        have["done"] = have["mask"] = spaces.Box(0, 1, shapes["candidate"], np.uint8)
        if "candidate_planes" in shapes:
            have["planes"] = spaces.Box(0, self.spec.planes_high, shapes["candidate_planes"], np.uint8)
        return spaces.Dict(have)

    def action_space(self) -> Actions:
        """Return the space of indices of candidates."""
        return Actions(self.choices)

    def observation(self, memory: StepMemory) -> Obs:
        """Return arrays over the candidates of the rows, with zeros where there is none."""
        obs = {key: memory.arrays[name] for key, name in _SHOWN.items() if name in memory.arrays}
        return obs | {"mask": self.masks(memory).view(np.uint8)}

    def masks(self, memory: StepMemory) -> NDArray[np.bool_]:
        """Return which candidates there are, bool (rows, choices)."""
        if memory.unpacked is None:
            memory.unpacked = memory.arrays["candidate"] != NONE
        return memory.unpacked

    def packed_masks(self, memory: StepMemory) -> NDArray[np.uint8]:
        """Return the masks as bits."""
        return np.packbits(self.masks(memory), axis=1, bitorder="little")

    def legal(self, memory: StepMemory) -> LegalActions:
        """Return the indices of the candidates."""
        mask = self.masks(memory)
        ends = np.cumsum(mask.sum(axis=1), dtype=np.uint32)
        return LegalActions(np.concatenate([ends[:1] * 0, ends]), np.nonzero(mask)[1].astype(np.uint16))

    def to_ids(self, row: NDArray[np.uint16], last: StepMemory, to: StepMemory, acted: NDArray[np.bool_]) -> None:
        """Replace the actions of all rows, indices of candidates, by their ids, and keep what the rows saw.

        An index without a candidate becomes an illegal action, or IllegalActionError with ``illegal="error"``.
        """
        ids = last.arrays["candidate"][np.arange(len(row)), row]
        if len(wrong := np.flatnonzero((ids == NONE) & acted)):
            have = int(self.masks(last)[wrong[0]].sum())
            text = f"illegal action {row[wrong[0]]} of row {wrong[0]}, which has {have} candidates"
            if self._options.illegal == "error":
                what = {"envs": (wrong // self.rows_per_game)[:64].tolist(), "action": int(row[wrong[0]])}
                raise IllegalActionError(f'{text}: choose where obs["mask"] is 1', data=what)
            for k in wrong:  # all legal actions are candidates, or there would be one
                ids[k] = np.setdiff1d(np.arange(self.spec.actions), last.arrays["candidate"][k])[0]
        row[:] = ids
        if self.same_step:
            self._decision = self.observation(last)
            if to is last:  # which the step overwrites
                self._decision = {key: array.copy() for key, array in self._decision.items()}
                last.unpacked = None

    def _add_final(self, infos: Infos, ended: NDArray[np.bool_], finals: Callable[[], Finals]) -> None:
        """Add ends with what rows saw before the last action, since a position at the end has no candidates."""
        rows = self.rows_of(ended)
        last = {key: array[rows] for key, array in self._decision.items()}
        super()._add_final(infos, ended, lambda: finals() | last)

    def _final_obs(self, final: Finals, rows: NDArray[np.bool_]) -> NDArray[np.object_]:
        out = np.full(self.num_envs, None, object)
        for k, row in enumerate(np.flatnonzero(rows)):
            out[row] = {key: final[key][k] for key in self._decision}
        return out

    def _final_masks(self, final: Finals, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        masks = np.zeros((self.num_envs, self.choices), np.bool_)
        masks[:, 0], masks[rows] = True, final["mask"]
        return masks
