"""How environments heal: the arguments for it, and the servers to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import RequestError, ServerGoneError
from ..formats.arguments import positive, seconds
from .address import Address, Tls, look_up
from .session import Session


@dataclass(frozen=True)
class Healing:
    """How games go on when their server is lost."""

    addresses: Sequence[str] | None  # that may take them over; None: the local server, which is started again
    tls: Tls
    timeout: float  # seconds without any server after which the environment gives up
    every: int  # a checkpoint of a game is made when it has been stepped this many times since the last

    def candidates(self, last: Address, skip: int, suspect: bool) -> list[str | Address | None]:
        """Return the servers to try: the lost one first, or last if it may hang; the others from number skip on."""
        if self.addresses is None:
            return [None]
        found = [where for text in self.addresses for where in _found(text, self.tls)]
        skip %= max(1, len(found))
        others = [where for where in found[skip:] + found[:skip] if str(where) != str(last)]
        own = [where for where in found if str(where) == str(last)][:1]
        return [*others, *own] if suspect else [*own, *others]


def healing_of(
    heal: bool | Healing, address: Any, client: Session | None, tls: Tls, timeout: float, every: int
) -> Healing | None:
    """Return what the arguments ``heal``, ``heal_timeout`` and ``snapshot_every`` of an environment ask for."""
    if isinstance(heal, Healing):
        return heal
    if not isinstance(heal, bool):
        raise TypeError(f"heal: want True or False, got {heal!r:.100}")
    timeout, every = seconds("heal_timeout", timeout), positive("snapshot_every", every)
    if not heal:
        return None
    if client is not None:
        raise RequestError("heal=True: this connection is shared; call blockyard.make_vec(address=) instead")
    return Healing((address,) if isinstance(address, str) else address, tls, timeout, every)


def _found(text: str, tls: Tls) -> list[str | Address]:
    try:
        return look_up(text, tls)
    except ServerGoneError:
        return [text]  # reported when it is connected to


def refuse_clocks(policy: str) -> None:
    """Raise RequestError if a policy of rollouts is one that no other server can continue."""
    if policy.startswith("exec:") or "time=" in policy:
        why = (
            f"policy={policy!r} depends on the clock or is a program of its own, so that another server cannot continue"
        )
        raise RequestError(f"rollout: {why} it exactly; choose another, or pass heal=False")
