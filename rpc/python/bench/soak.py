"""Play for an hour beside clients that are killed, and check that nothing else is affected.

    python bench/soak.py [--minutes 60] [--envs 1024] [--steps 300] [--victims 2] [--log FILE]

It starts a server and first plays every game undisturbed, over the socket and over shared memory, with random legal
actions from a fixed seed, and hashes all answers. Then it plays the same games again and again, while other clients, in
processes of their own, open games, step them, and are killed after 0.5 to 4 seconds. It fails if a hash differs, if a
step takes longer than --patience seconds, or if the server keeps sessions, open files, threads or memory that it did
not have before.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import blockyard
from blockyard.server.process import LocalServer

ENV_IDS = ("BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0")
ROADS = ("socket", "shm")


@dataclass
class Use:
    """The resources of a server process."""

    sessions: int
    files: int
    threads: int
    mebibytes: float


def use(server: LocalServer) -> Use:
    """Return the resources of the server; its sessions include ours."""
    with blockyard.Client(server.address) as client:
        sessions = int(client.stats()["sessions"])
    proc = Path(f"/proc/{server.pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    files, kibibytes = len(list((proc / "fd").iterdir())), int(status["VmRSS"].split()[0])
    return Use(sessions, files, int(status["Threads"]), kibibytes / 1024)


def more(now: Use, before: Use, spare_mebibytes: float) -> bool:
    """Return whether more is in use than before, apart from some memory."""
    grown = now.mebibytes > before.mebibytes + spare_mebibytes
    return grown or now.sessions > before.sessions or now.files > before.files


def settled(server: LocalServer, before: Use, spare_mebibytes: float) -> Use:
    """Wait up to ten seconds until the server uses no more than before; return what it uses then."""
    for _ in range(100):
        now = use(server)
        if not more(now, before, spare_mebibytes):
            break
        time.sleep(0.1)
    return now


def play(address: str, game: str, road: Any, envs: int, steps: int, patience: float) -> str:
    """Play a batch with random legal actions, and return the hash of all answers."""
    digest, rng = hashlib.blake2b(digest_size=16), np.random.default_rng(5)
    with blockyard.make_vec(game, envs, address=address, transport=road, seed=11) as env:
        obs, _ = env.reset()
        for _ in range(steps):
            start = time.monotonic()
            obs, reward, terminated, truncated, _ = env.step(env.sample_actions(rng))
            if (took := time.monotonic() - start) > patience:
                raise SystemExit(f"{game} over {road}: a step took {took:.1f} s")
            for array in (obs["planes"], obs["globals"], reward, terminated, truncated, env.packed_masks):
                digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def victim(address: str, seed: int) -> None:
    """Play until killed."""
    chance = random.Random(seed)
    rng = np.random.default_rng(seed)
    while True:
        game, road = chance.choice(ENV_IDS), chance.choice(ROADS)
        with blockyard.make_vec(game, chance.choice((1, 16, 256)), address=address, transport=road, seed=seed) as env:
            env.reset()
            for _ in range(200):
                env.step(env.sample_actions(rng))


@dataclass
class Killed:
    """Number of clients that were killed."""

    clients: int = 0


@contextlib.contextmanager
def disturbed(address: str, victims: int, killed: Killed) -> Iterator[None]:
    """Keep this many victims running, and kill them at random times, until the block ends."""
    stop = multiprocessing.get_context("spawn").Event()
    count = multiprocessing.get_context("spawn").Value("i", 0)
    reaper = multiprocessing.get_context("spawn").Process(target=reap, args=(address, victims, stop, count))
    reaper.start()
    try:
        yield
    finally:
        stop.set()
        reaper.join(30)
        killed.clients += count.value


def reap(address: str, victims: int, stop: Any, count: Any) -> None:
    """Start victims, and kill each after 0.5 to 4 seconds."""
    chance, alive, seed = random.Random(3), [], 0
    fork = multiprocessing.get_context("fork")
    while not stop.is_set():
        while len(alive) < victims:
            seed += 1
            process = fork.Process(target=victim, args=(address, seed), daemon=True)
            process.start()
            alive.append((process, time.monotonic() + chance.uniform(0.5, 4)))
        stop.wait(0.1)
        for process, end in list(alive):
            if time.monotonic() > end or not process.is_alive():
                process.kill()
                process.join()
                alive.remove((process, end))
                count.value += 1
    for process, _ in alive:
        process.kill()
        process.join()


def main() -> None:
    """Run the test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="minutes to run (default 60)")
    parser.add_argument("--envs", type=int, default=1024, help="number of games (default 1024)")
    parser.add_argument("--steps", type=int, default=300, help="steps per batch (default 300)")
    parser.add_argument("--victims", type=int, default=2, help="clients to kill that run at the same time (default 2)")
    parser.add_argument("--patience", type=float, default=30, help="largest duration of a step in seconds (default 30)")
    parser.add_argument("--spare", type=float, default=64, help="MiB that the server may keep at the end (default 64)")
    parser.add_argument("--log", type=Path, help="append a line of JSON per round to this file")
    args = parser.parse_args()
    server = LocalServer()
    try:
        failed = soak(args, server)
    finally:
        server.stop()
    sys.exit(1 if failed else 0)


def say(args: argparse.Namespace, **facts: Any) -> None:
    """Print a line of JSON, and append it to the log."""
    line = json.dumps(facts)
    print(line, flush=True)
    if args.log:
        with args.log.open("a") as log:
            log.write(line + "\n")


def soak(args: argparse.Namespace, server: LocalServer) -> bool:
    """Run the rounds; return whether anything failed."""
    turns = [(game, road) for game in ENV_IDS for road in ROADS]
    want = {turn: play(server.address, *turn, args.envs, args.steps, args.patience) for turn in turns}
    if alike := [game for game in ENV_IDS if len({want[game, road] for road in ROADS}) > 1]:
        say(args, failed=f"the transports differ even without other clients in {alike}")
        return True
    before = use(server)
    say(args, undisturbed={game: want[game, "socket"] for game in ENV_IDS}, use=asdict(before))
    killed, rounds, failed = Killed(), 0, False
    end = time.monotonic() + 60 * args.minutes
    with disturbed(server.address, args.victims, killed):
        while time.monotonic() < end:
            for turn in turns:
                if play(server.address, *turn, args.envs, args.steps, args.patience) != want[turn]:
                    failed = True
                    say(args, failed=f"{turn[0]} over {turn[1]}: another hash in round {rounds + 1}")
                if time.monotonic() > end:
                    break
            rounds += 1
            left = round(max(0, end - time.monotonic()) / 60, 1)
            say(args, round=rounds, minutes_left=left, use=asdict(use(server)))
    after = settled(server, before, args.spare)
    failed = failed or more(after, before, args.spare)
    result = "failed" if failed else "passed"
    say(args, rounds=rounds, killed=killed.clients, before=asdict(before), after=asdict(after), result=result)
    return failed


if __name__ == "__main__":
    main()
