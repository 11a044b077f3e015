"""Block-placement games of programming contests as fast vector environments.

    import blockyard
    import numpy as np

    rng = np.random.default_rng(0)
    with blockyard.make_vec("BlockBattle-v0", num_envs=1024, seed=7) as env:
        obs, infos = env.reset()
        obs, rewards, terminated, truncated, infos = env.step(env.sample_actions(rng))

The games run in a server written in Go. It is started when needed and stops with this process; with
``address=`` a running server is used instead. Importing this package registers the environments with
Gymnasium as ``blockyard/BlockBattle-v0`` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from gymnasium.vector import AutoresetMode

from . import errors
from . import policies as policies
from .errors import *  # noqa: F403
from .evaluation.evaluate import evaluate, ladder
from .evaluation.standings import Evaluation, Ladder
from .formats.arguments import Actions, Illegal, Reward, Rows, Seed, Transport
from .formats.arrays import pack, to_torch, unpack, unpack_torch
from .formats.opponents import Opponents, OpponentStats, rungs
from .formats.spec import GameSpec
from .networks.weights import FeatureFacts, Features, Weights, feature_facts, features, load_weights, save_weights
from .pool.batch import PoolBatch
from .pool.pool import BlockPool
from .provenance import VERSION
from .single import ENV_IDS, BlockEnv, register
from .transport.address import Tls
from .transport.memory import RolloutBuffer
from .transport.session import Session
from .vector.env import BlockVectorEnv
from .vector.infos import FinalStep
from .vector.recording import Recording
from .vector.replay import GameView, view
from .vector.results import Afterstates, LegalActions, Rollout

__version__ = VERSION

__all__ = [
    "ENV_IDS", "Afterstates", "AutoresetMode", "BlockEnv", "BlockPool", "BlockVectorEnv", "Client", "Evaluation",
    "FeatureFacts", "Features", "FinalStep", "GameSpec", "GameView", "Ladder", "LegalActions", "OpponentStats",
    "PoolBatch", "Recording", "Rollout", "RolloutBuffer", "Weights", "connect", "evaluate", "feature_facts",
    "features", "ladder", "load_weights", "make", "make_vec", "pack", "rungs", "save_weights", "to_torch", "unpack",
    "unpack_torch", "view",
]  # fmt: skip
__all__ += errors.__all__


class Client(Session):
    """A connection to a server, and the environments opened on it.

    Create it with :func:`blockyard.connect`. Several environments can share it; the server answers their
    requests in turn. Several threads can use it, forked processes cannot. Closing it closes its
    environments.

    Attributes:
        server: name and version of the server.
        protocol: version of the protocol that the server speaks.
        features: what not every server can do: ``"share"``, memory on this connection; ``"trust_specs"``, name files.
        limits: the server's limits by name, such as ``max_envs``.
    """

    def make_vec(self, game: str, num_envs: int = 1, **kwargs: Any) -> BlockVectorEnv:
        """Create a vector environment on this connection; arguments as in :func:`blockyard.make_vec`."""
        return BlockVectorEnv(game, num_envs, client=self, **kwargs)

    def make(self, game: str, **kwargs: Any) -> BlockEnv:
        """Create a single environment on this connection; arguments as in :func:`blockyard.make`."""
        return BlockEnv(game, client=self, **kwargs)

    def __enter__(self) -> Client:
        return self


def make_vec(
    game: str,
    num_envs: int = 1,
    *,
    address: str | Sequence[str] | None = None,
    token: str | None = None,
    tls: Tls = None,
    seed: Seed = None,
    seats: int | None = None,
    opponents: Opponents = "random",
    rows: Rows = "seat",
    actions: Actions = "ids",
    candidates: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    reward: Reward | None = None,
    illegal: Illegal | None = None,
    max_episode_steps: int | None = None,
    mask: bool = True,
    copy: bool = True,
    slots: int = 2,
    packed: bool = False,
    transport: Transport = "auto",
    timeout: float = 30.0,
    render_mode: str | None = None,
    record: str | PathLike[str] | Mapping[str, Any] | None = None,
    checkpoint: bytes | None = None,
    heal: bool = False,
    snapshot_every: int = 64,
    heal_timeout: float = 60.0,
) -> BlockVectorEnv:
    """Create a vector environment of num_envs games.

    Args:
        game: a Gymnasium id such as ``"BlockBattle-v0"``, or a name of the server such as
            ``"blockbattle:classic"``.
        num_envs: number of games, at least 1. If the client drives several seats, the environment's own ``num_envs``
            is a multiple of it: one row per such seat.
        address: address of a running server, ``"unix:PATH"``, ``"tcp:HOST:PORT"`` or ``"tls:HOST:PORT"``. None: a local
            server, started for this process and shared by all its environments. A list distributes the games
            over several servers; the results are bit-identical to those of one. ``"dns:NAME:PORT"`` stands for the
            servers at all addresses of a name, over TLS if ``tls`` is given.
        token: the token that a server on TCP requires; by default the environment variable ``BLOCKYARD_TOKEN``.
        tls: which certificates of a ``tls:`` server to trust. None: those signed by the system's certificate
            authorities; a path: those in that file or folder; False: any; or an ``ssl.SSLContext``.
        seed: used by the first ``reset`` without a seed. An int s, 0 <= s < 2**64, seeds game i with s + i; a list
            seeds each game separately.
        seats: seats of each game; by default the smallest number that the game allows.
        opponents: what plays the other seats: a spec, which the server plays, or a function ``policy(obs, mask)``,
            see docs/policies.md. One for all seats but seat 0; a mixture such as ``{"hand": 1, "random": 3}``, from
            which each episode draws one for each such seat, with these weights and by its seed; a dict such as
            ``{1: "hand"}`` of these by seat; ``"curriculum"``, the rungs of the game, as far as each game has come;
            or None: the client drives every seat. Every game has ``"random"``; ``env.game_spec.opponents`` lists
            the others. A local file, as in ``"learned:weights=mine.safetensors"``, is uploaded to the server. See
            docs/leagues.md.
        rows: ``"seat"``: one row per driven seat, in every game. ``"acting"``: the compact form, with as many rows as
            seats act at the same time: in turn-based games one row per game, of whichever seat is on turn. Its reward
            is what that seat received in the step; what a seat receives while others act, such as a loss, is only in
            ``env.seat_rewards``. ``"acting"`` is for those who handle seats themselves; it saves bytes and time.
        actions: ``"ids"``: an action is a number of the game's own. ``"afterstates"``: a row observes its legal
            actions, each by the features of the position after it, and an action is the index of one; see
            :class:`BlockVectorEnv` and docs/afterstates.md. ``"afterstate_planes"``: each by its planes and globals.
        candidates: with afterstates, how many of them a row has at most; by default 64. Of more legal actions so many
            are offered, evenly spaced among their ids.
        autoreset_mode: SAME_STEP, NEXT_STEP or DISABLED, as the enum, its value or its name. The default is what loops
            in the style of CleanRL and Stable-Baselines3 expect: every step is a transition of the policy, and the
            observation after an end is the first of the next episode.
        reward: ``"result"``: the result at the end of the game, 1 for a win, -1 for a loss; ``"score"``: the
            increase of the contest's points in each step. None: ``env.game_spec.reward``, which is ``"score"`` in games
            of one seat, whose result is always the same, and ``"result"`` in the others. ``"shaped"``, if games have
            several seats: the result, and γΦ(s′) − Φ(s) with γ = 0.99 and a potential Φ of points and heights, see
            docs/selfplay.md.
        illegal: the treatment of illegal actions. ``"penalty"``: the contest's own penalty for an illegal answer, which
            costs points or the game; ``"random"``: a random legal action is played instead; ``"error"``: the step
            raises IllegalActionError. None: ``"penalty"``, and one RuntimeWarning after 1,000 illegal actions.
            ``infos["illegal"]`` and ``env.stats()["env"]`` count them.
        max_episode_steps: number of steps after which a game is truncated; None: the game's own default.
        mask: whether infos have ``action_mask``. False reduces the traffic; ``env.legal_actions()`` still works.
        copy: True: returned arrays are never overwritten; their memory is reused only after you drop them. False:
            arrays are overwritten after ``slots`` further steps.
        slots: with copy=False, the number of steps whose arrays exist at the same time, at least 2.
        packed: whether observations have ``bits``, boards of 1, 2, 4 or 8 bits per cell, instead of ``planes``; see
            :func:`unpack` and :func:`unpack_torch`.
        transport: how steps reach the server. ``"process"``: shared memory if the server is on this machine (Linux,
            Unix socket), otherwise the socket; ``"shm"`` or ``"socket"``: that one, or an error. ``"inproc"``: the
            server is a library in this process; see docs/inproc.md. ``"auto"``: ``"inproc"`` for up to 64 games, where
            the library can be loaded and no ``address``, ``client``, ``heal`` or ``timeout`` is given, otherwise
            ``"process"``.
        timeout: seconds without an answer after which the server counts as gone.
        render_mode: None; ``"ansi"`` or ``"rgb_array"``, what ``render()`` returns; or ``"human"``: the first game is
            displayed after every reset and step, in a terminal or a notebook.
        record: a file for recorded games, such as ``"games.jsonl.gz"``: one in 100 episodes is recorded. Or a dict of
            the arguments of :meth:`BlockVectorEnv.record`, such as ``{"path": "games.jsonl.gz", "every": 10}``.
        checkpoint: what :meth:`BlockVectorEnv.checkpoint` returned: its games continue. The first ``reset``,
            whatever its seed, returns their observations instead of starting new episodes.
        heal: whether the games continue when a server is lost: on another server of ``address``, or on the same one
            once it is back; the local server is started again. All that follows is bit-identical to what it would
            have been: opponents, steps in flight and counters included. Each loss is one warning of the logger
            ``"blockyard"``; a server in this process is lost only together with it. Opponents and policies whose
            choices nobody can repeat (``time=``, ``exec:``) are refused. See docs/machines.md.
        snapshot_every: with heal, the number of steps after which the games are saved again. Since then, actions are
            kept, and replayed after a loss.
        heal_timeout: with heal, seconds without any server after which a call raises ServerGoneError.

    Raises:
        UnknownGameError, RequestError, LimitError: the server refuses a parameter; the message names it.
        ServerNotFoundError, ServerStartError, ServerGoneError, AuthError: there is no server to use.
        CheckpointError: the checkpoint is damaged or of another environment.
        TypeError, ValueError: an argument is malformed.
    """
    return BlockVectorEnv(**locals())


def make(game: str, **options: Any) -> BlockEnv:
    """Create a single environment, in which the client drives one seat.

    Options and errors are those of :func:`make_vec`, but ``rows``, ``autoreset_mode``, ``copy``, ``slots``, ``packed``
    and those of healing. A step costs as much as a step of many games of :func:`make_vec`, and as one of hundreds if
    the server is another process: to train, use that.
    """
    return BlockEnv(game, **options)


def connect(address: str | None = None, *, token: str | None = None, tls: Tls = None, timeout: float = 30.0) -> Client:
    """Connect to a server, to create several environments on one connection; arguments as in :func:`make_vec`."""
    return Client(address, token=token, tls=tls, timeout=timeout)


register()
