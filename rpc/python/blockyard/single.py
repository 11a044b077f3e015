"""Where datasets of Minari that version 0.1.0 exported look for :class:`blockyard.BlockEnv`."""

from .adapters.single import BlockEnv as BlockEnv
