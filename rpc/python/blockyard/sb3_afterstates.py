"""Public name of :mod:`blockyard.adapters.sb3_afterstates`."""

from .adapters.sb3_afterstates import *  # noqa: F403
