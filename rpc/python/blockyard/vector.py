"""The vector environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .address import Tls
from .asking import Seed, action_row, fresh_seed, one_seed, reset_mask, seed_list
from .client import Client
from .errors import BlockyardError
from .lookahead import Lookahead
from .opening import Opening, open_options
from .rows import Obs as Obs
from .rows import StepResult
from .slab import Slab

# Where the answer to a step goes, if it is to go to a certain place.
Out = Slab | Mapping[str, NDArray[Any]] | None

RENDER_MODES = ["ansi", "rgb_array"]


class BlockVectorEnv(Lookahead, VectorEnv[Obs, NDArray[Any], NDArray[Any]]):
    """Many games at once, each stepped by the server; a ``gymnasium.vector.VectorEnv``.

    One row is one seat that we drive. With one driven seat a game, the default, there are as
    many rows as games. With several (``opponents=None`` in a game of two that move at once)
    each game has that many rows, neighbours in every array: row i is game ``i //
    rows_per_game``, seat ``players[i % rows_per_game]``, with the observation, action and
    reward of that seat; ``num_envs`` counts rows, ``num_games`` games. A policy thus trains
    against itself on a flat batch without knowing.

    Observations are dicts of ``planes``, uint8 (num_envs, C, H, W), and ``globals``, float32
    (num_envs, G). Rewards are float64, flags bool, all (num_envs,). Infos have

    ===============  ==========================  =============================================
    ``action_mask``  int8 (num_envs, actions)    1 where an action is legal; unpacked when read
    ``score``        int32 (num_envs,)           the row's points so far
    ``final_obs``    object (num_envs,)          SAME_STEP: the last observation of an episode
    ``final_info``   dict                        SAME_STEP: its ``action_mask`` and ``score``
    ===============  ==========================  =============================================

    each with its ``_key`` mask. The final ``action_mask`` of an episode that terminated is all zero,
    that of one that was truncated says what could have been played. With ``packed=True`` observations
    have ``bits`` in the place of ``planes``; :meth:`unpack` spreads them out.

    Attributes:
        facts: the game's facts.
        num_games: games at once.
        rows_per_game: rows of each.
        players: the seats we drive.
        client: the session with the server; of several, the first.
        autoreset_mode: what becomes of a game that ended.
        packed: whether observations have ``bits`` in the place of ``planes``.
        seats: how many players each game has.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        client: Client | None = None,
        address: str | Sequence[str] | None = None,
        token: str | None = None,
        tls: Tls = None,
        timeout: float = 30.0,
        seed: Seed = None,
        seats: int | None = None,
        opponents: Mapping[int, str] | str | None = "random",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        reward: str = "result",
        illegal: str = "error",
        max_episode_steps: int | None = None,
        mask: bool = True,
        copy: bool = True,
        slots: int = 2,
        packed: bool = False,
        transport: Literal["auto", "shm", "socket"] = "auto",
        first: int = 0,
        render_mode: str | None = None,
    ) -> None:
        """Open it; see :func:`blockyard.make_vec` for what the arguments mean."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode {render_mode!r}: want None or one of {RENDER_MODES}")
        if not copy and operator.index(slots) < 2:
            raise ValueError(f"slots: want at least 2, got {slots}")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        options = open_options(self.autoreset_mode, reward, illegal, max_episode_steps)
        opening = Opening(game, num_envs, first, seats, opponents, mask, packed, transport, client, options)
        self._own_client = client is None
        self._link = opening.open(address, token, timeout, tls)
        try:
            self.facts, self.client, self._handle = opening.facts, self._link.client, self._link.handle
            self._first_seed = self._check_seed(seed)
            self._ring, self._turn = None if copy else self._link.ring(slots), 0
        except BaseException:
            self._link.close(self._own_client)
            raise
        self.render_mode = render_mode
        self.metadata = {"render_modes": RENDER_MODES, "render_fps": 4, "autoreset_mode": self.autoreset_mode}
        self._with_mask, self.packed = mask, packed
        self._lay_out()

    def _lay_out(self) -> None:
        """Set what follows from the handle: sizes, spaces, buffers."""
        h = self._handle
        self.num_games, self.seats, self.players, self.rows_per_game = h.games, h.seats, h.players, h.rows_per_game
        self.num_envs = h.rows
        self._count_rows()
        self.single_observation_space = self.facts.observation_space(self.packed)
        self.single_action_space = self.facts.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._actions = np.zeros(h.rows, "<u2")
        self._looked = 0
        self._seeded = np.zeros(h.games, np.bool_)
        self._slab: Slab | None = None
        self._pending: tuple[Any, Slab, NDArray[np.intp] | None] | None = None

    # -- resetting ------------------------------------------------------------------

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start new games.

        Args:
            seed: an integer s seeds game i with s + i; a list seeds each game by itself (None in it like
                None alone). None: games already seeded go on with the next of their own sequence,
                others get fresh entropy.
            options: ``reset_mask``, bool (num_envs,), limits it to some rows; the others stay as they
                are. The dict is left as it is.

        Returns:
            All observations, and infos; their masks name the rows that were reset.

        Raises:
            TypeError, ValueError: seeds or a mask that make no sense; the message says why.
        """
        self._refuse_pending("reset")
        if unknown := set(options or ()) - {"reset_mask"}:
            raise ValueError(f"options: unknown {sorted(unknown)}, known is 'reset_mask'")
        chosen = np.ones(self.num_games, np.bool_)
        if options and "reset_mask" in options:
            chosen = reset_mask(options["reset_mask"], self.num_envs, self.rows_per_game)
        seed = self._check_seed(seed)
        slab = self._new_slab()
        for request in self._reset_requests(seed, chosen):
            self._link.show(slab, "reset", request)
        self._first_seed = None
        self._seeded |= chosen
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._slab = slab
        return slab.observation(), self._infos(slab, self._rows_of(chosen))

    def _check_seed(self, seed: Seed) -> int | list[int | None] | None:
        if seed is None:
            return None
        if isinstance(seed, (list, tuple, np.ndarray)):
            return seed_list(seed, self._handle.games)
        return one_seed(seed)

    def _reset_requests(self, seed: int | list[int | None] | None, chosen: NDArray[np.bool_]) -> list[dict[str, Any]]:
        """Return the options of the requests that together are this reset."""
        if seed is None:
            seed = self._first_seed
        if seed is None:
            seed = [None] * self.num_games if self._seeded.any() else fresh_seed()
        if isinstance(seed, int):
            return [{"seed": seed} | _limited_to(chosen)]
        full = [fresh_seed() if s is None and not old else s for s, old in zip(seed, self._seeded, strict=True)]
        given = np.fromiter((s is not None for s in full), np.bool_, self.num_games) & chosen
        requests: list[dict[str, Any]] = []
        if given.any():
            values = np.array([0 if s is None else s for s in full], "<u8")
            requests.append({"seeds": values.tobytes()} | _limited_to(given))
        if (rest := chosen & ~given).any():
            requests.append(_limited_to(rest))
        return requests

    # -- stepping -------------------------------------------------------------------

    def step(self, actions: Any, *, out: Out = None) -> StepResult:
        """Play one action in every row and wait for what follows.

        Args:
            actions: integers (num_envs,). Those of rows that need not act, such as of games
                that NEXT_STEP is about to reset, are ignored.
            out: where the answer goes: a step ``buffer[t]`` of a :meth:`buffer`, or a dict of contiguous arrays
                by field (``planes``, ``globals``, ``mask``, ``reward``, …, as ``Slab.arrays`` names and shapes them),
                which need not name all.  What is returned are then these arrays.

        Returns:
            Observations, rewards, terminated, truncated, infos.

        Raises:
            IllegalActionError: with ``illegal="error"``, an action that its mask forbids; nothing was stepped.
            NeedsResetError: a game is over (DISABLED) or was never reset; nothing was stepped.
            ServerGone: the server ended.
        """
        slab, row, before = self._prepare("step", actions, out)
        self._link.step(row, slab)
        self._slab = slab
        return self._told(slab, before)

    def step_async(self, actions: Any, *, out: Out = None) -> None:
        """Send the actions of a step; step_wait collects what follows."""
        slab, row, before = self._prepare("step_async", actions, out)
        self._pending = (self._link.post_step(row, slab), slab, before)

    def step_wait(self) -> StepResult:
        """Wait for the step that step_async sent, and return what step returns."""
        if self._pending is None:
            raise RuntimeError("step_wait: no step is under way")
        (pending, slab, before), self._pending = self._pending, None
        self._link.wait(pending)
        self._slab = slab
        return self._told(slab, before)

    def _prepare(
        self, method: str, actions: Any, out: Out
    ) -> tuple[Slab, NDArray[np.uint16], NDArray[np.intp] | None]:
        """Return where the answer goes, the actions to send, and whose rows they are, if that varies."""
        if self._pending is not None or self.closed:
            self._refuse_pending(method)
        slab = self._new_slab() if out is None else self._slab_over(out)
        row = self._actions if slab.actions is None else slab.actions
        if row is not actions:
            action_row(actions, row)
        return slab, row, self._picked(self._slab) if self._varying and self._slab is not None else None

    def _refuse_pending(self, method: str) -> None:
        if self._pending is not None:
            raise RuntimeError(f"{method}: a step is under way, call step_wait first")
        if self.closed:
            raise BlockyardError(f"{method}: the environment is closed")

    def _slab_over(self, out: Slab | Mapping[str, NDArray[Any]]) -> Slab:
        return out.reuse() if isinstance(out, Slab) else Slab.over(self._handle, out)

    def _new_slab(self) -> Slab:
        if self._ring is None:
            return self._link.slab()
        self._turn = (self._turn + 1) % len(self._ring)
        return self._ring[self._turn].reuse()

    # -- the rest -------------------------------------------------------------------

    @property
    def transport(self) -> str:
        """How steps travel: ``"shm"``, ``"socket"``, or ``"split"`` over several servers."""
        return self._link.transport

    def set_opponent(self, seat: int, spec: str) -> None:
        """Let another player have a seat of the server from the next episodes on."""
        self._call("set_opponent", seat, spec)

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every game, num_games of them; None without a render_mode.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3). It asks the server once a game:
        :meth:`picture` shows a single one.
        """
        if self.render_mode is None:
            return None
        return tuple(self.picture(i) for i in range(self.num_games))

    def stats(self) -> dict[str, Any]:
        """Return what the server counts."""
        return self.client.stats()

    def ping(self) -> None:
        """Ask the server for a sign of life."""
        self.client.ping()

    def close_extras(self, **kwargs: Any) -> None:
        """Free the games; with them the server, if it was started for this environment alone."""
        self._link.close(self._own_client)

    def __del__(self) -> None:
        """Do nothing, unlike older Gymnasiums: a client of our own ends by itself, and on a shared one this may
        come amid another environment's answer."""

    def __enter__(self) -> BlockVectorEnv:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _limited_to(games: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the option that limits a reset to some games."""
    return {} if games.all() else {"mask": games.tobytes()}
