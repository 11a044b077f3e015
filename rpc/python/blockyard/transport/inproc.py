"""Environments on the server in this process, which steps them to memory of the caller."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError
from .layout import Handle
from .memory import StepMemory, final_arrays
from .over_socket import SocketTransport
from .session import Session


class InprocTransport(SocketTransport):
    """Steps games by a call of the library with the addresses of arrays in one piece; all else is as over a socket."""

    name = "inproc"

    def __init__(self, client: Session, handle: Handle) -> None:
        super().__init__(client, handle)
        self._actions: NDArray[np.uint16] | None = None  # of the last step in other memory than its own
        self._at = 0  # their address
        self._kept: StepMemory | None = None  # where the server may read until its next request

    def step(self, actions: NDArray[np.uint16], memory: StepMemory) -> None:
        if memory.frame is None:
            super().step(actions, memory)
            return
        if memory.addresses is None:
            own = 0 if memory.actions is None else memory.actions.ctypes.data
            memory.addresses = np.frombuffer(memory.bytes, np.uint8).ctypes.data, own
        slab, at = memory.addresses
        if actions is not memory.actions:
            if actions is not self._actions:
                self._actions, self._at = actions, actions.ctypes.data
            at = self._at
        self._kept = memory
        self.client.connection.step_at(self.handle.number, at, slab)

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        try:
            self.step(actions, memory)
        except BlockyardError as error:
            return error
        return None

    def wait(self, future: Any) -> None:
        if future is not None:
            raise future

    def share_final(self) -> dict[str, NDArray[Any]]:
        """Return the library's own arrays, which exist as long as the games do."""
        answer = self.call("share_final")
        return final_arrays(answer["layout"], (ctypes.c_uint8 * answer["len"]).from_address(answer["at"]))
