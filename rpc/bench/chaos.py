"""Play beside clients that are killed, stopped, slowed and cut off, and check that nothing else is affected.

    python rpc/bench/chaos.py [--minutes 60] [--clients 6] [--envs 64] [--steps 200] [--seed 1]
                           [--games 200] [--stop-ms 100] [--tries 5] [--log FILE]

It starts a server, and first lets each kind of client (see faults/clients.py) play every game undisturbed: all kinds
must receive the same. Then clients of all kinds play beside one another, each in a process of its own with a fate:

    alone           nothing happens to it
    stop            it is stopped several times, and continued
    delay           its bytes go through a proxy, late and in pieces
    kill            it is killed at some time
    stop and kill   it is stopped, and killed a while later
    cut, reset      the proxy ends its connection in the middle of an answer

The first three must receive what they receive undisturbed, byte for byte. The others must end, those that are cut off
by themselves and with the error of a connection. Meanwhile strangers hold bad connections to the HTTP doors of the
server (OpenEnv and MCP, metrics, watching) and to the page of a tournament, and must be answered beside them (see
faults/strangers.py). Before and after, searches that take the server many seconds must stop within --stop-ms of the
loss of their client. In the end the server may hold nothing that it did not hold before: sessions, games, memory,
goroutines, files, mappings, temporary files; and it must end without an error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.clients import GONE, KEYS
from faults.proxy import WAYS, Proxy
from faults.resources import Resources, exceeding, look, settled
from faults.searches import stopping
from faults.strangers import OPENENV_GAME, tournament, visit, visiting
from sides.plan import ENV_IDS

from blockyard.transport.server import find_server

KINDS = ("shm", "tls", "socket")
HTTP = ("openenv", "http", "watch")  # doors of the server
UNHARMED = ("alone", "stop", "delay")
FATES = (*UNHARMED, "kill", "stop and kill", "cut", "reset")


@dataclass
class Server:
    """A server process, and its addresses by kind of client."""

    process: subprocess.Popen[bytes]
    addresses: dict[str, str]
    hosts: dict[str, str]  # HOST:PORT of each door of HTTP
    seconds: dict[str, float] = field(default_factory=dict)  # that each kind of client takes undisturbed


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Run a server on a Unix socket, TCP and TLS in an empty folder; it must end without an error, and tidy up."""
    listen = [f"unix:{folder}/s", "tcp:127.0.0.1:0", "tls:127.0.0.1:0"]
    keys = [f"--cert={KEYS / 'server.pem'}", f"--key={KEYS / 'server.key'}"]
    how = [f"--game={OPENENV_GAME}", "--opponents=random", "--idle=20s"]
    how += ["--hello-timeout=10m"]  # a busy machine may hold up an honest client
    places = [f"--listen={address}" for address in listen] + [f"--{door}=127.0.0.1:0" for door in HTTP]
    command = [str(find_server()), "serve", "--parent-death", *places, *keys, *how]
    with (folder.parent / "log").open("w+b") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert process.stdout is not None
        try:
            ready = json.loads(process.stdout.readline())
            unix, tcp, tls = ready["ready"]
            hosts = {door: ready[door].removeprefix("http://") for door in HTTP}
            yield Server(process, {"shm": unix, "tls": tls, "socket": tcp}, hosts)
        finally:
            process.terminate()
            process.communicate(timeout=60)
            log.seek(0)
            said = log.read().decode()
    if process.returncode != 0 or "panic" in said or "internal" in said or os.listdir(folder):
        raise SystemExit(
            f"the server ended with {process.returncode}, {os.listdir(folder)} left, and said\n{said[-4000:]}"
        )


@dataclass
class Client:
    """A client process and its fate."""

    kind: str
    fate: str
    process: subprocess.Popen[str]
    began: float
    signals: list[tuple[float, int]] = field(default_factory=list)  # that are still to come, and when after its begin
    sent: int = 0  # signals

    def poke(self, now: float) -> None:
        """Send the signals that are due."""
        while self.signals and now - self.began >= self.signals[0][0] and self.process.poll() is None:
            self.process.send_signal(self.signals.pop(0)[1])
            self.sent += 1

    def hit(self) -> bool:
        """Return whether its fate came before its end."""
        return self.fate in ("alone", "delay") or self.sent > 0 or self.process.returncode == GONE

    def end(self) -> None:
        """Kill it, whatever it does."""
        self.process.kill()
        self.process.communicate()


def signals(fate: str, seconds: float, chance: random.Random) -> list[tuple[float, int]]:
    """Return the times and signals of a fate, for a client that takes so long undisturbed."""
    times = itertools.accumulate(seconds * chance.uniform(0.05, 0.4) for _ in range(4))
    if fate == "kill":
        return [(seconds * chance.uniform(0, 1), signal.SIGKILL)]
    if fate == "stop":
        return list(zip(times, itertools.cycle((signal.SIGSTOP, signal.SIGCONT)), strict=False))
    if fate == "stop and kill":
        return list(zip(times, (signal.SIGSTOP, signal.SIGKILL), strict=False))
    return []


def start(
    server: Server, kind: str, fate: str, args: argparse.Namespace, chance: random.Random, at: str = ""
) -> Client:
    """Start a client that plays all games in an order of its own."""
    games = chance.sample(ENV_IDS, len(ENV_IDS))
    program = str(Path(__file__).with_name("faults") / "clients.py")
    command = [sys.executable, program, kind, at or server.addresses[kind], str(args.envs), str(args.steps), *games]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Client(kind, fate, process, time.monotonic(), signals(fate, server.seconds.get(kind, 0), chance))


def verdict(client: Client, want: dict[str, str]) -> str:
    """Return what is wrong with a client that has ended; "" if nothing is."""
    out, err = client.process.communicate()
    status = client.process.returncode
    got = dict(line.split() for line in out.splitlines() if len(line.split()) == 2)
    for game, digest in got.items():
        # A line that a killed client did not write to its end is shorter.
        if digest != want.get(game, digest) and not (status < 0 and want[game].startswith(digest)):
            return f"{game} has another hash"
    whole = status == 0 and len(got) == len(ENV_IDS)
    fated = None if client.fate in UNHARMED else GONE if client.fate in WAYS else -signal.SIGKILL
    return "" if whole or status == fated else f"exit status {status} after {len(got)} games\n{err[-2000:]}"


def undisturbed(server: Server, args: argparse.Namespace, pids: set[int]) -> dict[str, str]:
    """Return the hash of each game, which all kinds of clients must agree on."""
    hashes: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        client = start(server, kind, "alone", args, random.Random(0))
        pids.add(client.process.pid)
        out, err = client.process.communicate(timeout=args.patience)
        if client.process.returncode != 0:
            raise SystemExit(f"{kind}, undisturbed: exit status {client.process.returncode}\n{err}")
        server.seconds[kind] = time.monotonic() - client.began
        hashes[kind] = dict(line.split() for line in out.splitlines())
    if differ := [game for game in ENV_IDS if len({got[game] for got in hashes.values()}) > 1]:
        raise SystemExit(f"the kinds of clients differ even undisturbed in {differ}: {hashes}")
    return hashes["socket"]


class Chaos:
    """The disturbed part of a run."""

    def __init__(self, args: argparse.Namespace, server: Server, want: dict[str, str], pids: set[int]) -> None:
        """Prepare it; want has the hash of each game."""
        self._args, self._server, self._want, self.pids = args, server, want, pids
        self._chance = random.Random(args.seed)
        self.ended: Counter[str] = Counter()
        self.failures: list[str] = []

    def run(self, seconds: float, say: Any) -> None:
        """Keep clients running for a time, and then wait for those that are to end by themselves."""
        with (
            Proxy(self._server.addresses["socket"], self._args.seed) as plain,
            Proxy(self._server.addresses["tls"], self._args.seed + 1) as tls,
        ):
            proxies = {"socket": plain, "tls": tls}
            running: list[Client] = []
            end, spoke, turns = time.monotonic() + seconds, time.monotonic(), self._turns()
            try:
                while running or time.monotonic() < end:
                    while len(running) < self._args.clients and time.monotonic() < end:
                        running.append(self._start(*next(turns), proxies))
                    running = [client for client in running if not self._over(client)]
                    if time.monotonic() - spoke > 60:
                        spoke = time.monotonic()
                        say(minutes_left=round((end - spoke) / 60, 1), ended=dict(self.ended), failures=self.failures)
                    time.sleep(0.02)
            finally:
                for client in running:
                    client.end()

    def _turns(self) -> Iterator[tuple[str, str]]:
        """Return kinds and fates, each pair equally often. A proxy does not pass on shared memory."""
        pairs = [(kind, fate) for kind in KINDS for fate in FATES if kind != "shm" or fate not in WAYS]
        while True:
            yield from self._chance.sample(pairs, len(pairs))

    def _start(self, kind: str, fate: str, proxies: dict[str, Proxy]) -> Client:
        at = ""
        if fate in WAYS:
            at = f"{'tls' if kind == 'tls' else 'tcp'}:127.0.0.1:{proxies[kind].ports[fate]}"
        client = start(self._server, kind, fate, self._args, self._chance, at)
        self.pids.add(client.process.pid)
        return client

    def _over(self, client: Client) -> bool:
        """Send a client its signals; return whether it has ended, and note how."""
        now = time.monotonic()
        client.poke(now)
        if client.process.poll() is None:
            if now - client.began < self._args.patience:
                return False
            client.end()
            wrong = f"it did not end in {self._args.patience} s"
        else:
            wrong = verdict(client, self._want)
        self.ended[f"{client.kind}, {client.fate}" if client.hit() else f"{client.kind}, {client.fate}: too late"] += 1
        if wrong:
            self.failures.append(f"{client.kind}, {client.fate}: {wrong}")
        return True


def late(server: Server, args: argparse.Namespace, say: Any) -> list[str]:
    """Return the searches that do not stop in time when their client is gone."""
    took = stopping(server.addresses["socket"], args.tries)
    say(searches_stop_after_ms=took)
    return [f"{search} stops after {ms} ms, want {args.stop_ms:g}" for search, ms in took.items() if ms > args.stop_ms]


def run(args: argparse.Namespace) -> bool:
    """Run the test; return whether it passed."""

    def say(**facts: Any) -> None:
        line = json.dumps(facts)
        print(line, flush=True)
        if args.log:
            with args.log.open("a") as log:
                log.write(line + "\n")

    parent = Path(tempfile.mkdtemp(prefix="chaos-"))
    folder = parent / "tmp"
    folder.mkdir()
    os.environ["TMPDIR"] = str(folder)  # of the server and all clients
    visits: Counter[str] = Counter()
    try:
        with serving(folder) as server, tournament(find_server(), parent, args.games) as page:
            pids = {server.process.pid}
            hosts = server.hosts | {"tournament": page}

            def now() -> Resources:
                return look(server.addresses["shm"], server.process.pid, folder, pids)

            want = undisturbed(server, args, pids)
            failures = late(server, args, say)
            for door in hosts:
                visit(door, hosts[door], random.Random(args.seed))
            before = now()
            say(undisturbed=want, before=before)
            chaos = Chaos(args, server, want, pids)
            with visiting(hosts, args.seed, visits, failures):
                chaos.run(60 * args.minutes, say)
            failures += late(server, args, say)
            after = settled(now, before)
            failures += chaos.failures + exceeding(after, before)
            say(ended=dict(sorted(chaos.ended.items())), after=after)
    finally:
        shutil.rmtree(parent, ignore_errors=True)
    say(clients=chaos.ended.total(), visits=visits, failures=failures, result="failed" if failures else "passed")
    return not failures


def main(words: list[str] | None = None) -> bool:
    """Read the command line and run the test; return whether it passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="minutes to run (default 60)")
    parser.add_argument("--clients", type=int, default=6, help="clients that run at the same time (default 6)")
    parser.add_argument("--envs", type=int, default=64, help="games per client (default 64)")
    parser.add_argument("--steps", type=int, default=200, help="steps per game (default 200)")
    parser.add_argument("--patience", type=float, default=600, help="longest time of a client in seconds (default 600)")
    parser.add_argument("--stop-ms", type=float, default=100, help="longest end of a search, a median (default 100)")
    parser.add_argument("--tries", type=int, default=5, help="measurements of the end of each search (default 5)")
    parser.add_argument("--games", type=int, default=200, help="games of the tournament's meeting (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of faults (default 1)")
    parser.add_argument("--log", type=Path, help="append a line of JSON per minute to this file")
    return run(parser.parse_args(words))


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
