"""Public name of :mod:`blockyard.adapters.sb3`."""

from .adapters.sb3 import *  # noqa: F403
