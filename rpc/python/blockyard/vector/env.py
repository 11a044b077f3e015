"""The vector environment: what it adds to Gymnasium's. ``steps.py`` has reset and step, ``gym.py`` what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError
from ..formats.arguments import Ids, game_ids, positive
from ..formats.checkpoint_file import Checkpoint
from ..formats.seeding import check_seed
from ..transport.buffer import RolloutBuffer
from .batch import Obs
from .checkpoint import resume, save
from .games import Path, arguments, end, start
from .gym import GymVectorEnv
from .infos import FinalStep
from .options import Options
from .recording import Recording
from .results import Afterstates, Rollout


class BlockVectorEnv(GymVectorEnv):
    """Many games that the server steps together; a ``gymnasium.vector.VectorEnv``.

    One row is one seat that the client drives, in every game. By default each game has one driven seat, so there
    are as many rows as games. With ``opponents=None`` a game of two seats has two rows, next to each other in every
    array: row i is game ``i // rows_per_game``, seat ``players[i % rows_per_game]``, with that seat's observation,
    action and reward. ``num_envs`` counts rows, ``num_games`` counts games. A policy thus trains against itself on a
    flat batch.

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

    Attributes:
        ignored_action: 0, the only legal action of a row that need not act.
        game_spec: the game's specification.
        num_games: number of games.
        rows_per_game: rows of each game.
        players: the seats that the client drives, ascending.
        seats: seats of each game.
        client: the session with the server; with several servers, the first.
        autoreset_mode: when a game that ended is reset.
        packed: whether observations have ``bits`` instead of ``planes``.
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
        super().__init__(game, num_envs, chosen)
        try:
            if chosen.record is not None:
                start([self._games], **arguments(chosen.record))
            if chosen.checkpoint is not None:
                resume([self], Checkpoint.from_bytes(chosen.checkpoint))
        except BaseException:
            self.close()
            raise

    # -- afterstates --------------------------------------------------------------------

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
        pages, spec = self._requests.pages("afterstates", env_ids, options), self.game_spec
        return Afterstates.read(pages, planes=spec.planes_shape, globals=(len(spec.global_names),))

    def final(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step; call it right after that step."""
        self._requests.check("final")
        return self._batch.final_step(self._transport.finals())

    # -- states, rollouts ---------------------------------------------------------------

    def snapshot(self, env_ids: Ids = None) -> NDArray[np.uint8]:
        """Return the complete state of these games, uint8 (games, state_len).

        A state may be saved to a file and restored by another environment or server with the same game,
        rules version and number of seats. The internal state of the server's opponents is not part of it.
        """
        self._requests.check("snapshot")
        return self._transport.states(game_ids(env_ids, self.num_games))

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
        ids, width = game_ids(env_ids, self.num_games), self._batch.handle.state_len
        rows = np.ascontiguousarray(states)
        if rows.dtype != np.uint8 or rows.shape != (len(ids), width):
            raise ValueError(f"states: want uint8 ({len(ids)}, {width}), got {rows.dtype} {rows.shape}")
        self._requests.check("restore")
        memory = self._next_memory()
        self._transport.restore(memory, ids, rows, _reseed(reseed))
        self._take(memory)
        return self._batch.shown()

    def clone(self, src: Ids, dst: Ids, *, reseed: int | None = None) -> tuple[Obs, dict[str, Any]]:
        """Copy the states of games src to games dst, pair by pair.

        Args:
            src: indices of games; an index may appear more than once.
            dst: indices of games, as many as src; without duplicates.
            reseed: as in :meth:`restore`.

        Returns:
            The observations and infos of all rows.
        """
        self._requests.check("clone")
        source, target = game_ids(src, self.num_games, "src"), game_ids(dst, self.num_games, "dst")
        if len(source) != len(target):
            raise ValueError(f"clone: {len(source)} sources for {len(target)} targets, want equal numbers")
        memory = self._next_memory()
        self._transport.clone(memory, source, target, _reseed(reseed))
        self._take(memory)
        return self._batch.shown()

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
        self._requests.check("rollout")
        policy, transport = self._opponents.send_policy(policy), self._transport
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
        self._take(buffer.memory(len(buffer) - 1))
        return Rollout(buffer, count)

    # -- recordings, checkpoints ----------------------------------------------------------

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
        """Record whole games into a file, from the next episode of each game on.

        Episode k of game i is recorded if i + k is a multiple of ``every``; episodes are counted from the game's seed.
        The server notes the actions of all seats, opponents included; this process fetches finished games about once
        per second, during ``step`` and ``rollout``, and appends them to the file. Recording does not change the games.
        ``datasets view FILE`` shows them, :func:`blockyard.view` shows one in a notebook.

        Args:
            path: the file, of JSON lines; compressed if its name ends in ``.gz``.
            every: one in this many episodes is recorded; 1 records all.
            envs: indices of the games to choose from, 0 <= i < num_games; None: all.
            players: names of the client's seats in the records: one for all of them, or by seat, such as ``{0: "my
                ppo"}``. Unnamed seats are called ``"policy"``; opponents have their specs.
            max_games: recording ends after this many games; None: no bound.
            max_bytes: recording ends before the file would become longer, by default 1 GiB.
            append: whether to append to an existing file. By default an existing file is refused.
            memory: bytes of each server's memory for games in progress and games not yet fetched, 64 KiB to 1 GiB; by
                default 8 MiB, and 4 KiB for each game that is recorded at a time. If it is full, the oldest games are
                lost, and a warning tells how many.

        Returns:
            The recording: number of games, length of the file, whether it has ended and why.

        Raises:
            FileExistsError: the file exists; pass ``append=True``.
            OSError: it cannot be created; or, as BlockingIOError, another recording is writing it.
            RuntimeError: the environment is being recorded already, or a step is in progress.
            RequestError, LimitError: the server refuses an argument, or cannot record.
        """
        return start([self._games], path, every, envs, players, max_games, max_bytes, append, memory)

    def stop_recording(self) -> Recording:
        """Write the games that have ended so far, and end the recording. Games in progress are left out.

        Raises:
            RuntimeError: the environment was not being recorded, or a step is in progress.
        """
        self._requests.check("stop_recording")
        return end([self._games])

    @property
    def recording(self) -> Recording | None:
        """The current or last recording; None if there was none."""
        return self._games.recording

    def checkpoint(self) -> bytes:
        """Return all games as bytes, from which :meth:`restore_checkpoint` continues them exactly.

        The bytes hold the states of the games and their random generators, the opponents that play in them with what
        they remember, the opponents of later episodes with their weights, the policy of :meth:`rollout`, and the
        counters of this environment. They do not hold the generators of your own program, nor a recording.

        Raises:
            NeedsResetError: the environment was not reset yet.
            RequestError: an opponent cannot be continued exactly: its search has a time limit (``time=``), or it is a
                program (``exec:``).
            RuntimeError: a step is in progress.
        """
        self._requests.check("checkpoint")
        assert self._batch.current is not None
        return save([self]).to_bytes()

    def restore_checkpoint(self, data: bytes) -> tuple[Obs, dict[str, Any]]:
        """Continue the games of a checkpoint, exactly as the environment that was saved would have.

        That environment may have been another process, with another server, transport or number of servers. It must
        have had the same game, version of the rules, ``num_envs``, ``seats``, seats with opponents, ``rows``,
        ``autoreset_mode``, ``reward``, ``illegal`` and ``max_episode_steps``. The opponents become those of the
        checkpoint. Episodes that were being recorded here are left out of the record.

        Returns:
            The observations and infos of all rows, as they were after the last step or reset before the checkpoint.

        Raises:
            CheckpointError: data is no checkpoint, damaged, of another version, or of another environment; the message
                says which. Nothing has changed, unless the games needed more than one message or server: then restore
                again or reset.
            RequestError: the server lacks an opponent, or does not allow it.
            RuntimeError: a step is in progress.
        """
        self._requests.check("restore_checkpoint")
        resume([self], Checkpoint.from_bytes(data))
        self._resumed = None
        return self._batch.shown()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy: as another environment, whose games continue those of this one. A recording is not copied.

        Raises:
            TypeError: it is on a connection that others use too, or its opponents cannot be continued.
        """
        game, num_envs, given = self._given
        how = "save its games with checkpoint() or snapshot(); clone() copies games within an environment"
        if not self._own_client:
            raise TypeError(f"an environment on a shared connection cannot be copied or pickled: {how}")
        options = {key: value for key, value in given.items() if key != "record"}
        if self._batch.memory is not None:
            try:
                options |= {"seed": None, "checkpoint": self.checkpoint()}
            except (BlockyardError, RuntimeError) as error:
                raise TypeError(f"this environment cannot be copied or pickled: {error}; {how}") from error
        return _again, (type(self), game, num_envs, options)

    def __enter__(self) -> BlockVectorEnv:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _reseed(reseed: int | None) -> dict[str, int]:
    return {} if reseed is None else {"reseed": check_seed(reseed, "reseed")}


def _again(kind: type[BlockVectorEnv], game: str, num_envs: int, options: dict[str, Any]) -> BlockVectorEnv:
    """Create a copy of an environment; a reset starts new episodes, as it does there."""
    env = kind(game, num_envs, **options)
    env._resumed = None
    return env
