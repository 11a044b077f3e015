"""Policies of other libraries as opponents and for evaluations: ``onnx``, ``sb3`` and ``named``."""

from .networks.policies import *  # noqa: F403
