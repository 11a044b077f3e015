"""Policies of this program as opponents: the server asks for the actions of their seats, and steps go on with them."""

import itertools
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DrainingError, OpponentError, ServerGoneError
from ..formats.arrays import pack
from ..formats.opponents import Policy, name_of, policy_name
from ..formats.spec import GameSpec


class Policies:
    """The policies that play seats of an environment, and their answers.

    Attributes:
        by_name: those that play now, or may in later episodes; the others are forgotten.
        broken: whether moves were made, and what the step returns is not known: all games must be reset or restored.
    """

    def __init__(self, spec: GameSpec, packed: bool) -> None:
        self._spec, self._packed = spec, packed
        self.by_name: dict[str, Policy] = {}
        self._known: dict[str, Any] = {}  # weak references to all so far, so that names stay theirs; None if impossible
        self._leaving: set[str] = set()  # they play on to the end of their episodes
        self.broken = False

    def name(self, policy: Policy, others: Iterable[str]) -> str:
        """Return the name of a policy, with a number if another policy or one of the others has it."""
        for name, known in (self._known | dict(self.by_name)).items():
            if (known() if isinstance(known, weakref.ref) else known) is policy:
                return name
        first, taken = name_of(policy), {*self._known, *others}
        names = itertools.chain([first], (f"{first}#{k}" for k in itertools.count(2)))
        return next(name for name in names if name not in taken)

    def refuse(self, specs: Collection[str]) -> None:
        """Refuse specs that a policy has as its name, by which results and records would be mixed up."""
        if same := sorted(self._known.keys() & specs):
            raise ValueError(f"opponents: {same[0]!r} is a policy and a spec; give the policy another name, as .name")

    def use(self, policies: Mapping[str, Policy]) -> None:
        """Let these play later episodes; the others of now leave."""
        for name, policy in policies.items():
            try:
                self._known[name] = weakref.ref(policy)
            except TypeError:
                self._known[name] = None
        self._leaving = self.by_name.keys() - policies.keys()
        kept = {name: self.by_name[name] for name in self._leaving}
        self.by_name = kept | dict(policies)

    def seen(self, playing: NDArray[np.uint16], specs: list[str]) -> None:
        """Forget who leaves and does not play any more; playing are the numbers of all opponents in all games."""
        if self._leaving:
            now = {policy_name(specs[k]) for k in np.unique(playing).tolist() if k < len(specs)}
            for name in self._leaving - now:
                del self.by_name[name]
            self._leaving &= now

    # -- steps ------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse a step after one that failed in the middle."""
        if self.broken:
            what = "a policy or the server has failed in the middle of a step"
            raise OpponentError(f"{what}: reset() all games, or restore() their states or a checkpoint")

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Note that moves are being made: unless the block ends well, the step cannot be completed."""
        before, self.broken = self.broken, True
        try:
            yield
        except (ServerGoneError, DrainingError):  # another server may begin the step again
            self.broken = before
            raise
        self.broken = before

    def choose(self, asked: dict[str, Any], specs: list[str]) -> NDArray[np.uint16]:
        """Return an action for each seat that is asked; each policy is called once. specs are all opponents so far."""
        spec, numbers = self._spec, np.frombuffer(asked["opponents"], "<u2")
        planes = np.frombuffer(asked["planes"], np.uint8).reshape(-1, *spec.planes_shape)
        numeric = np.frombuffer(asked["globals"], "<f4").reshape(len(numbers), -1)
        bits = np.frombuffer(asked["mask"], np.uint8).reshape(len(numbers), -1)
        mask = np.unpackbits(bits, axis=1, count=spec.actions, bitorder="little").view(np.bool_)
        actions = np.empty(len(numbers), "<u2")
        ends = [0, *(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]
        for rows in map(slice, ends, ends[1:]):  # the seats of a policy are next to each other
            name = policy_name(specs[numbers[rows.start]]) or ""
            boards = {"bits": pack(planes[rows], spec)} if self._packed else {"planes": planes[rows].copy()}
            # Copies: what a policy writes there changes neither what others see nor what is legal.
            answer = self.by_name[name](boards | {"globals": numeric[rows].copy()}, mask[rows].copy())
            actions[rows] = checked(answer, mask[rows], f"opponent {name!r}")
        return actions


def checked(answer: Any, mask: NDArray[np.bool_], who: str = "policy") -> NDArray[Any]:
    """Return what a policy answered as an array.

    Raise ValueError if these are not legal actions, one for each row.
    """
    if isinstance(answer, tuple) and any(one is None or np.ndim(one) or isinstance(one, tuple) for one in answer):
        what = f"it returned a tuple of {len(answer)}, as a model's predict does, want one integer per row"
        raise ValueError(f"{who}: {what}: return the first entry, predict(...)[0]")
    actions: NDArray[Any] = np.asarray(answer.detach().cpu() if hasattr(answer, "detach") else answer)
    if actions.shape != (len(mask),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: it returned {actions.dtype} {actions.shape}, want one integer per row, ({len(mask)},)"
        )
    known = (actions >= 0) & (actions < mask.shape[1])
    legal = known & mask[np.arange(len(mask)), np.where(known, actions, 0)]
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        raise ValueError(
            f"{who}: it returned action {actions[row]} in row {row}, which is not legal: choose among the "
            f"{np.count_nonzero(mask[row])} actions for which mask[{row}] is True"
        )
    return actions
