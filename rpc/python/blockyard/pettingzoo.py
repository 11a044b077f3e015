"""PettingZoo: every seat of a game is an agent.

    from blockyard.pettingzoo import aec_env, parallel_env

    env = aec_env("Blocking-v0", seats=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        obs, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(info["action_mask"]))

Needs ``pip install 'blockyard[pettingzoo]'``. A step is a message and costs as much for one
game as for hundreds: to train, take the rows of ``make_vec(game, n, opponents=None)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from .errors import IllegalActionError, NeedsResetError
from .missing import missing
from .table import OBSERVATIONS, Table

try:
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as error:
    raise missing("blockyard.pettingzoo", "PettingZoo", "pettingzoo", error) from error

RENDER_MODES = ["human", "ansi", "rgb_array"]
Infos = dict[str, dict[str, Any]]


class _Agents:
    """What both kinds of environment have: names, spaces, pictures."""

    metadata: dict[str, Any]

    def __init__(self, game: str, max_cycles: int | None, render_mode: str | None, one_by_one: bool, **kwargs: Any):
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode {render_mode!r}: want None or one of {RENDER_MODES}")
        self.table = Table(game, max_cycles, one_by_one, **kwargs)
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{self.table.facts.name.replace(':', '_')}_v{self.table.facts.rules}",
            "render_modes": RENDER_MODES,
            "render_fps": 4,
            "is_parallelizable": not self.table.in_turn,
        }
        self.possible_agents = [f"player_{seat}" for seat in self.table.players]
        self.agents: list[str] = []
        self._seat = dict(zip(self.possible_agents, self.table.players, strict=True))
        self.observation_spaces = {agent: self.table.observation_space() for agent in self.possible_agents}
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: self.table.facts.action_space() for agent in self.possible_agents
        }

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return what an agent sees; the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return what an agent can choose; the same object each time."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """Return a picture of the game: text for ``"ansi"``, uint8 (height, width, 3) for ``"rgb_array"``;
        ``"human"`` prints the text."""
        if self.render_mode != "human":
            return None if self.render_mode is None else self.table.env.picture(0, self.render_mode)
        print(self.table.env.picture(0, "ansi"))
        return None

    def close(self) -> None:
        """Free the game. May be called again."""
        self.table.env.close()

    def _rewards(self) -> dict[str, float]:
        return {agent: self.table.reward(self._seat[agent]) for agent in self.agents}

    def _every(self, value: bool) -> dict[str, bool]:
        return dict.fromkeys(self.agents, value)

    def _infos(self) -> Infos:
        return {agent: self.table.info(self._seat[agent]) for agent in self.agents}


class BlockAEC(_Agents, AECEnv[str, Any, Any]):
    """One game whose agents are asked one by one; a ``pettingzoo.AECEnv``. See :func:`aec_env`.

    Attributes:
        table: the game behind it.
    """

    def __init__(self, game: str, *, max_cycles: int | None = None, render_mode: str | None = None, **kwargs: Any):
        """Open it; see :func:`aec_env` for what the arguments mean."""
        _Agents.__init__(self, game, max_cycles, render_mode, one_by_one=True, **kwargs)
        self._chosen: dict[int, int] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game; without a seed the next of the sequence that the last seed began. No options are known."""
        self.table.reset(seed)
        self.agents = self.possible_agents[:]
        self._chosen = {}
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations, self.infos = self._every(False), self._every(False), self._infos()
        self.agent_selection = self._next() or self.agents[0]
        self._skip_agent_selection = None

    def observe(self, agent: str) -> Any:
        """Return what an agent sees now, whether it is to act or not."""
        return self.table.observation(self._seat[agent])

    def step(self, action: Any) -> None:
        """Play the action of the selected agent; None for one whose game is over.

        Raises:
            IllegalActionError: with ``illegal="error"``, an action that the mask forbids; nothing happened.
        """
        if not self.agents:
            raise NeedsResetError("step: the game is over, or was never reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._chosen[self._seat[agent]] = self.table.checked(action, self._seat[agent])
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if waiting := self._next():
            self.agent_selection = waiting
            return
        chosen, self._chosen = self._chosen, {}
        self.table.step(chosen)
        self.rewards, self.infos = self._rewards(), self._infos()
        self.terminations = self._every(self.table.terminated)
        self.truncations = self._every(self.table.truncated)
        self.agent_selection = self._next() or self.agents[0]
        self._accumulate_rewards()
        self._deads_step_first()

    def _next(self) -> str | None:
        """Return an agent that is to act and was not asked yet."""
        for agent in self.agents:
            if self._seat[agent] in self.table.acting and self._seat[agent] not in self._chosen:
                return agent
        return None


class BlockParallel(_Agents, ParallelEnv[str, Any, Any]):
    """One game whose agents are asked at once; a ``pettingzoo.ParallelEnv``. See :func:`parallel_env`.

    Attributes:
        table: the game behind it.
    """

    def __init__(self, game: str, *, max_cycles: int | None = None, render_mode: str | None = None, **kwargs: Any):
        """Open it; see :func:`parallel_env` for what the arguments mean."""
        _Agents.__init__(self, game, max_cycles, render_mode, one_by_one=False, **kwargs)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        """Start a game; without a seed the next of the sequence that the last seed began. No options are known.

        Returns:
            Observations and infos by agent.
        """
        self.table.reset(seed)
        self.agents = self.possible_agents[:]
        return self._observations(), self._infos()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Play an action of every agent that is to act; those of others are ignored.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent.

        Raises:
            IllegalActionError: with ``illegal="error"``, an action that its mask forbids; nothing happened.
            KeyError: an agent that is to act has no action.
        """
        if not self.agents:
            raise NeedsResetError("step: the game is over, or was never reset")
        chosen = {}
        for agent in self.agents:
            if (seat := self._seat[agent]) in self.table.acting:
                if agent not in actions:
                    raise KeyError(f"actions: {agent} is to act and has none")
                chosen[seat] = self.table.checked(actions[agent], seat)
        self.table.step(chosen)
        result = (
            self._observations(),
            self._rewards(),
            self._every(self.table.terminated),
            self._every(self.table.truncated),
            self._infos(),
        )
        if self.table.terminated or self.table.truncated:
            self.agents = []
        return result

    def _observations(self) -> dict[str, Any]:
        return {agent: self.table.observation(self._seat[agent]) for agent in self.agents}


def aec_env(
    game: str,
    *,
    max_cycles: int | None = None,
    observation: str = "flat",
    opponents: Mapping[int, str] | str | None = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> BlockAEC:
    """Return a game whose agents are asked one by one, ``player_0`` to ``player_3``.

    Where seats move at once they are asked in order, and none sees what another chose before
    all have. Infos have ``action_mask``, int8 (actions,), all 0 for who is not to act, and
    ``score``.

    Args:
        game: ``"BlockBattle-v0"``, or a server's own name.
        max_cycles: how often an agent is asked before the game is truncated; None is the game's default.
        observation: ``"flat"``: one float32 array, the planes and then the globals of the vector environment;
            ``"masked"``: a dict of that as ``observation`` and ``action_mask``, as PettingZoo's classic games
            have it; ``"planes"``: a dict of ``planes`` and ``globals``, as Gymnasium's environments here.
        opponents: players of the server, by seat; by default there are none and every seat is an agent.
        render_mode: None, ``"human"`` (prints), ``"ansi"`` or ``"rgb_array"``.
        kwargs: ``address``, ``seed``, ``seats``, ``reward``, ``illegal`` and so on, as in :func:`blockyard.make_vec`.
    """
    return BlockAEC(
        game, max_cycles=max_cycles, observation=observation, opponents=opponents, render_mode=render_mode, **kwargs
    )


def parallel_env(
    game: str,
    *,
    max_cycles: int | None = None,
    observation: str = "flat",
    opponents: Mapping[int, str] | str | None = None,
    render_mode: str | None = None,
    **kwargs: Any,
) -> BlockParallel:
    """Return a game whose agents are asked at once; arguments as in :func:`aec_env`.

    In a game of turns every agent is stepped each turn, and the actions of those whose turn it
    is not are ignored; their masks are all 0.
    """
    return BlockParallel(
        game, max_cycles=max_cycles, observation=observation, opponents=opponents, render_mode=render_mode, **kwargs
    )


__all__ = ["OBSERVATIONS", "BlockAEC", "BlockParallel", "IllegalActionError", "aec_env", "parallel_env"]
