"""A client of the chaos test: it plays games with fixed choices, and prints a hash of all that it received.

    python clients.py KIND ADDRESS ENVS STEPS GAME...

A KIND is shm or tls, a vector environment of this package over shared memory or TLS, or socket, a client of nothing but
a socket and msgpack. All kinds make the same choices, so that a game has the same hash over each of them. A line
"GAME HASH" follows each game. Exit status 3 says that the connection ended; the line on standard error says how.
"""

from __future__ import annotations

import hashlib
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgpack
import numpy as np
from numpy.typing import NDArray

KEYS = Path(__file__).resolve().parents[2] / "python" / "tests" / "tls"
SEED = 11
SOLO = ("WinTetris-v0", "Dropblox-v0")
GONE = 3

Arrays = list[NDArray[Any]]


def choose(masks: NDArray[np.uint8], step: int) -> NDArray[np.int64]:
    """Return a legal action for each row of packed masks: the (7 * step + 13 * row)-th, counted around."""
    bits = np.unpackbits(masks, axis=1, bitorder="little")
    nth = (7 * step + 13 * np.arange(len(bits))) % bits.sum(axis=1, dtype=np.int64)
    counted: NDArray[np.uint16] = np.cumsum(bits, axis=1, dtype=np.uint16)
    actions: NDArray[np.int64] = np.argmax(counted == nth[:, None] + 1, axis=1)
    return actions


def play(reset: Callable[[], Arrays], step: Callable[[Any], Arrays], steps: int) -> str:
    """Play, and return the hash of all arrays; the first of them are the packed masks."""
    digest = hashlib.sha256()
    arrays = reset()
    for t in range(steps):
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        arrays = step(choose(arrays[0], t))
    return digest.hexdigest()


def over_blockyard(address: str, game: str, envs: int, steps: int, kind: str) -> str:
    """Play as a vector environment."""
    import blockyard

    tls = KEYS / "ca.pem" if kind == "tls" else None
    road: Literal["shm", "socket"] = "shm" if kind == "shm" else "socket"
    with blockyard.make_vec(game, envs, address=address, transport=road, tls=tls, seed=SEED, timeout=120) as env:
        rows = env.rows_per_game

        def arrays(obs: Any, terminated: Any, truncated: Any) -> Arrays:
            flags = [np.asarray(flag, np.uint8)[::rows] for flag in (terminated, truncated)]
            return [env.packed_masks, obs["planes"], obs["globals"], env.seat_rewards, env.scores, *flags]

        def reset() -> Arrays:
            none = np.zeros(env.num_envs, np.uint8)
            return arrays(env.reset()[0], none, none)

        def step(actions: Any) -> Arrays:
            obs, _, terminated, truncated, _ = env.step(actions)
            return arrays(obs, terminated, truncated)

        return play(reset, step, steps)


class Plain:
    """A connection that uses only a socket and msgpack."""

    def __init__(self, address: str) -> None:
        """Connect to tcp:HOST:PORT and send hello."""
        host, port = address.removeprefix("tcp:").rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), 120)
        self._unpacker, self._id = msgpack.Unpacker(max_buffer_size=1 << 30), 0
        self.call("hello", {"proto": [3, 0], "client": "plain"})

    def call(self, method: str, *params: Any) -> Any:
        """Send a request and return its result."""
        self._id += 1
        self._socket.sendall(msgpack.packb([0, self._id, method, params]))
        while True:
            for _, number, error, result in self._unpacker:
                if error is not None or number != self._id:
                    raise RuntimeError(f"{method}: {error}")
                return result
            received = self._socket.recv(1 << 18)
            if not received:
                raise ConnectionError("the server ended the connection")
            self._unpacker.feed(received)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def over_socket(address: str, game: str, envs: int, steps: int) -> str:
    """Play with nothing but a socket and msgpack."""
    client = Plain(address)
    options: dict[str, Any] = {"num_envs": envs, "seed": SEED, "autoreset": "SameStep"}
    if game not in SOLO:
        options["opponents"] = {1: "random"}
    opened = client.call("open", game, options)
    fields = {f["name"]: f for f in opened["layout"]}

    def arrays(slab: bytes) -> Arrays:
        def field(name: str) -> NDArray[Any]:
            f = fields[name]
            return np.frombuffer(slab[f["off"] : f["off"] + f["len"]], f["dtype"]).reshape(f["shape"])

        masks = field("mask").copy()
        masks[~masks.any(axis=1), 0] = 1  # what the package says of a row that need not act
        return [masks, *map(field, ("planes", "globals", "reward", "score", "terminated", "truncated"))]

    def step(actions: Any) -> Arrays:
        return arrays(client.call("step", opened["h"], actions.astype("<u2").tobytes()))

    got = play(lambda: arrays(client.call("reset", opened["h"])), step, steps)
    client.close()
    return got


def main() -> int:
    """Play the games of the command line; return the exit status."""
    kind, address, envs, steps, *games = sys.argv[1:]
    gone: tuple[type[BaseException], ...] = (ConnectionError, TimeoutError)
    if kind != "socket":
        import blockyard

        gone = (*gone, blockyard.ServerGoneError)
    try:
        for game in games:
            how = address, game, int(envs), int(steps)
            print(game, over_socket(*how) if kind == "socket" else over_blockyard(*how, kind), flush=True)
    except gone as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return GONE
    return 0


if __name__ == "__main__":
    sys.exit(main())
