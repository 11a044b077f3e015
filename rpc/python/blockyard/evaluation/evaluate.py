"""How strong policies are: games on the server, with the statistics of ``agents arena`` and ``agents ladder``."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..formats.arguments import check_seed, derive_seed, positive
from ..formats.opponents import MADE, Mixture, Player, has_policies, is_player, name_of
from ..transport.address import Tls
from ..transport.memory import StepMemory
from ..transport.policies import checked
from ..transport.progress import bar
from ..transport.session import Session
from ..vector.batch import Obs
from ..vector.env import BlockVectorEnv, asked, vector_of
from .standings import Game, Ladder, MultiPlayerEvaluation, SinglePlayerEvaluation, TwoPlayerEvaluation, report

Several = Sequence[Player | Mixture]


def evaluate(
    policy: Player,
    opponents: Player | Mixture | Several = "random",
    *,
    game: str | BlockVectorEnv,
    games: int = 400,
    seed: int = 1,
    seats: int | None = None,
    cap: int | None = None,
    steps: int | None = None,
    name: str | None = None,
    num_envs: int = 128,
    packed: bool = False,
    address: str | None = None,
    token: str | None = None,
    tls: Tls = None,
    timeout: float = 300.0,
) -> Any:
    """Play games between a policy and an opponent, and say how strong the policy is.

    With two seats, games come in pairs on the same seed, in which the policy has seat 0 and then seat 1. With more
    seats, they come in sets in which it has every seat once and the opponent all others. With one seat, there is one
    game for each seed. These are the games of ``agents arena`` with the same ``--seed``, and the result prints as
    arena does, but does not say which pairs are the same game twice. It does not depend on num_envs, unless the
    policy's actions do.

    Args:
        policy: called as ``policy(obs, mask)`` with the observations of num_envs games at most, and bool (rows,
            actions), True where an action is legal; returns legal actions, integers (rows,), as an array or a torch
            tensor. A torch module is called in the same way, with numpy arrays, so wrap one that wants tensors. If
            it has a method ``reset``, that is called with bool (rows,) before each batch in which games begin, with
            True for their rows: for policies with a memory. Or the spec of a policy that the server plays, such as
            ``"learned:ply=1,weights=mine.safetensors"``.
        opponents: what plays all other seats: a spec, another policy, or a mixture such as ``{"hand:ply=1": 1, other:
            3}``; or a list of these, each of which is played. Ignored in games of one seat.
        game: id of the game; or an environment, whose game, seats, packing and server are used.
        games: number of games; a multiple of the number of seats.
        seed: seed of the evaluation, from which the seeds of the games are derived.
        seats: seats of each game, in a game that allows several; by default the fewest.
        cap, steps: in a game of one seat, stop a game at this score, or after this many actions.
        name: of the policy in the result; by default that of the function or class, or the spec.
        num_envs: number of games that are played at once.
        packed: whether observations have ``bits`` instead of ``planes``.
        address, token, tls, timeout: the server, as in :func:`blockyard.make_vec`.

    Returns:
        An :class:`Evaluation`; for a list of opponents, a list of them.

    Raises:
        RequestError, UnknownGameError: the server does not know the opponent or the game.
        TypeError, ValueError: an argument is malformed, or the policy returned an action that is not legal.
    """
    if isinstance(opponents, (list, tuple)):
        how = {key: value for key, value in locals().items() if key not in ("policy", "opponents")}
        return [evaluate(policy, one, **how) for one in opponents]
    if not is_player(policy):
        want = "a callable policy(obs, mask) or a spec such as 'hand'"
        raise TypeError(f"policy: want {want}, got {policy!r:.100}; {MADE}")
    if isinstance(policy, str) and isinstance(opponents, Mapping) and has_policies(opponents):
        raise TypeError("opponents: a spec plays specs, or one policy at a time: pass a list instead of a mixture")
    if not isinstance(game, str):
        game = vector_of(game)
        seats, packed = seats or game.seats, game.packed
    with asked(game, address, token=token, tls=tls, timeout=timeout) as (client, spec):
        count = spec.min_seats if seats is None else positive("seats", seats)
        units = _units(spec.name, positive("games", games), count, cap, steps)
        seeds = [derive_seed(check_seed(seed), i) for i in range(units)]
        match = Match(policy, opponents, client, spec.name, seeds, count, packed, cap, steps)
        results = match.play(positive("num_envs", num_envs))
        names = [name or name_of(policy), _name(opponents)][: min(count, 2)]
        kind: Any = {1: SinglePlayerEvaluation, 2: TwoPlayerEvaluation}.get(count, MultiPlayerEvaluation)
        return report(kind, client, spec.name, names, seed, results, cap=cap or 0, steps=steps or 0)


def _name(opponents: Any) -> str:
    if isinstance(opponents, Mapping):
        return " + ".join(f"{weight:g} {name_of(player)}" for player, weight in opponents.items())
    return name_of(opponents)


def _units(game: str, games: int, seats: int, cap: int | None, steps: int | None) -> int:
    """Return the number of seeds, each of which is played once from every seat."""
    if games % seats:
        what = "pairs" if seats == 2 else f"sets of {seats}"
        raise ValueError(f"games: {games}, but games come in {what}, with the policy in every seat once")
    if seats > 1 and (cap is not None or steps is not None):
        raise ValueError(f"cap, steps: they are for games of one seat, {game} is played by {seats}")
    for name, limit in (("cap", cap), ("steps", steps)):
        if limit is not None:
            positive(name, limit)
    return games // seats


def ladder(
    players: Mapping[str, Player | os.PathLike[str]],
    *,
    game: str | BlockVectorEnv,
    games: int = 40,
    seed: int = 1,
    num_envs: int = 128,
    packed: bool = False,
    address: str | None = None,
    token: str | None = None,
    tls: Tls = None,
    timeout: float = 300.0,
) -> Ladder:
    """Rate players by a round robin of a game of two seats.

    Every two players meet in pairs of games on the same seed with the seats swapped. The ratings are those that make
    all results most likely. Games and numbers are those of ``agents ladder`` with the same agents and ``--seed``; only
    agents that choose at random draw other numbers.

    Args:
        players: by name: a policy, as in :func:`blockyard.evaluate`; a spec of the server, such as ``"hand:ply=1"``; or
            a file of weights as a ``Path``, which plays as ``learned:ply=1``.
        game: id of the game; or an environment, whose game, packing and server are used.
        games: number of games of every two players, even.
        seed: of the ladder.
        num_envs, packed, address, token, tls, timeout: as in :func:`blockyard.evaluate`.

    Raises:
        RequestError, UnknownGameError: the server does not know a spec or the game.
        TypeError, ValueError: an argument is malformed, or a policy returned an action that is not legal.
    """
    if not isinstance(players, Mapping):
        raise TypeError(f"players: want a dict such as {{'mine': policy, 'random': 'random'}}, got {players!r:.100}")
    if positive("games", games) % 2 or len(players) < 2:
        raise ValueError(
            f"ladder: {len(players)} players, {games} games: want at least two, and an even number of games"
        )
    chosen = {
        name: f'learned:ply=1,weights="{os.fspath(one)}"' if isinstance(one, os.PathLike) else one
        for name, one in players.items()
    }
    if not isinstance(game, str):
        packed = vector_of(game).packed
    with asked(game, address, token=token, tls=tls, timeout=timeout) as (client, spec):
        if not spec.min_seats <= 2 <= spec.max_seats:
            raise ValueError(f"ladder: {spec.name} has no game of two seats")
        seeds = [derive_seed(derive_seed(check_seed(seed), i), 0) for i in range(games // 2)]
        pairs = combinations(chosen.values(), 2)
        units = [unit for a, b in pairs for unit in Match(a, b, client, spec.name, seeds, 2, packed).play(num_envs)]
        between = np.array(list(combinations(range(len(chosen)), 2)), "<u2").repeat(len(seeds), 0).tobytes()
        result: Ladder = report(Ladder, client, spec.name, list(chosen), seed, units, between=between)
        return result


@dataclass
class Match:
    """The games of an evaluation, in which the policy has every seat once with each seed."""

    policy: Player
    opponent: Any
    client: Session
    game: str
    seeds: list[int]
    seats: int
    packed: bool
    cap: int | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        # The server plays a spec among policies: then these are driven.
        self._reversed = isinstance(self.policy, str) and callable(self.opponent)
        self._driver: Player = self.opponent if self._reversed else self.policy

    def play(self, num_envs: int) -> list[list[Game]]:
        """Play all games, num_envs at once; return those of each seed, by seat."""
        results: list[list[Game]] = [[] for _ in self.seeds]
        with bar("evaluating", len(self.seeds) * self.seats, "games") as advance:
            for seat in range(self.seats):
                for unit, game in self._from_seat(seat, min(num_envs, len(self.seeds))):
                    results[unit].append(game)
                    advance(1)
        return results

    def _from_seat(self, seat: int, num_envs: int) -> Iterator[tuple[int, Game]]:
        """Play each seed with the policy in one seat; yield the number of the seed and the game."""
        others = {k: self.opponent for k in range(self.seats) if k != seat}
        if self._reversed:
            others = {seat: self.policy}
        how = {"client": self.client, "seats": self.seats, "packed": self.packed, "max_episode_steps": self.steps}
        how |= {"opponents": others or None, "autoreset_mode": AutoresetMode.DISABLED, "reward": "result"}
        with BlockVectorEnv(self.game, num_envs, **how) as env:
            # Game i plays seed number playing[i]; when all seeds are taken it plays on, and only the others count.
            playing, waiting, left = list(range(num_envs)), iter(range(num_envs, len(self.seeds))), len(self.seeds)
            counts, length, over = [True] * num_envs, np.zeros(num_envs, np.int64), np.ones(num_envs, np.bool_)
            prints = np.zeros(num_envs, np.uint64)  # of the actions so far
            obs, _ = env.reset(seed=self.seeds[:num_envs])
            while left:
                obs, memory, chosen = self._step(env, obs, over)
                over = memory.terminated | memory.truncated
                if self.cap is not None:
                    over = over | (env.scores[:, 0] >= self.cap)
                for column in chosen.reshape(num_envs, -1).T.astype(np.uint64):
                    prints = prints * np.uint64(0x100000001B3) + column + np.uint64(1)
                length += 1
                ended = np.flatnonzero(over).tolist()
                for i in ended:
                    if counts[i]:
                        results, scores = map(tuple, (env.seat_rewards[i].tolist(), env.scores[i].tolist()))
                        boards: Any = memory.bits if memory.planes is None else memory.planes
                        row = i * env.rows_per_game
                        mark = int(prints[i]) ^ crc32(memory.globals[row], crc32(boards[row]))
                        yield playing[i], Game(results, scores, int(length[i]), bool(memory.terminated[i]), mark)
                        left -= 1
                    counts[i] = (fresh := next(waiting, None)) is not None
                    playing[i] = playing[i] if fresh is None else fresh
                if ended and left:
                    length[ended], prints[ended] = 0, 0
                    seeds = [self.seeds[k] if new else None for k, new in zip(playing, over, strict=True)]
                    obs, _ = env.reset(seed=seeds, options={"reset_mask": over.repeat(env.rows_per_game)})

    def _step(self, env: BlockVectorEnv, obs: Obs, begun: NDArray[np.bool_]) -> tuple[Obs, StepMemory, NDArray[Any]]:
        """Step with the actions of the policy; return observations, the arrays of the step, and the actions."""
        if isinstance(self._driver, str):
            buffer = env.rollout(1, self._driver).buffer
            return {}, buffer.memory(0), buffer.actions[0]
        if begun.any() and hasattr(self._driver, "reset"):
            self._driver.reset(begun.repeat(env.rows_per_game))
        mask = env.action_masks
        actions = checked(self._driver(obs, mask.copy()), mask)  # what it writes there is its own
        obs, *_ = env.step(actions)
        return obs, env.engine.batch.current, actions
