"""What a vector environment can do beyond stepping: look ahead, go back, play by itself."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .asking import Ids, game_ids, one_seed
from .buffers import Buffer
from .client import Client
from .frames import Frame
from .links import Link
from .notebook import game_page, page
from .positions import Afterstates, Final, Legal, Rollout
from .render import picture
from .rows import Rows
from .slab import Slab
from .svg import svg


class Lookahead(Rows):
    """The part of BlockVectorEnv for searches and value learners.

    Games are meant by index, 0 <= i < num_games, in any order, none twice; None is all of
    them in order. With rows_per_game = 1 that is the row.
    """

    client: Client
    render_mode: str | None
    _link: Link
    _looked: int

    def _call(self, method: str, *params: Any) -> Any:
        self._refuse_pending(method)
        return self._link.call(method, *params)

    def _refuse_pending(self, method: str) -> None:
        raise NotImplementedError

    def _new_slab(self) -> Slab:
        raise NotImplementedError

    # -- looking ahead --------------------------------------------------------------

    def _pages(self, method: str, env_ids: Ids, *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Ask about games, as many at a time as the server answers at once."""
        self._refuse_pending(method)
        return self._link.pages(method, game_ids(env_ids, self.num_games), *options)

    def legal_actions(self, env_ids: Ids = None) -> Legal:
        """Return the legal actions of the rows of these games, in compressed rows."""
        pages = [
            Legal(np.frombuffer(d["indptr"], "<u4"), np.frombuffer(d["actions"], "<u2"))
            for d in self._pages("legal", env_ids)
        ]
        if len(pages) == 1:
            return pages[0]
        return Legal(_join_indptr([p.indptr for p in pages]), np.concatenate([p.actions for p in pages]))

    def sample_actions(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a uniformly random legal action for every row, int64 (num_envs,); 0 where a row need not act."""
        return self.legal_actions().sample(rng)

    def afterstates(self, env_ids: Ids = None, *, seed: int | None = None) -> Afterstates:
        """Return the position after each legal action of the rows of these games.

        It is much data, about 35 positions a row in Block Battle: ask for a part of the games at a
        time if memory matters.

        Args:
            env_ids: the games; None for all.
            seed: of what the choices draw: alike for all choices of a row, other for every row of every game,
                whatever else is asked with it. None for another one each time.
        """
        self._looked += 1
        options = [{"seed": self._looked if seed is None else one_seed(seed)}]
        return _join([self._afterstates(d) for d in self._pages("afterstates", env_ids, *options)])

    def _afterstates(self, d: dict[str, Any]) -> Afterstates:
        m = len(d["actions"]) // 2
        return Afterstates(
            np.frombuffer(d["indptr"], "<u4"),
            np.frombuffer(d["actions"], "<u2"),
            np.frombuffer(d["planes"], np.uint8).reshape(m, *self.facts.planes_shape),
            np.frombuffer(d["globals"], "<f4").reshape(m, len(self.facts.global_names)),
            np.frombuffer(d["reward"], "<f4"),
            np.frombuffer(d["done"], np.bool_),
        )

    def final(self) -> Final:
        """Return how the games stood that ended in the last step, before anything else is called."""
        self._refuse_pending("final")
        answers, n = self._link.finals(), self.rows_per_game
        keys = ("planes", "globals", "seat", "scores", "lengths")
        joined = {key: b"".join(d[key] for d, _ in answers) for key in keys}
        games = np.concatenate([np.frombuffer(d["envs"], "<u4").astype(np.int64) + first for d, first in answers])
        mask = b"".join(d.get("mask", b"") for d, _ in answers)
        planes = np.frombuffer(joined["planes"], np.uint8).reshape(len(games) * n, *self.facts.planes_shape)
        globals_ = np.frombuffer(joined["globals"], "<f4").reshape(len(games) * n, len(self.facts.global_names))
        return Final(
            games,
            planes.copy(),
            globals_.copy(),
            np.frombuffer(joined["seat"], np.uint8),
            np.frombuffer(joined["scores"], "<i4").reshape(len(games), self._handle.seats),
            np.frombuffer(joined["lengths"], "<u4"),
            np.frombuffer(mask, np.uint8).reshape(len(games) * n, -1) if mask else None,
        )

    # -- going back -----------------------------------------------------------------

    def snapshot(self, env_ids: Ids = None) -> NDArray[np.uint8]:
        """Return the whole state of these games, one a row: uint8 (games, state_len).

        It may be kept in a file and restored by another environment or server with the same game,
        rules version and number of seats. What players of the server remember is not part of it.
        """
        pages = [np.frombuffer(d["states"], np.uint8) for d in self._pages("snapshot", env_ids)]
        return np.concatenate(pages).reshape(-1, self._handle.state_len)

    def restore(
        self, states: NDArray[np.uint8], env_ids: Ids = None, *, reseed: int | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Put these games back to states, rows of a snapshot.

        Args:
            states: uint8 (len(env_ids), state_len).
            env_ids: the games; None for all.
            reseed: draw all that is hidden anew, from this and the game's index, so that copies of one position
                have different futures.

        Returns:
            All observations, and infos.

        Raises:
            BadStateError: a row is no state of this game. No game has then changed, unless there are
                more states than fit into one message of the server.
        """
        ids = game_ids(env_ids, self.num_games)
        rows = np.ascontiguousarray(states)
        if rows.dtype != np.uint8 or rows.shape != (len(ids), self._handle.state_len):
            raise ValueError(
                f"states: want uint8 ({len(ids)}, {self._handle.state_len}), got {rows.dtype} {rows.shape}"
            )
        self._refuse_pending("restore")
        slab = self._new_slab()
        self._link.restore(slab, ids, rows, _reseed(reseed))
        self._slab = slab
        return slab.observation(), self._infos(slab)

    def clone(self, src: Ids, dst: Ids, *, reseed: int | None = None) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Make games dst copies of games src, pair by pair; reseed as in restore.

        Unlike elsewhere a game may stand in src more than once.

        Returns:
            All observations, and infos.
        """
        self._refuse_pending("clone")
        source, target = game_ids(src, self.num_games, "src"), game_ids(dst, self.num_games, "dst")
        if len(source) != len(target):
            raise ValueError(f"clone: {len(source)} sources for {len(target)} games")
        slab = self._new_slab()
        self._link.clone(slab, source, target, _reseed(reseed))
        self._slab = slab
        return slab.observation(), self._infos(slab)

    # -- playing by itself, and being looked at -------------------------------------

    def buffer(self, steps: int) -> Buffer:
        """Return room for this many steps: ``step(actions, out=buffer[t])`` and ``rollout(buffer)`` fill it.

        Over shared memory it is memory of the server's, so that nothing is ever copied.
        """
        if isinstance(steps, bool) or operator.index(steps) < 1:
            raise ValueError(f"steps: want at least 1, got {steps}")
        return self._link.buffer(operator.index(steps))

    def rollout(
        self, steps: int | Buffer, policy: str = "random", *, keep: Literal["all", "last"] = "all"
    ) -> Rollout:
        """Let the server play the driven seats too, without a message a step.

        Ended games begin anew, whatever the autoreset mode. What is played follows from the games' own seeds:
        one long rollout and several short ones play the same.

        Args:
            steps: how many, at most 1,000,000, or a buffer to be filled.
            policy: who plays: ``"random"`` for random legal actions, or a spec such as ``"hand"`` or ``"learned"``;
                ``facts.opponents`` lists some.
            keep: every step, or only the last.

        Raises:
            RequestError: there is no such policy; or the server knows none but ``"random"``.
            LimitError: the server has not the memory for its players.
        """
        self._refuse_pending("rollout")
        if keep == "last" and not isinstance(steps, Buffer):
            return self._rollout_last(operator.index(steps), policy)
        buffer = steps if isinstance(steps, Buffer) else self.buffer(steps)
        self._link.rollout(buffer, policy)
        slabs = [buffer[t] for t in range(buffer.steps)]
        self._slab = slabs[-1]
        return Rollout(slabs, buffer.actions, buffer.steps, buffer)

    def _rollout_last(self, steps: int, policy: str) -> Rollout:
        if steps < 1:
            raise ValueError(f"steps: want at least 1, got {steps}")
        if steps > 1:
            self._link.skip(steps - 1, policy)
        buffer = self.buffer(1)
        self._link.rollout(buffer, policy)
        self._slab = buffer[0]
        return Rollout([self._slab], buffer.actions, steps, buffer)

    def picture(self, game: int = 0, mode: str | None = None) -> Any:
        """Return a picture of one game.

        Args:
            game: which, 0 <= game < num_games.
            mode: ``"text"``, ``"ansi"`` (text with a terminal's colours): str; ``"rgb_array"``: uint8 (height,
                width, 3); ``"svg"``: a str that notebooks show as a picture. By default the environment's
                ``render_mode``, or ``"ansi"``.
        """
        mode = mode or self.render_mode or "ansi"
        if mode == "svg":
            title = self.facts.id if self.num_games == 1 else f"{self.facts.id} · game {game}"
            return svg(Frame.from_wire(self._call("render", game, {"mode": "frame"})), title)
        if mode == "rgb_array":
            return picture(self._call("render", game, {"mode": "frame"}))
        return self._call("render", game, {"mode": mode})

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the facts, and how the first games stand."""
        return page(self)  # type: ignore[arg-type]

    def _repr_svg_(self) -> str | None:
        """Return a picture of the first game, for what shows no HTML; None if there is none now."""
        return game_page(self)  # type: ignore[arg-type]


def _reseed(reseed: int | None) -> dict[str, int]:
    return {} if reseed is None else {"reseed": one_seed(reseed, "reseed")}


def _join_indptr(parts: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    out, base = [np.zeros(1, np.uint32)], np.uint32(0)
    for indptr in parts:
        out.append(indptr[1:] + base)
        base += indptr[-1]
    return np.concatenate(out)


def _join(parts: list[Afterstates]) -> Afterstates:
    if len(parts) == 1:
        return parts[0]
    rest = (np.concatenate([getattr(p, k) for p in parts]) for k in ("actions", "planes", "globals", "reward", "done"))
    return Afterstates(_join_indptr([p.indptr for p in parts]), *rest)
