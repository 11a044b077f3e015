"""A proxy that treats connections badly."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import socket
import struct
import threading

# What happens to a connection. A delayed one receives all bytes, but late and in pieces; one that is cut ends in the
# middle of an answer, and one that is reset does so without the end of a stream.
WAYS = ("delay", "cut", "reset")

_LONGEST_DELAY = 0.004  # seconds per piece
_LARGEST_PIECE = 1 << 16  # bytes
_CUT = (10, 21)  # log2 of the fewest and the most bytes of answers before a connection ends


class Proxy:
    """Forwards TCP connections to a server, in a thread of its own.

    Attributes:
        ports: a port of 127.0.0.1 for each of WAYS.
        tasks: one for each connection that is open.
    """

    def __init__(self, address: str, seed: int) -> None:
        """Listen; address is kind:HOST:PORT."""
        host, port = address.split(":", 1)[1].rsplit(":", 1)
        self._target, self._chance = (host, int(port)), random.Random(seed)
        self.ports: dict[str, int] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._run(self._listen())

    def __enter__(self) -> Proxy:
        """Return the proxy."""
        return self

    def __exit__(self, *error: object) -> None:
        """End all connections and the thread."""
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    def _run(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)  # type: ignore[arg-type]

    async def _listen(self) -> None:
        self._servers = []
        for way in WAYS:
            server = await asyncio.start_server(functools.partial(self._accept, way), "127.0.0.1", 0)
            self.ports[way] = server.sockets[0].getsockname()[1]
            self._servers.append(server)

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _accept(self, way: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        upstream = None
        try:
            up_reader, upstream = await asyncio.open_connection(*self._target)
            left = None if way == "delay" else int(2 ** self._chance.uniform(*_CUT))
            ways = [self._forward(reader, upstream, None, way), self._forward(up_reader, writer, left, way)]
            # The end of one direction is the end of the connection.
            tasks = [asyncio.create_task(one) for one in ways]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for one in tasks:
                    one.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        except OSError:
            pass  # one of the two sides is gone
        finally:
            for side in (writer, upstream):
                if side is not None:
                    _close(side, abruptly=way == "reset")
            self.tasks.discard(task)

    async def _forward(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, left: int | None, way: str
    ) -> None:
        """Forward until the source ends, or left bytes have gone."""
        with contextlib.suppress(OSError):
            while left is None or left > 0:
                size = self._chance.randint(1, _LARGEST_PIECE) if way == "delay" else _LARGEST_PIECE
                piece = await source.read(size if left is None else min(size, left))
                if not piece:
                    return
                if way == "delay":
                    await asyncio.sleep(self._chance.uniform(0, _LONGEST_DELAY))
                sink.write(piece)
                await sink.drain()
                left = None if left is None else left - len(piece)


def _close(side: asyncio.StreamWriter, abruptly: bool) -> None:
    """Close a side, abruptly with a reset that the other end notices at once."""
    if abruptly and (sock := side.get_extra_info("socket")) is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        side.transport.abort()
    else:
        side.close()
