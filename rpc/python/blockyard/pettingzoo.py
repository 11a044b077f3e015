"""Public name of :mod:`blockyard.adapters.pettingzoo`."""

from .adapters.pettingzoo import *  # noqa: F403
