"""The argument ``opponents=``: specs, policies and mixtures by seat, and weights files by their content."""

from __future__ import annotations

import hashlib
import json
import math
import operator
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, SupportsIndex

from .arguments import game_name

# From observations (rows, ...) and masks, bool (rows, actions), to actions (rows,).
Policy = Callable[[Any, Any], Any]
Player = str | Policy  # what plays a seat: a spec of the server, or a policy of this program
Mixture = Mapping[Any, float]  # weights by player
Opponents = Player | Mixture | Mapping[int, Player | Mixture] | None
Seats = Iterable[int] | None
Naming = Callable[[Policy, Collection[str]], str]
CURRICULUM = "curriculum"
CLIMB = {"of": 10, "up": 0.6, "down": 0.4}  # a game leaves its rung by the share that it won of its last games there
ASKED = "client:"  # begins what the server calls a policy of this program

_WEIGHTS = re.compile(r"(?:^|,)weights=")  # in the options of a spec
_MODELS = {  # what a file that is named as a spec wants to be, by the end of its name
    ".zip": "of a model of Stable-Baselines3, use blockyard.policies.sb3({!r})",
    ".onnx": "use blockyard.policies.onnx({!r})",
    ".safetensors": "of blockyard.save_weights, 'learned:ply=1,weights={}'",
    ".pt": "load {!r}, and pass a function policy(obs, mask)",
    ".pth": "load {!r}, and pass a function policy(obs, mask)",
}
MADE = "policies.sb3 or policies.onnx makes a policy of a model or its file"
_RUNGS = json.loads((Path(__file__).parent / "rungs.json").read_text(encoding="utf-8"))["rungs"]
UPLOADED = "sha256:"  # begins the name of weights that the server has by content


def opponents_by_seat(opponents: Opponents, seats: int, other: Seats = None) -> dict[int, dict[Any, float]]:
    """Return the mixture of each seat that has an opponent: weights by spec or policy.

    A player (a spec or a policy) or a mixture is for all seats in ``other``, by default all but seat 0.
    """
    if opponents is None:
        return {}
    opponents = by_number(opponents)
    if not isinstance(opponents, Mapping) or any(map(is_player, opponents)):
        mixture = _mixture("opponents", opponents)
        return {seat: dict(mixture) for seat in (range(1, seats) if other is None else other)}
    if not opponents:
        raise ValueError("opponents: got {}, want opponents of some seats, or None to drive every seat")
    out = {}
    for seat, value in opponents.items():
        if isinstance(seat, bool) or not isinstance(seat, SupportsIndex) or not 0 <= operator.index(seat) < seats:
            how = "" if isinstance(seat, int) else f"; {MADE}"
            raise ValueError(f"opponents: no seat {seat!r}, seats are 0 to {seats - 1}{how}")
        out[operator.index(seat)] = _mixture(f"opponents[{seat}]", value)
    if len(out) == seats:
        raise ValueError(f"opponents: all {seats} seats have an opponent, leave at least one seat to drive")
    return out


def by_number(by_seat: Any) -> Any:
    """Return a dict by seat whose keys may be text, as JSON makes them, with numbers; anything else as it is."""
    if isinstance(by_seat, Mapping) and by_seat and all(isinstance(k, str) and k.isdecimal() for k in by_seat):
        return {int(key): value for key, value in by_seat.items()}
    return by_seat


def is_player(value: object) -> bool:
    """Whether a value has the type of an opponent: the text of a spec, or a policy that can be called."""
    return isinstance(value, str) or callable(value)


def has_policies(opponents: object) -> bool:
    """Whether opponents, which need not be valid, name a policy of this program."""
    if isinstance(opponents, Mapping):
        return any(map(has_policies, (*opponents, *opponents.values())))
    return callable(opponents)


def name_of(player: Player) -> str:
    """Return the name of a spec or policy: its attribute ``name`` or that of the function or class."""
    if isinstance(player, str):
        return player
    given = getattr(player, "name", None)
    name = given if isinstance(given, str) else getattr(player, "__name__", type(player).__name__)
    return "policy" if name == "<lambda>" else name


def policy_name(sent: str) -> str | None:
    """Return the name of the policy for which an opponent of the server stands; None if it is none."""
    return sent.removeprefix(ASKED).partition("@sha256:")[0] if sent.startswith(ASKED) else None


def _mixture(where: str, value: Any) -> dict[Any, float]:
    """Return one seat's player or mixture as a mixture; where names it in errors."""
    if is_player(value):
        value = {value: 1.0}
    if not isinstance(value, Mapping):
        want = "a spec such as 'hand', a policy or a mixture such as {'hand': 0.5, 'random': 0.5}"
        want += ", a dict such as {1: 'hand'} of these by seat, or None" if where == "opponents" else ""
        raise TypeError(f"{where}: want {want}, got {value!r:.100}; {MADE}")
    if not value:
        raise ValueError(f"{where}: an empty mixture, want at least one spec with its weight")
    if CURRICULUM in value:
        raise ValueError(f'{where}: "curriculum" is for all seats of make_vec; otherwise name one of blockyard.rungs')
    for spec, weight in value.items():
        if not is_player(spec):
            raise TypeError(f"{where}: want specs such as 'hand' or policies, got {spec!r:.100}; {MADE}")
        if isinstance(weight, bool) or not isinstance(weight, Real):
            raise TypeError(f"{where}[{spec!r}]: want a number as the weight of the spec, got {weight!r:.100}")
        if not 0 < weight <= sys.float_info.max:  # type: ignore[operator]
            raise ValueError(f"{where}[{spec!r}]: the weight is {weight!r:.100}, want a finite number above 0")
    return {spec: float(weight) for spec, weight in value.items()}


def _path_text(rest: str) -> str:
    """Return the path with which the rest of a spec begins, in quotes if it has them; as the server reads it.

    Without quotes it is the longest that is a file, or ends at the first comma.
    """
    if rest.startswith('"'):
        return rest[: rest.find('"', 1) + 1] or rest
    ends = [len(rest), *(k for k in range(len(rest) - 1, 0, -1) if rest[k] == ",")]
    return next((rest[:end] for end in ends if os.path.isfile(rest[:end])), rest.partition(",")[0])


@dataclass
class Lineup:
    """Opponents in the form in which they are sent."""

    wire: dict[int, list[tuple[str, float]]] = field(default_factory=dict)  # specs with weights, by seat
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)  # by content: a spec that uses it, and its bytes
    names: dict[str, str] = field(default_factory=dict)  # what the caller called each spec of ``wire``
    policies: dict[str, Policy] = field(default_factory=dict)  # by name
    how: dict[str, Any] = field(default_factory=dict)  # the options that go with ``wire``: the curriculum, if it is one

    @classmethod
    def of(
        cls, opponents: Opponents, game: str, seats: int, trusted: bool, name: Naming, other: Seats = None
    ) -> Lineup:
        """Read opponents of a game, with the weights files that specs name, and name the policies.

        other as in :func:`opponents_by_seat`, trusted as in :meth:`read`; name returns the name of a policy, given
        those of others.
        """
        lineup = cls(how={CURRICULUM: CLIMB} if opponents == CURRICULUM and seats > 1 else {})
        by_seat = opponents_by_seat(dict.fromkeys(rungs(game), 1.0) if lineup.how else opponents, seats, other)
        specs = {player for mixture in by_seat.values() for player in mixture if isinstance(player, str)}
        for seat, mixture in by_seat.items():
            lineup.wire[seat] = []
            for player, weight in mixture.items():
                if isinstance(player, str):
                    sent = lineup.read(f"opponents[{seat}]", player, trusted)
                else:
                    own = next((n for n, p in lineup.policies.items() if p is player), None)
                    own = own or name(player, {*specs, *lineup.policies})
                    lineup.policies[own] = player
                    sent = ASKED + own
                    if (digest := getattr(player, "sha256", None)) is not None:
                        sent += f"@sha256:{digest}"
                    lineup.names[sent] = own
                lineup.wire[seat].append((sent, weight))
        return lineup

    @property
    def entries(self) -> list[str]:
        """All specs of ``wire``."""
        return [spec for mixture in self.wire.values() for spec, _ in mixture]

    def read(self, where: str, spec: str, trusted: bool) -> str:
        """Add a spec, which stands there in the arguments; return it with its weights file named by content.

        trusted: the server lets clients name its own files: a file that is not here may be one of those.
        """
        agent, _, options = spec.partition(":")
        if not options and (how := _MODELS.get(Path(spec).suffix)):
            raise ValueError(f"{where}: {spec!r} names a file, want a spec such as 'hand:ply=1': {how.format(spec)}")
        found = None if agent == "exec" else _WEIGHTS.search(options)
        rest = options[found.end() :] if found else ""
        text = _path_text(rest)
        if not text.startswith(UPLOADED) and (path := text.strip('"')):
            try:
                data = Path(path).read_bytes()
            except OSError as error:
                if not trusted or not isinstance(error, FileNotFoundError):
                    how = "" if text == rest else "; a path with commas goes in quotes"
                    said = f"{where}, {spec!r}: {error.strerror}{how}"
                    raise type(error)(error.errno, said, path) from None
            else:
                name = UPLOADED + hashlib.sha256(data).hexdigest()
                sent = f"{spec.removesuffix(rest)}{name}{rest[len(text) :]}"
                self.files[name] = (sent, data)
                self.names.setdefault(sent, spec)
                return sent
        self.names.setdefault(spec, spec)
        return spec


@dataclass(frozen=True)
class OpponentStats:
    """The finished episodes against one opponent.

    In games of more than two seats an episode counts once for each pair of a driven seat and a seat that the opponent
    played.

    Attributes:
        wins, draws, losses: of the driven seats.
        truncated: episodes that the step limit ended, without a result.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    truncated: int = 0

    @property
    def games(self) -> int:
        """The number of finished episodes."""
        return self.wins + self.draws + self.losses + self.truncated

    @property
    def score(self) -> float:
        """Wins and half of the draws per game with a result, 0 to 1; nan if there is none."""
        decided = self.wins + self.draws + self.losses
        return (self.wins + self.draws / 2) / decided if decided else math.nan

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers by name, for a logger."""
        return {name: getattr(self, name) for name in ("games", "wins", "draws", "losses", "truncated", "score")}


def rungs(game: str) -> list[str]:
    """Ten opponents of a game, the weakest first: a baseline of one ply that plays ever fewer moves at random.

    Train against the first until you win more than half of your games, then against the next (``env.set_opponents``).
    ``rungs.json`` beside this module has their Elo above ``random``, which ``rpc/bench/rungs.py`` of the repository
    measures.

    Args:
        game: name of a game of several seats, such as ``"BlockBattle-v0"``. Its variants have the same opponents.

    Raises:
        ValueError: if the game has no such list: it is unknown, or of one seat.
    """
    base = game_name(game).split(":")[0].removesuffix("-v0").lower()
    for env_id, found in _RUNGS.items():
        if env_id.removesuffix("-v0").lower() == base:
            return [rung["agent"] for rung in found]
    raise ValueError(f"no rungs for {game!r}: want {', '.join(_RUNGS)}")
