"""Jumanji's Tetris, compiled by JAX for the processor.

``step``: one compiled call per step of all games, as in a trainer outside of JAX; another compiled call chooses actions
between the steps. ``scan``: 32 steps and their choices in one compiled call, the fastest way for JAX. In both, a
step is one piece placed.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import jax
import jumanji
from jumanji.wrappers import VmapAutoResetWrapper

from ..stepper import Stepper

SCAN = 32


def choose(key: Any, mask: Any) -> Any:
    """Return a random legal (rotation, column) for every mask (games, 4, 10)."""
    flat = mask.reshape(mask.shape[0], -1)
    pick = jax.numpy.argmax(flat * jax.random.uniform(key, flat.shape), axis=1)
    return jax.numpy.stack([pick // mask.shape[2], pick % mask.shape[2]], axis=1)


class Compiled(Stepper):
    """Games under vmap and jit, which are reset when they end."""

    def __init__(self, envs: int, scanned: bool) -> None:
        self.env = VmapAutoResetWrapper(jumanji.make("Tetris-v0"))
        self.step, self.choose, self.scanned = jax.jit(self.env.step), jax.jit(choose), scanned
        self.state, self.shown = jax.jit(self.env.reset)(jax.random.split(jax.random.PRNGKey(1), envs))
        self.key, self.actions = jax.random.PRNGKey(2), None
        self.many = jax.jit(lambda carry: jax.lax.scan(self._one, carry, None, length=SCAN)[0])
        size = sum(x.nbytes for x in jax.tree_util.tree_leaves(self.shown.observation))
        super().__init__(envs, size, {p: version(p) for p in ("jumanji", "jax")})
        self.play(self.prepare(1))  # compiles

    def _one(self, carry: Any, _: Any) -> Any:
        state, shown, key = carry
        key, used = jax.random.split(key)
        state, shown = self.env.step(state, choose(used, shown.observation.action_mask))
        return (state, shown, key), shown.reward.sum()

    def prepare(self, want: int) -> int:
        if self.scanned:
            return SCAN
        self.key, used = jax.random.split(self.key)
        self.actions = jax.block_until_ready(self.choose(used, self.shown.observation.action_mask))
        return 1

    def play(self, steps: int) -> None:
        if self.scanned:
            self.state, self.shown, self.key = self.many((self.state, self.shown, self.key))
        else:
            self.state, self.shown = self.step(self.state, self.actions)
        jax.block_until_ready(self.shown)


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: the option is envs."""
    return Compiled(options["envs"], name == "scan")
