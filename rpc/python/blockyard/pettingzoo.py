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

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gymnasium import spaces

from .errors import IllegalActionError, NeedsResetError
from .formats.opponents import Opponents
from .formats.optional import needs
from .multiagent import OBSERVATIONS, MultiAgentGame

with needs("blockyard.pettingzoo", "PettingZoo", "pettingzoo"):
    from pettingzoo import AECEnv, ParallelEnv

RENDER_MODES = ["human", "ansi", "rgb_array"]
Infos = dict[str, dict[str, Any]]
T = TypeVar("T")


class _Agents:
    """What both kinds of environments share: agents, spaces, rendering."""

    metadata: dict[str, Any]
    _one_by_one: bool

    def __init__(
        self, game: str, *, max_cycles: int | None = None, render_mode: str | None = None, **kwargs: Any
    ) -> None:
        """Create it; arguments as in :func:`aec_env`."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode {render_mode!r}: want None or one of {RENDER_MODES}")
        self.game = MultiAgentGame(game, max_cycles, self._one_by_one, **kwargs)
        """The game, by seats instead of agents."""
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{self.game.game_spec.name.replace(':', '_')}_v{self.game.game_spec.id.rpartition('-v')[2]}",
            "render_modes": RENDER_MODES,
            "render_fps": 4,
            "is_parallelizable": not self.game.in_turn,
        }
        self._seat = {f"player_{seat}": seat for seat in self.game.players}
        self.possible_agents, self.agents = list(self._seat), list[str]()
        self.observation_spaces = {agent: self.game.observation_space() for agent in self._seat}
        self.action_spaces: dict[str, spaces.Space[Any]] = {a: self.game.game_spec.action_space() for a in self._seat}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of an agent; the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of an agent; the same object each time."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """Return text for ``"ansi"``, uint8 (height, width, 3) for ``"rgb_array"``; print the text for ``"human"``."""
        if self.render_mode != "human":
            return None if self.render_mode is None else self.game.env.picture(0, self.render_mode)
        print(self.game.env.picture(0, "ansi"))
        return None

    def close(self) -> None:
        """Free the game. May be called again."""
        self.game.env.close()

    def _check_started(self) -> None:
        if not self.agents:
            raise NeedsResetError("step: the episode is over or was never started: call reset()")

    def _each(self, of: Callable[[int], T]) -> dict[str, T]:
        return {agent: of(self._seat[agent]) for agent in self.agents}


class BlockAEC(_Agents, AECEnv[str, Any, Any]):
    """One game whose agents act one by one; a ``pettingzoo.AECEnv``. See :func:`aec_env`."""

    _one_by_one = True

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode; seed=None continues the sequence of the last seed. There are no options."""
        self.game.reset(seed)
        self.agents = self.possible_agents[:]
        self._chosen: dict[int, int] = {}
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = self._each(self.game.info)
        self.agent_selection = self._next() or self.agents[0]
        self._skip_agent_selection = None

    def observe(self, agent: str) -> Any:
        """Return the observation of an agent now, whether it acts or not."""
        return self.game.observation(self._seat[agent])

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
        self._chosen[self._seat[agent]] = self.game.checked(action, self._seat[agent])
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if waiting := self._next():
            self.agent_selection = waiting
            return
        chosen, self._chosen = self._chosen, {}
        self.game.step(chosen)
        self.rewards, self.infos = self._each(self.game.reward), self._each(self.game.info)
        self.terminations = dict.fromkeys(self.agents, self.game.terminated)
        self.truncations = dict.fromkeys(self.agents, self.game.truncated)
        self.agent_selection = self._next() or self.agents[0]
        self._accumulate_rewards()
        self._deads_step_first()

    def _next(self) -> str | None:
        """Return an agent that acts now and has not chosen an action yet."""
        waiting = (a for a in self.agents if self._seat[a] in self.game.acting and self._seat[a] not in self._chosen)
        return next(waiting, None)


class BlockParallel(_Agents, ParallelEnv[str, Any, Any]):
    """One game whose agents act at the same time; a ``pettingzoo.ParallelEnv``. See :func:`parallel_env`."""

    _one_by_one = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        """Start an episode, as :meth:`BlockAEC.reset` does; return observations and infos by agent."""
        self.game.reset(seed)
        self.agents = self.possible_agents[:]
        return self._each(self.game.observation), self._each(self.game.info)

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
        acting = [agent for agent in self.agents if self._seat[agent] in self.game.acting]
        if missing := [agent for agent in acting if agent not in actions]:
            raise KeyError(f"actions: no action for {missing[0]}, which acts now")
        self.game.step({self._seat[a]: self.game.checked(actions[a], self._seat[a]) for a in acting})
        agents, observations, rewards = self.agents, self._each(self.game.observation), self._each(self.game.reward)
        infos, terminated, truncated = self._each(self.game.info), self.game.terminated, self.game.truncated
        if terminated or truncated:
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, terminated), dict.fromkeys(agents, truncated), infos


def aec_env(
    game: str,
    *,
    max_cycles: int | None = None,
    observation: str = "flat",
    opponents: Opponents = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> BlockAEC:
    """Create a game whose agents, ``player_0`` and so on, act one by one.

    In games whose seats act at the same time, the agents choose in order, and no agent observes another's action
    before all have chosen. Infos have ``action_mask``, bool (actions,), with only action 0 for an agent that does not
    act now; ``acting``, whether it acts now; ``illegal``, whether its last action was illegal and was replaced;
    ``score``; and ``opponent`` if the server plays seats: the spec of the opponent in this episode, or a list of them.
    ``metadata["name"]`` ends with the version of the Gymnasium id.

    Args:
        game: an id such as ``"BlockBattle-v0"``, or a name of the server.
        max_cycles: actions of each agent after which the episode is truncated; None: the game's default.
        observation: ``"flat"``: one float32 array, the planes and then the globals of the vector environment;
            ``"masked"``: a dict of that as ``observation``, and ``action_mask``, bool where PettingZoo has int8;
            ``"planes"``: a dict of ``planes`` and ``globals``, as in the Gymnasium environments.
        opponents: policies that the server plays, by seat; by default none, so that every seat is an agent.
        render_mode: None, ``"human"`` (prints), ``"ansi"`` or ``"rgb_array"``.
        kwargs: other arguments of :func:`blockyard.make_vec`, such as ``address``, ``seed``, ``seats``, ``illegal``.
    """
    return BlockAEC(
        game, max_cycles=max_cycles, observation=observation, opponents=opponents, render_mode=render_mode, **kwargs
    )


def parallel_env(game: str, **options: Any) -> BlockParallel:
    """Create a game whose agents act at the same time; arguments as in :func:`aec_env`.

    In turn-based games every agent is stepped in each turn; the actions of agents whose turn it is not are
    ignored, and their masks have only action 0.
    """
    return BlockParallel(game, **options)


__all__ = ["OBSERVATIONS", "BlockAEC", "BlockParallel", "IllegalActionError", "aec_env", "parallel_env"]
