"""Options of an environment: vectors and pools with a server of their own. What counts is decisions.

``vector`` plays a trace of random legal actions; ``pool`` receives half of its games at a time, and the server chooses
the actions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import blockyard

from ..servers import ours
from ..stepper import Stepper
from .ours import Games


class Form:
    """What both have: a server, and facts about it."""

    env: Any

    def __init__(self, threads: int = 0, record: int = 0) -> None:
        """Start the server; of record episodes one is recorded."""
        self.server = ours("--workers", str(threads))
        self.options: dict[str, Any] = {"address": self.server.said["ready"][0], "seed": 1}
        if record:
            self.options["record"] = {"path": self.server.folder / "games.jsonl.gz", "every": record}

    def games_recorded(self) -> int:
        """Return the number of games in the file of the recording."""
        if not self.env.recording:
            return 0
        self.env.recording.flush()
        return int(self.env.recording.games)

    def peak(self) -> float:
        """Return the peak memory of the server in MB."""
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def close(self) -> None:
        """Close it, and stop the server."""
        self.env.close()
        self.server.close()


class Vector(Form, Games):
    """A vector environment."""

    def __init__(self, game: str, envs: int, steps: int, threads: int = 0, record: int = 0, **options: Any) -> None:
        Form.__init__(self, threads, record)
        env = blockyard.make_vec(game, envs, **self.options, **options)
        Games.__init__(self, env, [self.server.pid], steps=steps)
        decisions, (_, infos) = 0, env.reset(seed=1)
        for move in self.moves:
            decisions += int(infos["acting"].sum())
            *_, infos = env.step(move)
        self.envs, self.size = decisions / steps, self.size + 2 * env.num_envs


class Pool(Form, Stepper):
    """A pool."""

    def __init__(self, game: str, envs: int, steps: int, **options: Any) -> None:
        Form.__init__(self)
        self.env, self.steps = blockyard.BlockPool(game, envs, envs // 2, **self.options, **options), steps
        handle = self.env.envs[0].engine.transport.handle
        Stepper.__init__(self, 0, handle.slab_len + 2 * handle.rows, others=[self.server.pid])
        self.prepare(steps)
        self.play(steps)

    def prepare(self, want: int) -> int:
        """Begin again: all steps are played at once."""
        self.env.async_reset(seed=1)
        return self.steps

    def play(self, steps: int) -> None:
        """Step all games from their first positions on, and count the decisions, which are the same each time."""
        decisions = 0
        for left in reversed(range(2 * steps)):
            batch = self.env.recv()
            decisions += int(batch.infos["acting"].sum())
            if left > 1:
                self.env.send(np.zeros(len(batch), np.uint16), batch.env_ids)
        self.envs = decisions / steps


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open a form with these options."""
    return Pool(**options) if name == "pool" else Vector(**options)
