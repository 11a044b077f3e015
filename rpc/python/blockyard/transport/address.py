"""Addresses of servers, and sockets connected to them."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ServerGoneError, on_error
from .library import LibrarySocket

_BUFFER = 4 << 20  # bytes in the kernel: the step of a few thousand games then needs one write

# Which certificates of a ``tls:`` server to trust. None or True: those of the system's authorities; a path: those
# in that file or folder; False: any; or an SSL context, which may hold a client certificate.
Tls = ssl.SSLContext | str | os.PathLike[str] | bool | None


@dataclass(frozen=True)
class Address:
    """Where a server listens: ``unix:PATH``, ``tcp:HOST:PORT`` or ``tls:HOST:PORT``; or ``inproc:``, in this process.

    name is what the certificate of the server must have; "" means host.
    """

    kind: str
    path: str = ""
    host: str = ""
    port: int = 0
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address; raise ValueError if text is none."""
        kind, _, rest = text.partition(":")
        if kind == "unix" and rest:
            return cls("unix", path=rest)
        if text == "inproc:":
            return cls(kind)
        if kind in ("tcp", "tls"):
            host, _, port = rest.removeprefix("//").rpartition(":")
            if host and port.isdigit() and 0 < int(port) < 65536:
                return cls(kind, host=host.strip("[]"), port=int(port))
        want = "'unix:PATH', 'tcp:HOST:PORT', 'tls:HOST:PORT', 'inproc:' or, for all servers of a name, 'dns:NAME:PORT'"
        raise ValueError(f"address {text!r}: want {want}")

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}{self.host}{f':{self.port}' if self.port else ''}"

    def connect(self, timeout: float, tls: Tls = None, patience: float | None = None) -> socket.socket | LibrarySocket:
        """Return a socket connected to the server.

        The timeout, in seconds, is for connecting, unless patience is given, and for each wait for bytes.
        """
        if self.kind == "inproc":
            return LibrarySocket()
        context = tls_context(tls) if self.kind == "tls" else None
        try:
            sock = self._dial(timeout if patience is None else patience)
            sock.settimeout(timeout)
            with on_error(sock.close):
                return context.wrap_socket(sock, server_hostname=self.name or self.host) if context else sock
        except ssl.SSLCertVerificationError as error:
            what = f"the certificate of the server at {self} is not trusted: {error.verify_message}"
            raise ServerGoneError(f"{what}; pass tls=PATH of the certificates to trust") from error
        except OSError as error:
            what = f"no server answers at {self}: {error}"
            raise ServerGoneError(f"{what}; start one with `blockyard serve`, or correct address=") from error

    def _dial(self, patience: float) -> socket.socket:
        if self.kind == "unix":
            if not hasattr(socket, "AF_UNIX"):
                raise OSError("this Python has no Unix sockets; let the server listen on tcp:127.0.0.1:PORT")
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            with on_error(sock.close):
                sock.connect(self.path)
        else:
            sock = socket.create_connection((self.host, self.port), patience)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        return sock


Where = str | Address | None  # a server; None: the local one


def look_up(text: Where, tls: Tls = None) -> Sequence[Where]:
    """Return the addresses that ``dns:NAME:PORT`` stands for, or another one; with tls, certificates have that name."""
    if not isinstance(text, str) or not text.startswith("dns:"):
        return [text]
    rest = text.removeprefix("dns:")
    where = Address.parse(f"tcp:{rest}") if rest.rpartition(":")[0] else Address.parse(text)
    try:
        found = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ServerGoneError(f"address {text!r}: {where.host} cannot be looked up: {error}") from error
    hosts = sorted({str(entry[4][0]) for entry in found})
    over = "tcp" if tls is None else "tls"
    return [Address(over, host=host, port=where.port, name=where.host) for host in hosts]


def tls_context(tls: Tls) -> ssl.SSLContext:
    """Return the SSL context for a ``tls`` argument; raise ValueError if it is a path without certificates."""
    if isinstance(tls, ssl.SSLContext):
        return tls
    context = ssl.create_default_context()
    if tls is False:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif isinstance(tls, (str, os.PathLike)):
        try:
            context.load_verify_locations(*((None, tls) if os.path.isdir(tls) else (tls, None)))
        except (OSError, ssl.SSLError) as error:
            what = f"tls: {os.fspath(tls)!r} holds no certificates to trust ({error})"
            raise ValueError(f"{what}; want a PEM file or a folder of them") from error
    return context
