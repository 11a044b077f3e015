"""The options of an environment, checked once: the keyword arguments of :func:`blockyard.make_vec`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from gymnasium.vector import AutoresetMode

from ..errors import RequestError
from ..formats.arguments import Actions, Illegal, Reward, Rows, Seed, Transport, integer, one_of, positive, seconds
from ..formats.opponents import Opponents
from ..transport.address import Address, Tls
from ..transport.healing import Healing
from ..transport.session import Session

Path = str | os.PathLike[str]
RENDER_MODES = ["ansi", "rgb_array", "human"]
_CONNECTING = ("address", "heal", "timeout", "tls", "token")
# Arguments that no learner's adapter takes, and why.
NO_LEARNERS = {
    "copy": "the library keeps arrays, which copy=False overwrites",
    "slots": "the library keeps arrays, which copy=False overwrites",
    "rows": 'with "acting" a row is not one player: no loss would ever be seen; each row is a seat',
}
# Those that adapters whose observations are boards with a mask do not take, too.
MASKED = {"mask": "learners read action_mask", "packed": "learners read planes"}


@dataclass(frozen=True)
class Options:
    """What an environment is created with; other attributes are described at :func:`blockyard.make_vec`."""

    client: Session | None = None  # to use instead of a new connection
    first: int = 0  # index of the first game in a larger environment; seeds and draws depend on it
    address: str | Address | Sequence[str] | None = None
    token: str | None = None
    tls: Tls = None
    seed: Seed = None
    seats: int | None = None
    opponents: Opponents = "random"
    rows: Rows = "seat"
    actions: Actions = "ids"
    candidates: int | None = None
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP
    reward: Reward | None = None
    illegal: Illegal | None = None
    max_episode_steps: int | None = None
    mask: bool = True
    copy: bool = True
    slots: int = 2
    packed: bool = False
    transport: Transport = "auto"
    timeout: float = 30.0
    render_mode: str | None = None
    record: Path | Mapping[str, Any] | None = None
    checkpoint: bytes | None = None
    heal: bool | Healing = False  # or how these games, a part of a larger environment, heal
    snapshot_every: int = 64
    heal_timeout: float = 60.0

    def __post_init__(self) -> None:
        """Check what can be checked without a server; raise TypeError or ValueError if an option is malformed."""
        connecting = [name for name in _CONNECTING if getattr(self, name) != getattr(Options, name)]
        if self.client is not None and connecting:
            raise RequestError(f"{connecting}: the client is connected already; pass them to blockyard.connect")
        if self.render_mode is not None and self.render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode {self.render_mode!r}: want None or one of {RENDER_MODES}")
        if not self.copy and integer("slots", self.slots) < 2:
            raise ValueError(f"slots: want at least 2, got {self.slots}")
        one_of("transport", self.transport, get_args(Transport))
        one_of("rows", self.rows, get_args(Rows))
        one_of("actions", self.actions, get_args(Actions))
        if self.candidates is not None and positive("candidates", self.candidates) and self.actions == "ids":
            raise ValueError('candidates: actions are ids of the game; pass actions="afterstates" too')
        if self.packed and self.actions != "ids":
            raise ValueError(f"packed: actions={self.actions!r} shows no packed boards; leave one of the two out")
        for name, names in (("reward", Reward), ("illegal", Illegal)):
            if (value := getattr(self, name)) is not None:
                one_of(name, value, get_args(names))
        if self.max_episode_steps is not None:
            object.__setattr__(self, "max_episode_steps", integer("max_episode_steps", self.max_episode_steps))
        integer("first", self.first)
        if self.checkpoint is not None and self.seed is not None:
            raise ValueError("seed: the games of a checkpoint have seeds of their own; leave out seed or checkpoint")

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Return the options that keyword arguments give; raise TypeError if there is no such argument."""
        names = [field.name for field in fields(cls)]
        if unknown := sorted(arguments.keys() - set(names)):
            # In Python's words, by which TorchRL's GymEnv knows what it has to leave out.
            raise TypeError(f"unexpected keyword argument {unknown[0]!r}; want some of {names}")
        return cls(**arguments)

    @staticmethod
    def refuse(arguments: Iterable[str], where: str, reasons: Mapping[str, str]) -> None:
        """Raise TypeError for an argument of make_vec that another form of environment cannot take, with the reason."""
        for name in arguments:
            if name in reasons:
                raise TypeError(f"{name}: cannot be set in {where}: {reasons[name]}")

    @property
    def mode(self) -> AutoresetMode:
        """When a game that ended is reset."""
        for known in AutoresetMode:
            if self.autoreset_mode in (known, known.value, known.name):
                return known
        raise ValueError(f"autoreset_mode {self.autoreset_mode!r:.100}: want one of {[m.value for m in AutoresetMode]}")

    @property
    def healing(self) -> Healing | None:
        """How the games continue when a server is lost; None: they do not."""
        if isinstance(self.heal, Healing):
            return self.heal
        if not isinstance(self.heal, bool):
            raise TypeError(f"heal: want True or False, got {self.heal!r:.100}")
        timeout, every = seconds("heal_timeout", self.heal_timeout), positive("snapshot_every", self.snapshot_every)
        if not self.heal:
            return None
        return Healing(
            (self.address,) if isinstance(self.address, (str, Address)) else self.address, self.tls, timeout, every
        )
