"""OpenSpiel's Othello: a board and a mask of similar size, rules in C++, stepped from Python.

``vector``: its own SyncVectorEnv. ``states``: the shortest loop over its states with the same results: it applies an
action, writes the observation of the seat to move into a row, and its legal actions into a mask.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.vector_env import SyncVectorEnv

from ..stepper import Stepper

GAME = "othello"


class Vector(Stepper):
    """OpenSpiel's vector environment, which resets games within the step in which they end."""

    def __init__(self, envs: int) -> None:
        super().__init__()
        self.env = SyncVectorEnv([rl_environment.Environment(GAME) for _ in range(envs)])
        self.shown = self.env.reset()
        self.rng = np.random.default_rng(1)
        self.envs = self.rows = envs
        self.size = 4 * envs * len(self.shown[0].observations["info_state"][0])
        self.about = {"open-spiel": version("open-spiel")}
        self.outputs: list[Any] = []

    def prepare(self, want: int) -> int:
        self.outputs = []
        for shown in self.shown:
            legal = shown.observations["legal_actions"][shown.observations["current_player"]]
            self.outputs.append(StepOutput(int(self.rng.choice(legal))))
        return 1

    def play(self, steps: int) -> None:
        self.shown = self.env.step(self.outputs, reset_if_done=True)[0]


class StepOutput:
    """What SyncVectorEnv reads of an agent's answer."""

    def __init__(self, action: int) -> None:
        self.action = action


class States(Stepper):
    """A loop over states."""

    def __init__(self, envs: int) -> None:
        super().__init__()
        self.game = pyspiel.load_game(GAME)
        self.states = [self.game.new_initial_state() for _ in range(envs)]
        self.masks = np.array([s.legal_actions_mask() for s in self.states], np.int8)
        self.boards = np.array([s.observation_tensor(0) for s in self.states], np.float32)
        self.rewards = np.zeros(envs, np.float32)
        self.rng = np.random.default_rng(1)
        self.envs = self.rows = envs
        self.size = self.boards.nbytes
        self.about = {"open-spiel": version("open-spiel")}
        self.actions: list[int] = []

    def prepare(self, want: int) -> int:
        self.actions = (self.masks * self.rng.random(self.masks.shape)).argmax(1).tolist()
        return 1

    def play(self, steps: int) -> None:
        for k, action in enumerate(self.actions):
            state = self.states[k]
            state.apply_action(action)
            if state.is_terminal():
                self.rewards[k] = state.player_reward(0)
                state = self.states[k] = self.game.new_initial_state()
            seat = state.current_player()
            self.boards[k] = state.observation_tensor(seat)
            self.masks[k] = state.legal_actions_mask(seat)


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: the option is envs."""
    return Vector(options["envs"]) if name == "vector" else States(options["envs"])
