"""PettingZoo environments: every seat of a game is an agent.

    from blockyard.pettingzoo import aec_env, parallel_env

    env = aec_env("Blocking-v0", seats=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        obs, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(info["action_mask"]))

Needs ``pip install 'blockyard[pettingzoo]'``. Each step is a message, which takes as long for one game
as for hundreds: to train, use the rows of ``make_vec(game, n, opponents=None)``.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .errors import IllegalActionError, NeedsResetError, needs
from .formats.arguments import integer, one_of, positive
from .formats.opponents import Opponents
from .vector.env import BlockVectorEnv
from .vector.options import MASKED, NO_LEARNERS, Options

with needs("blockyard.pettingzoo", "PettingZoo", "pettingzoo"):
    from pettingzoo import AECEnv, ParallelEnv

OBSERVATIONS = ("flat", "masked", "planes")
RENDER_MODES = ["human", "ansi", "rgb_array"]
# Arguments of make_vec that it does not take, and why.
REFUSED = NO_LEARNERS | MASKED | {"num_envs": "it is one game", "autoreset_mode": "the library resets it"}
REFUSED["max_episode_steps"] = "pass max_cycles to truncate episodes"
# Illegal actions that cause a warning: PettingZoo's own tests play thousands without looking at masks.
WARN_AFTER = 10_000
Infos = dict[str, dict[str, Any]]
T = TypeVar("T")


class _Agents:
    """One game in which each seat that the client drives is an agent: what both kinds of environments share.

    Attributes:
        env: the vector environment of one game that it wraps, with a row for each agent.
    """

    metadata: dict[str, Any]
    _one_by_one: bool

    def __init__(
        self,
        game: str,
        *,
        max_cycles: int | None = None,
        observation: str | None = None,
        opponents: Opponents = None,
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Create it; arguments as in :func:`aec_env`."""
        candidates = kwargs.get("actions", "ids") != "ids"
        if observation is None:
            observation = "planes" if candidates else "flat"
        self._observation = one_of("observation", observation, OBSERVATIONS)
        if candidates and observation != "planes":
            raise ValueError(
                f"observation={observation!r}: with actions= it is a dict of arrays over candidates: leave it out"
            )
        if render_mode is not None:
            one_of("render_mode", render_mode, RENDER_MODES)
        limit = None if max_cycles is None else positive("max_cycles", max_cycles)
        Options.refuse(kwargs, "PettingZoo's environments", REFUSED)
        self.env = env = BlockVectorEnv(game, 1, autoreset_mode=AutoresetMode.DISABLED, opponents=opponents, **kwargs)
        if env.engine.batch.illegal.warn_after is not None:
            env.engine.batch.illegal.warn_after = WARN_AFTER
        in_turn = env.game_spec.turn == "alternating" and len(env.players) > 1
        # Steps after which an episode is truncated: cycles of every agent, or turns.
        self._limit = limit and limit * (len(env.players) if self._one_by_one and in_turn else 1)
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{env.game_spec.name.replace(':', '_')}_v{env.game_spec.id.rpartition('-v')[2]}",
            "render_modes": RENDER_MODES,
            "render_fps": 4,
            "is_parallelizable": not in_turn,
        }
        self._row = {f"player_{seat}": row for row, seat in enumerate(env.players)}
        self.possible_agents, self.agents = list(self._row), list[str]()
        self.observation_spaces = {agent: self._space() for agent in self._row}
        self.action_spaces: dict[str, spaces.Space[Any]] = {a: env.engine.batch.action_space() for a in self._row}

    def _space(self) -> spaces.Space[Any]:
        """Return a new observation space of an agent."""
        seen: Any = self.env.engine.batch.observation_space()
        if self._observation == "planes":
            return seen  # type: ignore[no-any-return]
        planes, numbers = seen["planes"], seen["globals"]
        flat = spaces.Box(_flat(planes.low, numbers.low), _flat(planes.high, numbers.high), dtype=np.float32)
        if self._observation == "flat":
            return flat
        actions = self.env.game_spec.actions
        return spaces.Dict({"observation": flat, "action_mask": spaces.Box(0, 1, (actions,), np.bool_)})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of an agent; the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of an agent; the same object each time."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """Return text for ``"ansi"``, uint8 (height, width, 3) for ``"rgb_array"``; print the text for ``"human"``."""
        if self.render_mode != "human":
            return None if self.render_mode is None else self.env.picture(0, self.render_mode)
        print(self.env.picture(0, "ansi"))
        return None

    def close(self) -> None:
        """Free the game. May be called again."""
        self.env.close()

    # -- the game -------------------------------------------------------------------------

    def _begin(self, seed: int | None) -> None:
        self._seen, self._infos = self.env.reset(seed=seed)
        self.agents, self._steps = self.possible_agents[:], 0
        self._update(False, False)

    def _play(self, chosen: Mapping[str, int]) -> None:
        """Step the game with the action of each agent that acts now."""
        actions = np.array([chosen.get(agent, self.env.ignored_action) for agent in self._row], np.int64)
        self._seen, _, terminated, truncated, self._infos = self.env.step(actions)
        self._steps += 1
        self._update(bool(terminated[0]), bool(truncated[0]) or self._steps == self._limit)

    def _update(self, terminated: bool, truncated: bool) -> None:
        self._terminated, self._truncated = terminated, truncated and not terminated
        acting = {} if terminated or truncated else self._row
        self._acting = [agent for agent, row in acting.items() if self._infos["acting"][row]]

    def _check_started(self) -> None:
        if not self.agents:
            raise NeedsResetError("step: the episode is over or was never started: call reset()")

    def _checked(self, action: Any, agent: str) -> int:
        """Return an action as an int; raise IllegalActionError or TypeError if it cannot be played."""
        mask, seat = self._mask(agent), self.env.players[self._row[agent]]
        number = integer(f"action of seat {seat}", action)
        if not 0 <= number < len(mask):
            text = f"{number} of seat {seat} is not an action, want 0 <= action < {len(mask)}"
        elif "illegal" not in self._infos and not mask[number]:
            text = f"illegal action {number} of seat {seat}: choose from info['action_mask'], or pass "
            text += 'illegal="penalty" or illegal="random"'
        else:
            return number
        raise IllegalActionError(text, data={"seat": seat, "action": number})

    # -- what an agent sees ---------------------------------------------------------------

    def _each(self, of: Callable[[str], T]) -> dict[str, T]:
        return {agent: of(agent) for agent in self.agents}

    def observe(self, agent: str) -> Any:
        """Return the observation of an agent now, whether it acts or not, in new arrays."""
        seen = {key: value[self._row[agent]] for key, value in self._seen.items()}
        if self._observation == "planes":
            return {key: value.copy() for key, value in seen.items()}
        flat = _flat(seen["planes"], seen["globals"])
        return flat if self._observation == "flat" else {"observation": flat, "action_mask": self._mask(agent).copy()}

    def _mask(self, agent: str) -> NDArray[np.bool_]:
        """Return the legal actions, bool (actions,); only action 0, which is ignored, if the agent does not act now."""
        mask: NDArray[np.bool_] = self._infos["action_mask"][self._row[agent]]
        return mask

    def _reward(self, agent: str) -> float:
        return float(self.env.seat_rewards[0, self.env.players[self._row[agent]]])

    def _info(self, agent: str) -> dict[str, Any]:
        row, infos = self._row[agent], self._infos
        info = {"action_mask": self._mask(agent), "acting": agent in self._acting, "score": int(infos["score"][row])}
        if "illegal" in infos:
            info["illegal"] = bool(infos["illegal"][row])
        if "opponent" in infos:
            info["opponent"] = self.env.specs_of(infos["opponent"])[row]
        return info


def _flat(planes: NDArray[Any], numbers: NDArray[Any]) -> NDArray[np.float32]:
    return np.concatenate([planes.reshape(-1), numbers]).astype(np.float32)


class BlockAEC(_Agents, AECEnv[str, Any, Any]):
    """One game whose agents act one by one; a ``pettingzoo.AECEnv``. See :func:`aec_env`."""

    _one_by_one = True

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode; seed=None continues the sequence of the last seed. There are no options."""
        self._begin(seed)
        self._chosen: dict[str, int] = {}
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection = None
        self._show()

    def _show(self) -> None:
        """Show what is new, and select an agent that acts now."""
        self.infos = self._each(self._info)
        self.terminations = dict.fromkeys(self.agents, self._terminated)
        self.truncations = dict.fromkeys(self.agents, self._truncated)
        self.agent_selection = self._next() or self.agents[0]

    def step(self, action: Any) -> None:
        """Take the action of the selected agent; None if its episode is over.

        Raises:
            IllegalActionError: the action is not legal, with ``illegal="error"``; nothing was stepped.
            NeedsResetError: the episode is over or was never started.
        """
        self._check_started()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._chosen[agent] = self._checked(action, agent)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if waiting := self._next():
            self.agent_selection = waiting
            return
        chosen, self._chosen = self._chosen, {}
        self._play(chosen)
        self.rewards = self._each(self._reward)
        self._show()
        self._accumulate_rewards()
        self._deads_step_first()

    def _next(self) -> str | None:
        """Return an agent that acts now and has not chosen an action yet."""
        return next((agent for agent in self._acting if agent not in self._chosen), None)


class BlockParallel(_Agents, ParallelEnv[str, Any, Any]):
    """One game whose agents act at the same time; a ``pettingzoo.ParallelEnv``. See :func:`parallel_env`."""

    _one_by_one = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        """Start an episode, as :meth:`BlockAEC.reset` does; return observations and infos by agent."""
        self._begin(seed)
        return self._each(self.observe), self._each(self._info)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Step the game with the actions of the agents that act now; other agents' actions are ignored.

        Returns observations, rewards, terminations, truncations and infos by agent.

        Raises:
            IllegalActionError: an action is not legal, with ``illegal="error"``; nothing was stepped.
            KeyError: an agent that acts now has no action.
            NeedsResetError: the episode is over or was never started.
        """
        self._check_started()
        if missing := [agent for agent in self._acting if agent not in actions]:
            raise KeyError(f"actions: no action for {missing[0]}, which acts now")
        self._play({agent: self._checked(actions[agent], agent) for agent in self._acting})
        observations, rewards, infos = self._each(self.observe), self._each(self._reward), self._each(self._info)
        terminated, truncated = (dict.fromkeys(self.agents, over) for over in (self._terminated, self._truncated))
        if self._terminated or self._truncated:
            self.agents = []
        return observations, rewards, terminated, truncated, infos


def aec_env(game: str, **options: Any) -> BlockAEC:
    """Create a game whose agents, ``player_0`` and so on, act one by one.

    In games whose seats act at the same time, the agents choose in order, and no agent observes another's action
    before all have chosen. Infos have ``action_mask``, bool (actions,), with only action 0 for an agent that does not
    act now; ``acting``, whether it acts now; ``illegal``, whether its last action was illegal and was replaced;
    ``score``; and ``opponent`` if the server plays seats: the spec of the opponent in this episode, or a list of them.
    ``metadata["name"]`` ends with the version of the Gymnasium id.

    Args:
        game: an id such as ``"BlockBattle-v0"``, or a name of the server.
        max_cycles: actions of each agent after which the episode is truncated; None: the game's default.
        observation: ``"flat"``, the default: one float32 array, the planes and then the globals of each row;
            ``"masked"``: a dict of that as ``observation``, and ``action_mask``, bool where PettingZoo has int8;
            ``"planes"``: a dict of ``planes`` and ``globals``, as in Gymnasium. With ``actions="afterstates"`` it is a
            dict of arrays over candidates, as in Gymnasium too.
        opponents: policies that the server plays, by seat; by default none, so that every seat is an agent.
        render_mode: None, ``"human"`` (prints), ``"ansi"`` or ``"rgb_array"``.
        options: others of :func:`blockyard.make_vec`, such as ``address``, ``seed``, ``seats``, ``illegal``.
    """
    return BlockAEC(game, **options)


def parallel_env(game: str, **options: Any) -> BlockParallel:
    """Create a game whose agents act at the same time; arguments as in :func:`aec_env`.

    In turn-based games every agent is stepped in each turn; the actions of agents whose turn it is not are
    ignored, and their masks have only action 0.
    """
    return BlockParallel(game, **options)


__all__ = ["OBSERVATIONS", "BlockAEC", "BlockParallel", "IllegalActionError", "aec_env", "parallel_env"]
