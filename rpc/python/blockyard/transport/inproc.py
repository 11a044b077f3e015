"""Environments on the server in this process, which steps them to memory of the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError
from .layout import Handle
from .memory import StepMemory
from .over_socket import SocketTransport
from .session import Session


class InprocTransport(SocketTransport):
    """Steps games by a call of the library with the addresses of actions and arrays.

    Everything else is a request like over a socket, and so is a step whose arrays are not in one piece.
    """

    name = "inproc"

    def __init__(self, client: Session, handle: Handle) -> None:
        super().__init__(client, handle)
        self._actions: NDArray[np.uint16] | None = None  # of the last step, and their address
        self._at = 0
        self._kept: StepMemory | None = None  # where the server may read until its next request

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        if memory.frame is None:
            super().step(actions, memory)
            return
        if memory.address is None:
            memory.address = np.frombuffer(memory.bytes, np.uint8).ctypes.data
        if actions is not self._actions:
            self._actions, self._at = actions, actions.ctypes.data
        self._kept = memory
        self.client.connection.step_at(self.handle.number, self._at, memory.address)

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        try:
            self.step(actions, memory)
        except BlockyardError as error:
            return error
        return None

    def wait(self, future: Any) -> None:
        if future is not None:
            raise future

    def push_final(self) -> None:
        """Do nothing: the request ``final`` after a step costs no more than a message beside it."""
