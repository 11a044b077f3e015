"""Public name of :mod:`blockyard.formats.provenance`."""

from .formats.provenance import *  # noqa: F403
