"""Public name of :mod:`blockyard.adapters.torchrl`."""

from .adapters.torchrl import *  # noqa: F403
