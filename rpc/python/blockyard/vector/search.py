"""Methods for search and value learning: legal actions, afterstates, states, rollouts, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..formats.arguments import Ids, game_ids, positive
from ..formats.seeding import check_seed
from ..rendering.frames import Frame
from ..rendering.human import Display
from ..rendering.notebook import game_picture, page
from ..rendering.rgb import rgb
from ..rendering.svg import Svg, svg
from ..transport.buffer import RolloutBuffer
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .batch import Obs, Rows
from .infos import FinalStep
from .results import Afterstates, LegalActions, Rollout, join_indptr


class Search(Rows):
    """The part of BlockVectorEnv for searches, value learners, rollouts and pictures.

    ``env_ids`` are indices of games, 0 <= i < num_games, in any order and without duplicates; None means
    all games in order. With ``rows_per_game == 1`` they are indices of rows too.
    """

    render_mode: str | None
    _transport: SocketTransport
    _afterstate_calls: int
    _screen: Display | None = None

    def _call(self, method: str, *params: Any) -> Any:
        self._refuse_pending(method)
        return self._transport.call(method, *params)

    def _refuse_pending(self, method: str) -> None:
        raise NotImplementedError

    def _send_policy(self, policy: str) -> str:
        raise NotImplementedError

    def _next_memory(self) -> StepMemory:
        raise NotImplementedError

    def _pages(self, method: str, env_ids: Ids, *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a request about games; yield the responses, each for as many games as fit into one message."""
        self._refuse_pending(method)
        return self._transport.pages(method, game_ids(env_ids, self.num_games), *options)

    # -- legal actions, afterstates -----------------------------------------------------

    def legal_actions(self, env_ids: Ids = None) -> LegalActions:
        """Return the legal actions of the rows of these games, in CSR form."""
        pages = [
            LegalActions(np.frombuffer(d["indptr"], "<u4"), np.frombuffer(d["actions"], "<u2"))
            for d in self._pages("legal", env_ids)
        ]
        if len(pages) == 1:
            return pages[0]
        return LegalActions(join_indptr([p.indptr for p in pages]), np.concatenate([p.actions for p in pages]))

    def sample_actions(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a uniformly random legal action for every row, int64 (num_envs,).

        A row that need not act has one legal action, ``ignored_action``.
        """
        return self.legal_actions().sample(rng)

    def afterstates(self, env_ids: Ids = None, *, seed: int | None = None) -> Afterstates:
        """Return the position after each legal action of the rows of these games.

        The result is large: Block Battle has about 35 positions per row. To use less memory, request a
        part of the games at a time.

        Args:
            env_ids: indices of games; None means all.
            seed: seed of random draws such as the next piece. The draws are the same for all actions of a row,
                different for every row, and do not depend on the other games in env_ids. None: different draws
                in each call.
        """
        self._afterstate_calls += 1
        options = {"seed": self._afterstate_calls if seed is None else check_seed(seed)}
        parts = [self._afterstates(d) for d in self._pages("afterstates", env_ids, options)]
        if len(parts) == 1:
            return parts[0]
        names = ("actions", "planes", "globals", "reward", "done")
        rest = (np.concatenate([getattr(p, name) for p in parts]) for name in names)
        return Afterstates(join_indptr([p.indptr for p in parts]), *rest)

    def _afterstates(self, d: dict[str, Any]) -> Afterstates:
        m = len(d["actions"]) // 2
        return Afterstates(
            np.frombuffer(d["indptr"], "<u4"),
            np.frombuffer(d["actions"], "<u2"),
            np.frombuffer(d["planes"], np.uint8).reshape(m, *self.game_spec.planes_shape),
            np.frombuffer(d["globals"], "<f4").reshape(m, len(self.game_spec.global_names)),
            np.frombuffer(d["reward"], "<f4"),
            np.frombuffer(d["done"], np.bool_),
        )

    def final(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step; call it right after that step."""
        self._refuse_pending("final")
        return self._join(self._transport.finals())

    def _final(self) -> FinalStep:
        return self._join(self._transport.finals(new=True))

    def _join(self, answers: list[tuple[dict[str, Any], int]]) -> FinalStep:
        """Return the final positions in answers to ``final``, each with the index of its server's first game."""
        n = self.rows_per_game
        keys = ("planes", "globals", "seat", "scores", "lengths", "opponents")
        joined = {key: b"".join(d[key] for d, _ in answers) for key in keys}
        games = np.concatenate([np.frombuffer(d["envs"], "<u4").astype(np.int64) + first for d, first in answers])
        mask = b"".join(d.get("mask", b"") for d, _ in answers)
        rows = len(games) * n
        seat = np.tile(np.array(self.players, np.uint8), len(games))
        if self._varying:
            seat = np.frombuffer(joined["seat"], np.uint8)
        last = np.frombuffer(mask, np.uint8).reshape(rows, -1).copy() if mask else None
        if last is not None:
            last[~last.any(axis=1), 0] = 1
        return FinalStep(
            games,
            np.frombuffer(joined["planes"], np.uint8).reshape(rows, *self.game_spec.planes_shape).copy(),
            np.frombuffer(joined["globals"], "<f4").reshape(rows, len(self.game_spec.global_names)).copy(),
            seat,
            np.frombuffer(joined["scores"], "<i4").reshape(len(games), self._handle.seats),
            np.frombuffer(joined["lengths"], "<u4"),
            last,
            np.frombuffer(joined["opponents"], "<u2").reshape(len(games), self.seats)
            if self._others is not None
            else None,
        )

    # -- states -----------------------------------------------------------------------

    def snapshot(self, env_ids: Ids = None) -> NDArray[np.uint8]:
        """Return the complete state of these games, uint8 (games, state_len).

        A state may be saved to a file and restored by another environment or server with the same game,
        rules version and number of seats. The internal state of the server's opponents is not part of it.
        """
        pages = [np.frombuffer(d["states"], np.uint8) for d in self._pages("snapshot", env_ids)]
        return np.concatenate(pages).reshape(-1, self._handle.state_len)

    def restore(
        self, states: NDArray[np.uint8], env_ids: Ids = None, *, reseed: int | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Restore the states of these games.

        Args:
            states: uint8 (len(env_ids), state_len), rows of :meth:`snapshot`.
            env_ids: indices of games; None means all.
            reseed: redraw everything hidden, from this seed and the game's index, so that copies of a position
                have different futures. None: the future is that of the snapshot.

        Returns:
            The observations and infos of all rows.

        Raises:
            BadStateError: a row is not a state of this game. No game has changed, unless the states needed more
                than one message.
            ValueError: states has the wrong dtype or shape.
        """
        ids = game_ids(env_ids, self.num_games)
        rows = np.ascontiguousarray(states)
        if rows.dtype != np.uint8 or rows.shape != (len(ids), self._handle.state_len):
            raise ValueError(
                f"states: want uint8 ({len(ids)}, {self._handle.state_len}), got {rows.dtype} {rows.shape}"
            )
        self._refuse_pending("restore")
        memory = self._next_memory()
        self._transport.restore(memory, ids, rows, _reseed(reseed))
        self._memory = memory
        return memory.observation(), self._infos(memory)

    def clone(self, src: Ids, dst: Ids, *, reseed: int | None = None) -> tuple[Obs, dict[str, Any]]:
        """Copy the states of games src to games dst, pair by pair.

        Args:
            src: indices of games; an index may appear more than once.
            dst: indices of games, as many as src; without duplicates.
            reseed: as in :meth:`restore`.

        Returns:
            The observations and infos of all rows.
        """
        self._refuse_pending("clone")
        source, target = game_ids(src, self.num_games, "src"), game_ids(dst, self.num_games, "dst")
        if len(source) != len(target):
            raise ValueError(f"clone: {len(source)} sources for {len(target)} targets, want equal numbers")
        memory = self._next_memory()
        self._transport.clone(memory, source, target, _reseed(reseed))
        self._memory = memory
        return memory.observation(), self._infos(memory)

    # -- rollouts ---------------------------------------------------------------------

    def buffer(self, steps: int) -> RolloutBuffer:
        """Return a rollout buffer for this many steps: ``step(actions, out=buffer[t])`` or ``rollout(buffer)`` fill it.

        With shared memory the server writes into it directly, so nothing is copied.
        """
        return self._transport.buffer(positive("steps", steps))

    def rollout(
        self, steps: int | RolloutBuffer, policy: str = "random", *, keep: Literal["all", "last"] = "all"
    ) -> Rollout:
        """Let the server play the driven seats too, without a message per step.

        Games that end are reset, in every autoreset mode. The actions depend on the seeds of the games only, so one
        long rollout plays the same as several short ones.

        Args:
            steps: number of steps, 1 to 1,000,000; or a buffer to fill.
            policy: the policy of the driven seats: ``"random"`` plays random legal actions; or a spec such as
                ``"hand"`` or ``"learned:weights=FILE"``; ``game_spec.opponents`` lists the server's policies. A local
                file is uploaded.
            keep: ``"all"`` returns every step, ``"last"`` only the last.

        Raises:
            RequestError: the server does not know the policy.
            LimitError: the policy needs more memory than the server allows.
        """
        self._refuse_pending("rollout")
        policy = self._send_policy(policy)
        if isinstance(steps, RolloutBuffer):
            count, buffer = steps.steps, steps
        else:
            count = positive("steps", steps)
            if keep == "last" and count > 1:
                self._transport.skip(count - 1, policy)
            buffer = self.buffer(1 if keep == "last" else count)
        self._transport.rollout(buffer, policy)
        for t in range(len(buffer)):
            self._complete(buffer[t], self.autoreset_mode is AutoresetMode.SAME_STEP)
        self._memory = buffer.memory(len(buffer) - 1)
        return Rollout(buffer, count)

    # -- pictures ---------------------------------------------------------------------

    def picture(self, game: int = 0, mode: str | None = None) -> Any:
        """Return a picture of one game.

        Args:
            game: index of the game, 0 <= game < num_games.
            mode: ``"text"`` or ``"ansi"`` (text with terminal colours): str; ``"rgb_array"``: uint8 (height, width,
                3); ``"svg"``: a str that notebooks display as a picture. By default the ``render_mode`` of the
                environment, or ``"ansi"``.
        """
        if mode is None:
            mode = self.render_mode if self.render_mode in ("rgb_array", "svg") else "ansi"
        if mode not in ("svg", "rgb_array"):
            return self._call("render", game, {"mode": mode})
        frame = Frame.from_wire(self._call("render", game, {"mode": "frame"}))
        if mode == "rgb_array":
            return rgb(frame)
        return svg(frame, self.game_spec.id if self.num_games == 1 else f"{self.game_spec.id} · game {game}")

    def _display(self) -> None:
        """Show the first game; for ``render_mode="human"``."""
        if self._screen is None:
            self._screen = Display(fps=4)
        self._screen.show(lambda mode: self.picture(0, mode))

    def _repr_html_(self) -> str:
        """Return what a notebook displays: the game and its size, and pictures of the first games."""
        games = "1 game" if self.num_games == 1 else f"{self.num_games:,} games"
        rows = "" if self.num_envs == self.num_games else f" · {self.num_envs:,} rows"
        words = f"{games}{rows} · {self.game_spec.actions:,} actions · {self.autoreset_mode.value}"
        return page(self.game_spec.id, words, self.picture, self.num_games)

    def _repr_svg_(self) -> Svg | None:
        """Return a picture of the first game, for viewers without HTML; None if there is none now."""
        return game_picture(self.picture)


def _reseed(reseed: int | None) -> dict[str, int]:
    return {} if reseed is None else {"reseed": check_seed(reseed, "reseed")}
