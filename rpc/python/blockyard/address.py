"""Addresses of servers, and sockets connected to them."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from .errors import ServerGone

_BUFFER = 4 << 20  # bytes: a step of a few thousand games then needs one write


@dataclass(frozen=True)
class Address:
    """Where a server listens: ``unix:PATH`` or ``tcp:HOST:PORT``."""

    kind: str
    path: str = ""
    host: str = ""
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address.

        Raises:
            ValueError: text is no address; the message says what one looks like.
        """
        kind, _, rest = text.partition(":")
        if kind == "unix" and rest:
            return cls("unix", path=rest)
        if kind == "tcp":
            host, _, port = rest.rpartition(":")
            if host and port.isdigit() and 0 < int(port) < 65536:
                return cls("tcp", host=host.strip("[]"), port=int(port))
        raise ValueError(f"address {text!r}: want 'unix:PATH' or 'tcp:HOST:PORT'")

    def __str__(self) -> str:
        return f"unix:{self.path}" if self.kind == "unix" else f"tcp:{self.host}:{self.port}"

    def connect(self, timeout: float) -> socket.socket:
        """Return a blocking socket connected to the server.

        timeout, in seconds, bounds the connecting and afterwards each wait for bytes, in
        the kernel: the socket stays blocking, so that one call can wait for a whole reply.

        Raises:
            ServerGone: nobody answers there.
        """
        try:
            return self._dial(timeout)
        except OSError as error:
            raise ServerGone(f"no server answers at {self}: {error}") from error

    def _dial(self, timeout: float) -> socket.socket:
        if self.kind == "tcp":
            sock = socket.create_connection((self.host, self.port), timeout)
            sock.settimeout(None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                sock.connect(self.path)
            except OSError:
                sock.close()
                raise
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        seconds = int(timeout)
        limit = struct.pack("ll", seconds, int((timeout - seconds) * 1e6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, limit)
        return sock
