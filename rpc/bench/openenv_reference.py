"""The environment of ``--openenv`` around the Python client, on the server of the OpenEnv package itself.

    python openenv_reference.py BlockBattle-v0 hand:ply=1 64

The last word is the number of sessions. It prints one line of JSON with its address, as ``blockyard serve`` does, and
serves until it is terminated. For ``openenv_speed.py``, which compares the two servers.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

import numpy as np
import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

import blockyard


class Move(Action):
    move: str


class Position(Observation):
    text: str
    legal_moves: list[str]
    error: str = ""


class Game(Environment[Move, Position, State]):
    """One game; moves and observations are text."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str, opponents: str | None) -> None:
        super().__init__()
        self._env = blockyard.make(game, opponents=opponents)
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> Position:
        self._state = State(episode_id=episode_id)
        _, infos = self._env.reset(seed=seed)
        return self._position(infos)

    def step(self, action: Move, timeout_s: float | None = None, **_: Any) -> Position:
        self._state.step_count += 1
        _, reward, terminated, truncated, infos = self._env.step(self._env.parse(action.move))
        position = self._position(infos)
        position.reward, position.done = float(reward), terminated or truncated
        return position

    def _position(self, infos: dict[str, Any]) -> Position:
        legal = [self._env.text(int(a)) for a in np.flatnonzero(infos["action_mask"])]
        return Position(text=self._env.observation_text(legal=False), legal_moves=legal)

    @property
    def state(self) -> State:
        return self._state

    def close(self) -> None:
        self._env.close()


def main() -> None:
    game, opponents, sessions = sys.argv[1:]
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = create_fastapi_app(lambda: Game(game, opponents), Move, Position, max_concurrent_envs=int(sessions))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    print(json.dumps({"openenv": "http://{}:{}".format(*listener.getsockname())}), flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
