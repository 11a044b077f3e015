"""Public name of :mod:`blockyard.adapters.rllib`."""

from .adapters.rllib import *  # noqa: F403
