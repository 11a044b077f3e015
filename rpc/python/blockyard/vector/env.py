"""The vector environment: everything that plays. ``surface.py`` has what it shows besides, ``engine.py`` its games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from gymnasium.core import RenderFrame
from numpy.typing import NDArray

from ..formats.arguments import Ids, Seed, check_seed, check_seeds, game_ids, positive, reset_mask
from ..formats.checkpoint_file import Checkpoint
from ..formats.opponents import Opponents, OpponentStats
from ..transport.memory import RolloutBuffer
from .batch import Obs, StepResult
from .checkpoint import resume, save
from .engine import Engine, Out
from .infos import FinalStep
from .options import Options, Path
from .recording import Recording, arguments, start, stop
from .results import Afterstates, LegalActions, Rollout
from .surface import Surface


class BlockVectorEnv(Surface):
    """Many games that the server steps together; a ``gymnasium.vector.VectorEnv``.

    One row is one seat that the client drives, by default one in each game. With ``opponents=None`` a game of two seats
    has two rows, next to each other in every array: row i is game ``i // rows_per_game``, seat
    ``players[i % rows_per_game]``, with that seat's observation, action and reward. ``num_envs`` counts rows.

    In turn-based games the rows of the other seats wait. A waiting row goes on observing the game and receives its
    seat's rewards, and the end of the game ends the episode of all its rows in the same step. Its only legal action is
    ``ignored_action``, 0, and whatever action it is given is ignored.

    Observations are dicts of ``planes``, uint8 (num_envs, C, H, W), and ``globals``, float32 (num_envs, G).
    With ``packed=True``, ``bits`` replaces ``planes``; :meth:`unpack` converts them. Rewards are float64
    (num_envs,), ``terminated`` and ``truncated`` bool (num_envs,). Infos are

    ===============  ==========================  =========================================================
    ``action_mask``  bool (num_envs, actions)    True where an action is legal; unpacked when first read
    ``acting``       bool (num_envs,)            whether the row's next action is played; False for a row that
                                                 waits, or whose game NEXT_STEP is about to reset
    ``illegal``      bool (num_envs,)            whether the row's last action was illegal and was replaced;
                                                 not with ``illegal="error"``
    ``score``        int32 (num_envs,)           points of the row's seat so far
    ``opponent``     uint16 (num_envs,)          who plays the other seat: an index into ``opponent_specs``; uint16
                                                 (num_envs, n) with n > 1 such seats, in their order; absent with none
    ``final_obs``    object (num_envs,)          SAME_STEP only: the last observation of an ended episode
    ``final_info``   dict                        SAME_STEP only: its other infos at the end
    ===============  ==========================  =========================================================

    Each ``key`` comes with a boolean array ``_key`` of the rows in which it is valid. No row of a mask is ever all
    zero: a row that need not act has ``ignored_action``. So has the ``action_mask`` in ``final_info``, except that a
    truncated episode keeps the actions that were legal.

    Methods raise RuntimeError between :meth:`step_async` and :meth:`step_wait`, BlockyardError after close,
    NeedsResetError before the first reset, if they need a position, and TypeError or ValueError if an argument is
    malformed.

    Attributes:
        game_spec: the game's specification.
        num_games, rows_per_game: number of games, and rows of each.
        players, seats: the seats that the client drives, ascending, and the number of seats of each game.
        client: the session with the server; with several servers, the first.
        autoreset_mode, packed: as in :func:`blockyard.make_vec`.
    """

    def __init__(self, game: str, num_envs: int = 1, **options: Any) -> None:
        """Create the environment.

        Args:
            game, num_envs: as in :func:`blockyard.make_vec`.
            **options: other arguments of :func:`blockyard.make_vec`; and ``client``, a session to use instead of a new
                connection, and ``first``, the index of the first game of a part of a larger environment.
        """
        chosen = Options.of(options)
        self._given = (game, num_envs, options)
        self._engine = Engine(game, num_envs, chosen)
        self._engine.free_with(self)
        try:
            self._describe()
            if chosen.record is not None:
                start([self._engine], **arguments(chosen.record))
            if chosen.checkpoint is not None:
                resume([self._engine], Checkpoint.from_bytes(chosen.checkpoint))
        except BaseException:
            self.close()
            raise

    # -- playing ----------------------------------------------------------------------

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start new episodes.

        Args:
            seed: an int s seeds game i with s + i; a list seeds each game separately, with None for a game without a
                seed. A game without a seed continues its own sequence if it was seeded before; otherwise it is
                seeded from the operating system's entropy. The first reset of an environment that was created from a
                checkpoint continues its games instead, whatever the seed.
            options: ``{"reset_mask": bool (num_envs,)}`` resets only the selected rows. The dict is not modified.

        Returns:
            The observations of all rows, and infos, which are valid in the rows that were reset.
        """
        self._engine.check("reset")
        seeds = check_seeds(seed, self.num_games)
        if unknown := set(options or ()) - {"reset_mask"}:
            raise ValueError(f"options: unknown {sorted(unknown)}; the only option is 'reset_mask'")
        chosen = reset_mask(options["reset_mask"], self.num_envs, self.rows_per_game) if options else None
        super().reset(seed=seed if isinstance(seed, int) else None)
        return self._engine.reset(seeds, chosen)

    def step(self, actions: Any, *, out: Out = None) -> StepResult:
        """Step every row with an action; return observations, rewards, terminated, truncated and infos; see the class.

        Args:
            actions: integers (num_envs,). The actions of rows that need not act, such as those of games that
                NEXT_STEP is about to reset, are ignored.
            out: where to put the result: ``buffer[t]`` of :meth:`buffer`, or a dict of C-contiguous arrays by
                field, with the names, dtypes and shapes of ``buffer[t].arrays``; some fields may be left out. step
                then returns these arrays.

        Raises:
            IllegalActionError: an action is not legal, with ``illegal="error"``; no game was stepped.
            NeedsResetError: an episode is over (DISABLED) or was never started; no game was stepped.
            ServerGoneError: the server exited.
        """
        memory, row, before = self._engine.prepare("step", actions, out)
        self._engine.transport.step(row, memory)
        return self._engine.finish(memory, before)

    def step_into(self, buffer: RolloutBuffer, t: int = 0) -> None:
        """Step with ``buffer.actions[t]`` into its step t, quickly: nothing is checked, returned or counted."""
        memory = buffer[t]
        self._engine.before_step("step_into")
        assert memory.actions is not None
        self._engine.transport.step(memory.actions, memory)
        self._engine.show(memory)

    def step_async(self, actions: Any, *, out: Out = None) -> None:
        """Send the actions of a step without waiting; :meth:`step_wait` returns the result."""
        memory, row, before = self._engine.prepare("step_async", actions, out)
        self._engine.pending = (self._engine.transport.post_step(row, memory), memory, before)

    def step_wait(self) -> StepResult:
        """Wait for the step that :meth:`step_async` sent, and return what :meth:`step` returns."""
        if self._engine.pending is None:
            raise RuntimeError("step_wait: no step is in progress; call step_async first")
        (future, memory, before), self._engine.pending = self._engine.pending, None
        self._engine.transport.wait(future)
        return self._engine.finish(memory, before)

    def render(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every row's game, num_envs of them; None without a ``render_mode`` and with ``"human"``.

        ``"ansi"`` gives text, ``"rgb_array"`` uint8 (height, width, 3), each game a request to the server. ``"human"``
        displays the first game after every reset and step.
        """
        if self.render_mode in (None, "human"):
            return None
        return tuple(shown for i in range(self.num_games) for shown in [self.picture(i)] * self.rows_per_game)

    @property
    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions now: bool (num_envs, actions); only id 0 for a row that need not act.

        RuntimeError: the environment was created with ``mask=False``.
        """
        return self._batch.current.masks(self.game_spec.actions)

    def legal_actions(self, env_ids: Ids = None) -> LegalActions:
        """Return the legal actions of the rows of these games, in CSR form."""
        return LegalActions.read(self._engine.pages("legal", env_ids))

    def afterstates(self, env_ids: Ids = None, *, seed: int | None = None) -> Afterstates:
        """Return the position after each legal action of the rows of these games, by default of all.

        The result is large, in Block Battle about 35 positions per row: request a part of the games at a time to save
        memory. ``seed`` draws the next piece and the like, the same for all actions of a row and different for every
        row, whichever other games are in env_ids; None: different draws in each call.
        """
        self._engine.afterstate_calls += 1
        options = {"seed": self._engine.afterstate_calls if seed is None else check_seed(seed)}
        pages, spec = self._engine.pages("afterstates", env_ids, options), self.game_spec
        return Afterstates.read(pages, planes=spec.planes_shape, globals=(len(spec.global_names),))

    def final(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step; call it right after that step."""
        self._engine.check("final")
        return self._batch.final_step(self._engine.transport.finals())

    # -- states, rollouts ---------------------------------------------------------------

    def snapshot(self, env_ids: Ids = None) -> NDArray[np.uint8]:
        """Return the complete state of these games, uint8 (games, state_len).

        Another environment or server with the same game, rules version and number of seats can restore it. The internal
        state of the server's opponents is not part of it.
        """
        self._engine.check("snapshot")
        return self._engine.transport.states(game_ids(env_ids, self.num_games))

    def restore(
        self, states: NDArray[np.uint8], env_ids: Ids = None, *, reseed: int | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Restore states, uint8 (len(env_ids), state_len), rows of :meth:`snapshot`, in these games, by default in all.

        With ``reseed``, everything hidden is redrawn from this seed and the game's index, so that copies of a position
        have different futures; without, the future is that of the snapshot. Returns the observations and infos of all
        rows. BadStateError: a row is not a state of this game, and no game has changed, unless the states needed more
        than one message.
        """
        return self._engine.restore(states, env_ids, reseed)

    def clone(self, src: Ids, dst: Ids, *, reseed: int | None = None) -> tuple[Obs, dict[str, Any]]:
        """Copy the states of games src to as many games dst, pair by pair; reseed and result as in :meth:`restore`.

        An index may appear more than once in src, and once in dst.
        """
        return self._engine.clone(src, dst, reseed)

    def buffer(self, steps: int) -> RolloutBuffer:
        """Return a rollout buffer for this many steps: ``step(actions, out=buffer[t])`` or ``rollout(buffer)`` fill it.

        With shared memory the server writes into it directly, so nothing is copied.
        """
        return self._engine.transport.buffer(positive("steps", steps))

    def rollout(
        self, steps: int | RolloutBuffer, policy: str = "random", *, keep: Literal["all", "last"] = "all"
    ) -> Rollout:
        """Let the server play the driven seats too, without a message per step.

        Games that end are reset, in every autoreset mode. The actions depend on the seeds of the games only, so one
        long rollout plays the same as several short ones.

        Args:
            steps: number of steps, 1 to 1,000,000; or a buffer to fill.
            policy: of the driven seats: a spec of ``game_spec.opponents``; a local file of weights is uploaded.
                RequestError: the server does not know it. LimitError: it needs more memory than the server allows.
            keep: ``"all"`` returns every step, ``"last"`` only the last.
        """
        self._engine.check("rollout")
        policy, transport = self._engine.opponents.send_policy(policy), self._engine.transport
        if isinstance(steps, RolloutBuffer):
            count, buffer = steps.steps, steps
        else:
            count = positive("steps", steps)
            if keep == "last" and count > 1:
                transport.skip(count - 1, policy)
            buffer = self.buffer(1 if keep == "last" else count)
        transport.rollout(buffer, policy)
        for t in range(len(buffer)):
            self._batch.complete(buffer[t], self._batch.same_step)
        self._engine.take(buffer.memory(len(buffer) - 1))
        return Rollout(buffer, count)

    # -- opponents, recordings, checkpoints -------------------------------------------------

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents, from the next episode of each game on; opponents are as in :func:`blockyard.make_vec`.

        A spec or a mixture is for all seats that have opponents; a dict by seat changes only the seats in it. Local
        weights files are read now (OSError). RequestError, LimitError: the server refuses a spec, or you drive the
        seat; nothing has changed.
        """
        self._engine.set_opponents(opponents)

    def opponent_stats(self, *, reset: bool = False) -> dict[str, OpponentStats]:
        """Return wins, draws, losses and score against each opponent, by its name in :attr:`opponent_specs`.

        Each finished episode counts once, also in rollouts; episodes that ``reset`` abandons do not count. With
        ``reset=True`` counting starts again from zero.
        """
        self._engine.check("opponent_stats")
        return self._engine.opponents.stats(reset)

    def record(
        self,
        path: Path,
        every: int = 100,
        *,
        envs: Ids = None,
        players: Mapping[int, str] | str | None = None,
        max_games: int | None = None,
        max_bytes: int = 1 << 30,
        append: bool = False,
        memory: int | None = None,
    ) -> Recording:
        """Record whole games into a file, from the next episode of each game on; docs/recording.md has every detail.

        Args:
            path: the file, of JSON lines; compressed if its name ends in ``.gz``.
            every: one in this many episodes is recorded: of game i episode k if i + k is a multiple of it.
            envs: indices of the games to choose from; None: all.
            players: names of the client's seats in the records, by default ``"policy"``: one for all, or by seat.
            max_games, max_bytes: recording ends after so many games, or before the file would become longer.
            append: whether to append to an existing file, which is otherwise refused by FileExistsError.
            memory: bytes of each server's memory for games that are not fetched yet, 64 KiB to 1 GiB; by default 8 MiB,
                and 4 KiB for each game recorded at a time. If it is full, the oldest are lost, with a warning.

        Raises:
            OSError: the file cannot be created; or, as BlockingIOError, another recording is writing it.
            RuntimeError: the environment is being recorded already.
            RequestError, LimitError: the server refuses an argument, or cannot record.
        """
        return start([self._engine], path, every, envs, players, max_games, max_bytes, append, memory)

    def stop_recording(self) -> Recording:
        """Write the games that have ended, without those in progress, and end the recording; RuntimeError: none."""
        self._engine.check("stop_recording")
        return stop([self._engine])

    @property
    def recording(self) -> Recording | None:
        """The current or last recording; None if there was none."""
        recording: Recording | None = self._engine.recording
        return recording

    def checkpoint(self) -> bytes:
        """Return all games as bytes, from which :meth:`restore_checkpoint` continues them exactly.

        They hold the games, the opponents and the counters, but neither the generators of your own program nor a
        recording; see docs/checkpoint.md. RequestError: an opponent cannot be continued exactly: its search has a time
        limit (``time=``), or it is a program (``exec:``).
        """
        self._engine.check("checkpoint")
        return save([self._engine]).to_bytes()

    def restore_checkpoint(self, data: bytes) -> tuple[Obs, dict[str, Any]]:
        """Continue the games of a checkpoint, exactly as the environment that was saved would have.

        See docs/checkpoint.md for what may differ between the two. The opponents become those of the checkpoint; the
        record leaves out the episodes that were in progress. Returns the observations and infos of all rows.

        Raises:
            CheckpointError: data is no checkpoint, damaged, of another version, of another environment, or the server
                lacks an opponent or does not allow it; the message says which. Whatever the bytes are, there is no
                other error of theirs. Nothing has changed, unless the games needed more than one message or server, or
                have policies as opponents: then restore again or reset.
        """
        self._engine.check("restore_checkpoint")
        resume([self._engine], Checkpoint.from_bytes(data))
        self._engine.resumed = None
        return self._batch.shown()
