"""The single environment, and the registration of all environments with Gymnasium."""

import json
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.core import RenderFrame
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .errors import on_error
from .formats.arguments import copy_actions, integer
from .rendering.svg import game_picture
from .vector.batch import NO_SEAT, Obs
from .vector.engine import Engine
from .vector.env import BlockVectorEnv
from .vector.games import Games
from .vector.options import RENDER_MODES, Options, Path
from .vector.results import Afterstates

# Gymnasium ids without their namespace, in the server's order. ``environments.py`` writes the file from what
# the server answers; a new game of the server needs no change here.
ENV_IDS: tuple[str, ...] = tuple(
    json.loads((pathlib.Path(__file__).parent / "env_ids.json").read_text(encoding="utf-8"))
)
# Arguments of make_vec that it does not take, and why.
_MANY = "it is one game; use blockyard.make_vec"
REFUSED = {"autoreset_mode": "it is reset by hand"} | dict.fromkeys(
    ("rows", "copy", "slots", "packed", "heal", "snapshot_every", "heal_timeout"), _MANY
)


class BlockEnv(Games, gymnasium.Env[Obs, np.int64]):
    """One game in which the client drives one seat; a ``gymnasium.Env``.

    Observations are dicts of ``planes``, uint8 (C, H, W), and ``globals``, float32 (G,). An action is an
    integer, 0 <= action < action_space.n. Infos have ``action_mask``, bool (actions,), True where an
    action is legal; ``acting``, False once the episode is over; ``illegal``, whether the last action was illegal and
    was replaced (not with ``illegal="error"``); and ``score``, the points so far. A mask is never all zero: when
    the game is over it has only action 0; a truncated episode keeps the legal actions.

    With the same seed it plays exactly like a row of a :class:`BlockVectorEnv`. Each step is a round trip
    to the server: to train, use the vector environment.

    Attributes:
        vector: the vector environment of one game that it wraps.
        game_spec: the game's specification.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012  (Gymnasium's own declaration)

    def __init__(self, game: str, *, record: Path | Mapping[str, Any] | None = None, **options: Any) -> None:
        """Create the environment; arguments as in :func:`blockyard.make`, and ``client``, a session to use."""
        Options.refuse(options, "a single environment", REFUSED)
        self.vector = BlockVectorEnv(game, 1, autoreset_mode=AutoresetMode.DISABLED, **options)
        with on_error(self.vector.close):
            if self.vector.num_envs != 1:
                how = "give every other seat an opponent, or use blockyard.make_vec, which has a row for each seat"
                what = f"{self.vector.num_envs} seats have none, but a gymnasium.Env drives one seat"
                raise ValueError(f"opponents: {what}; {how}, or blockyard.pettingzoo")
            self._record_as(record)
        self._prepare()
        self.game_spec = self.vector.game_spec
        self.render_mode = self.vector.render_mode
        self.observation_space = self.vector.single_observation_space
        self.action_space = self.vector.single_action_space

    @property
    def engine(self) -> Engine:  # type: ignore[override]
        """The games behind it, for the rest of this package."""
        return self.vector.engine

    def _prepare(self) -> None:
        """Prepare to step the only row always into the same memory."""
        self._batch = self.vector.engine.batch
        self._memory = memory = self.vector.engine.transport.buffer(1).memories[0]
        self._row = np.zeros(1, "<u2") if memory.actions is None else memory.actions
        self._mask = None if memory.mask is None else memory.mask[0]
        self._generation, self._acts = -1, False  # of the memory, and whether the row acts in the next step

    def __getstate__(self) -> dict[str, Any]:
        own = ("_batch", "_memory", "_row", "_mask", "_generation", "_acts")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue as a copy: the vector environment has memory of its own."""
        self.__dict__.update(state)
        self._prepare()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start an episode; return the observation and infos.

        Args:
            seed: 0 <= seed < 2**64; None continues the sequence that the last seed started.
            options: ``{"state": state}`` begins with a state of :meth:`snapshot`, an array or its bytes.
        """
        if unknown := set(options or ()) - {"state"}:
            raise ValueError(f"options: unknown {sorted(unknown)}; the only option is 'state'")
        super().reset(seed=seed)
        return _first(*self.vector.reset(seed=seed, options=options and {"state": [options["state"]]}))

    def step(self, action: Any) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Step the game with an action; return observation, reward, terminated, truncated and infos.

        Raises:
            IllegalActionError: the action is not legal, with ``illegal="error"``; the game was not stepped.
            NeedsResetError: the episode is over or was never started.
            TypeError: the action is not an integer.
        """
        number, batch, memory, engine = integer("action", action), self._batch, self._memory, self.vector.engine
        if batch.rungs is not None or engine.options.actions != "ids":
            obs, reward, terminated, truncated, infos = self.vector.step(np.array([number], np.int64))
            obs, infos = _first(obs, infos)
            return obs, float(reward[0]), bool(terminated[0]), bool(truncated[0]), infos
        # The server plays the other seats and rewards them: what follows is vector.step with integers, in less time.
        engine.before_step("step")
        acts = self._acts
        if batch.memory is not memory or memory.generation != self._generation:
            acts = batch.memory is not None and bool(batch.complete(batch.memory, False)[0])
        if 0 <= number < batch.spec.actions:
            self._row[0] = number
        else:  # which is an error of a row that acts
            copy_actions(np.array([number]), self._row, batch.spec.actions, np.array([acts or batch.memory is None]))
        engine.transport.step(self._row, memory.reuse())
        engine.show(memory)
        batch.illegal.count(int(acts), memory.illegal)
        return self._result()

    def _result(self) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Return what a step into the memory returns, as ``Batch.result`` and ``Batch.infos`` have it."""
        batch, memory = self._batch, self._memory
        terminated, truncated = bool(memory.terminated[0]), bool(memory.truncated[0])
        plays = not terminated and memory.seat[0] != NO_SEAT
        self._generation, self._acts = memory.generation, plays and not truncated
        infos: dict[str, Any] = {}
        if self._mask is not None:
            if not plays:
                self._mask[0] = 1  # the mask of such a row is empty
            infos["action_mask"] = np.unpackbits(self._mask, count=batch.spec.actions, bitorder="little").view(np.bool_)
        infos["acting"] = self._acts
        if memory.illegal is not None:
            infos["illegal"] = bool(memory.illegal[0])
        assert memory.own_score is not None
        assert memory.own_reward is not None
        infos["score"] = memory.own_score[0]
        if batch.others is not None:
            infos["opponent"] = memory.arrays["opponent"][0][batch.others]
        boards = {"planes": memory.planes[0].copy()} if memory.planes is not None else {}
        observation = boards | {"globals": memory.globals[0].copy()}
        return observation, float(memory.own_reward[0]), terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the legal actions: bool (actions,)."""
        return self.vector.action_masks[0]  # type: ignore[no-any-return]

    def legal_actions(self) -> NDArray[np.uint16]:
        """Return the legal actions, uint16, ascending."""
        return self.vector.legal_actions()[0]

    def afterstates(self, *, seed: int | None = None) -> Afterstates:
        """Return the position after each legal action; seed as in :meth:`BlockVectorEnv.afterstates`."""
        return self.vector.afterstates(seed=seed)

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the complete state of the game: uint8 (state_len,)."""
        return self.vector.snapshot()[0]  # type: ignore[no-any-return]

    def restore(self, state: NDArray[np.uint8], *, reseed: int | None = None) -> tuple[Obs, dict[str, Any]]:
        """Restore a state of :meth:`snapshot`; reseed as in :meth:`BlockVectorEnv.restore`."""
        return _first(*self.vector.restore(np.asarray(state)[None], reseed=reseed))

    def restore_checkpoint(self, data: bytes) -> tuple[Obs, dict[str, Any]]:
        """Continue the game of a checkpoint; errors as in :meth:`BlockVectorEnv.restore_checkpoint`."""
        return _first(*self.vector.restore_checkpoint(data))

    def text(self, action: int) -> str:
        """Return an action as text, such as ``"r2 x4 y17 spin"``."""
        return self.vector.text(action)

    def parse(self, text: str) -> int:
        """Return the action that a text stands for; as :meth:`BlockVectorEnv.parse`."""
        return self.vector.parse(text)

    def observation_text(self, *, legal: bool = True) -> str:
        """Return the observation as plain text; see :meth:`BlockVectorEnv.observation_texts`."""
        return self.vector.observation_texts(legal=legal)[0]

    def render(self) -> RenderFrame | list[RenderFrame] | None:
        """Return text for ``"ansi"``, uint8 (height, width, 3) for ``"rgb_array"``; otherwise None.

        ``"human"`` displays the position after every reset and step, in a terminal or a notebook.
        """
        frames = self.vector.render()
        return None if frames is None else frames[0]

    def __repr__(self) -> str:
        seats = f"seat {self.vector.players[0]} of {self.vector.seats}"
        return f"{type(self).__name__}({self.game_spec.id}, {seats}{', closed' if self.vector.closed else ''})"

    def _repr_svg_(self) -> str | None:
        """Return what a notebook displays: the position; None before the first reset and after close."""
        return game_picture(self.vector.picture)

    def close(self) -> None:
        """Free the game. May be called again."""
        self.vector.close()


def _first(obs: Obs, infos: dict[str, Any]) -> tuple[Obs, dict[str, Any]]:
    """Return what a vector environment of one row returns, as that of its row."""
    first = {key: value[0] for key, value in infos.items() if not key.startswith("_")}
    # Gymnasium joins infos of several environments by type, and knows only Python's bool.
    first = {key: bool(value) if isinstance(value, np.bool_) else value for key, value in first.items()}
    return {key: value[0] for key, value in obs.items()}, first


def made(**arguments: Any) -> BlockEnv:
    """Create an environment for ``gymnasium.make``, with the time limit that it was called with.

    Gymnasium tells only its wrapper ``TimeLimit``; the server, too, records and counts games that are truncated.
    """
    caller = sys._getframe(1)
    if caller.f_code is gymnasium.make.__code__:
        limit = caller.f_locals.get("max_episode_steps")
        if limit is None:
            limit = getattr(caller.f_locals.get("env_spec"), "max_episode_steps", None)
        if isinstance(limit, int) and limit > 0:
            arguments.setdefault("max_episode_steps", limit)
    return BlockEnv(**arguments)


made.metadata = BlockEnv.metadata  # type: ignore[attr-defined]


def register() -> None:
    """Register every environment, for ``gymnasium.make`` and ``gymnasium.make_vec``."""
    for env_id in ENV_IDS:
        name = f"blockyard/{env_id}"
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="blockyard.single:made",
                vector_entry_point="blockyard.vector.env:BlockVectorEnv",
                kwargs={"game": env_id},
            )
