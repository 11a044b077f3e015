"""A server process that tests kill and start again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


class Mortal:
    """A server that may be killed, and started again at the same address.

    Attributes:
        address: where it listens.
    """

    def __init__(self, program: Path, listen: str, *flags: str | Path) -> None:
        self._program, self.address, self._flags = program, listen, flags
        self.start()

    def start(self) -> None:
        command = [str(self._program), "serve", "--listen", self.address, "--parent-death", *self._flags]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.address = json.loads(self.process.stdout.readline())["ready"][0]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def restart(self) -> None:
        self.kill()
        self.start()


class Deaths:
    """How often servers were lost so far.

    Attributes:
        count: the number of times.
        first: is set when it is not 0.
    """

    def __init__(self) -> None:
        self.count, self.first = 0, threading.Event()

    def another(self) -> None:
        self.count += 1
        self.first.set()


@contextmanager
def dying(*servers: Mortal, seed: int, hang: bool = False, soon: bool = False) -> Iterator[Deaths]:
    """Kill and restart one of these servers 25 times, after 0.1 to 0.4 s each; more would never end on a busy machine.

    With hang, some hang for up to 5 s before. With soon, it is eight times, after a tenth of that.
    """
    chance, over, deaths = random.Random(seed), threading.Event(), Deaths()
    times, scale = (8, 0.1) if soon else (25, 1)

    def kill() -> None:
        while deaths.count < times and not over.wait(scale * chance.uniform(0.1, 0.4)):
            server = chance.choice(servers)
            if hang and chance.random() < 0.3:
                server.process.send_signal(signal.SIGSTOP)
                over.wait(chance.uniform(0, 5))
                if chance.random() < 0.5:
                    server.process.send_signal(signal.SIGCONT)
                    deaths.another()
                    continue
            server.restart()
            deaths.another()

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield deaths
    finally:
        over.set()
        thread.join()


@contextmanager
def mortals(program: Path, *listen: str, flags: Iterable[str | Path] = ()) -> Iterator[list[Mortal]]:
    """Run servers with these flags that listen at these addresses, and kill them in the end."""
    with ExitStack() as stack:
        servers = []
        for address in listen:
            servers.append(Mortal(program, address, *flags))
            stack.callback(servers[-1].kill)
        yield servers
