"""The cost of a step in Python over each transport to the same server, in one run.

    python rpc/bench/wire.py [--game BlockBattle-v0] [--envs 4096] [--rounds 15] [--json]

One trace of legal actions is played again and again, in bursts that are interleaved in shuffled order, so that
ratios hold on a busy machine. The floor is a bare socket that exchanges messages of the same lengths with another
process. The last table has the round trip of one game.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import blockyard
from blockyard.transport.server import find_server

TRACE = 16
ECHO = Path(__file__).resolve().parent / "sides" / "echo.py"


def trace(game: str, envs: int, address: str, opponents: Any) -> list[np.ndarray[Any, Any]]:
    """Record legal actions."""
    with blockyard.make_vec(game, envs, address=address, seed=1, opponents=opponents) as env:
        env.reset()
        out, rng = [], np.random.default_rng(0)
        for _ in range(TRACE):
            out.append(env.sample_actions(rng).astype(np.uint16))
            env.step(out[-1])
        return out


def roads(game: str, envs: int, unix: str, tcp: str, moves: list[Any], opponents: Any) -> dict[str, Any]:
    """Return for each transport an environment, its reset, and a function that plays the trace once."""
    made: dict[str, Any] = {}

    def vector(name: str, buffered: bool = False, **kwargs: Any) -> None:
        env = blockyard.make_vec(game, envs, seed=1, opponents=opponents, **kwargs)
        buffer = env.buffer(TRACE) if buffered else None

        def play() -> None:
            for t, actions in enumerate(moves):
                env.step(actions, out=buffer[t] if buffer else None)

        made[name] = (env, lambda: env.reset(seed=1), play)

    vector("shm", address=unix, transport="shm")
    vector("shm, buffer", True, address=unix, transport="shm")
    vector("shm, packed", address=unix, transport="shm", packed=True)
    vector("socket", address=unix, transport="socket")
    vector("socket, buffer", True, address=unix, transport="socket")
    vector("socket, packed", address=unix, transport="socket", packed=True)
    vector("tcp", address=tcp)
    if envs % 2 == 0:
        for name, transport in (("shm, two blocks", "shm"), ("socket, two blocks", "socket")):
            halves = [
                blockyard.BlockVectorEnv(
                    game, envs // 2, first=k * envs // 2, opponents=opponents, address=unix, transport=transport
                )
                for k in range(2)
            ]
            made[name] = (
                Halves(halves),
                lambda halves=halves: [env.reset(seed=1) for env in halves],
                lambda halves=halves: blocks(halves, moves),
            )
    return made


class Halves:
    """Two environments that are closed together."""

    def __init__(self, envs: list[blockyard.BlockVectorEnv]) -> None:
        self.envs = envs

    def close(self) -> None:
        for env in self.envs:
            env.close()


def blocks(halves: list[blockyard.BlockVectorEnv], moves: list[Any]) -> None:
    """Play the trace double-buffered: one half is stepped while the other's answer is read."""
    cut = halves[0].num_envs
    for t, move in enumerate(moves):
        for env, some in zip(halves, (move[:cut], move[cut:]), strict=True):
            if t:
                env.step_wait()
            env.step_async(some)
    for env in halves:
        env.step_wait()


def floor(folder: str, ask: int, answer: int) -> tuple[Any, Callable[[], None], Callable[[], None]]:
    """Return the transport that no server can beat."""
    path = f"{folder}/floor{ask}-{answer}"
    process = subprocess.Popen([sys.executable, ECHO, path, str(ask), str(answer)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    sock = socket.socket(socket.AF_UNIX)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.connect(path)
    request, memory = bytes(ask), bytearray(answer)

    def play() -> None:
        for _ in range(TRACE):
            sock.sendall(request)
            sock.recv_into(memory, 0, socket.MSG_WAITALL)

    class Floor:
        def close(self) -> None:
            sock.close()
            process.wait()

    return Floor(), lambda: None, play


def race(made: dict[str, Any], rounds: int, stats: Any) -> dict[str, tuple[float, float]]:
    """Return wall-clock (first quartile) and CPU seconds (median) per step by transport."""
    walls: dict[str, list[float]] = {name: [] for name in made}
    cpus: dict[str, list[float]] = {name: [] for name in made}
    order = list(made)
    for k in range(rounds + 1):
        random.Random(k).shuffle(order)
        for name in order:
            _, reset, play = made[name]
            reset()
            before, used = time.perf_counter(), stats["cpu_s"]() + own_cpu()
            play()
            wall, used = time.perf_counter() - before, stats["cpu_s"]() + own_cpu() - used
            if k:  # the first round warms up
                walls[name].append(wall / TRACE)
                cpus[name].append(used / TRACE)
    return {n: (float(np.quantile(walls[n], 0.25)), float(np.median(cpus[n]))) for n in made}


def own_cpu() -> float:
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


def latency(address: str, transport: Any) -> np.ndarray[Any, Any]:
    """Return the round trips of one game of two driven seats, in µs."""
    with blockyard.make_vec("BlockBattle-v0", 1, seed=1, opponents=None, address=address, transport=transport) as env:
        env.reset()
        actions, times = np.full(env.num_envs, env.game_spec.no_action, np.uint16), []
        for _ in range(5000):
            begun = time.perf_counter_ns()
            env.step(actions)
            times.append(time.perf_counter_ns() - begun)
        return np.array(times[500:]) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0")
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--drive", choices=["one", "all"], default="one", help="seats that the client drives")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each row")
    args = parser.parse_args()
    program, opponents = str(find_server()), "random" if args.drive == "one" else None
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "serve", "--listen", f"unix:{folder}/s", "--listen", "tcp:127.0.0.1:0", "--parent-death"]
        command += ["--toy"]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdout is not None
        unix, tcp = json.loads(server.stdout.readline())["ready"]
        with blockyard.connect(unix) as control:
            moves = trace(args.game, args.envs, unix, opponents)
            made = roads(args.game, args.envs, unix, tcp, moves, opponents)
            size = made["socket"][0].engine.transport.handle.slab_len
            made["bare socket"] = floor(folder, 23 + moves[0].nbytes, 13 + size)
            times = race(made, args.rounds, {"cpu_s": lambda: control.stats()["cpu_s"]})
            for road in made.values():
                road[0].close()
            rows, best = len(moves[0]), times["shm, buffer"]
            print(f"{args.game}, {rows} rows, {size} bytes per step, {os.cpu_count()} cores")
            print(f"{'road':>20} {'µs/step':>10} {'CPU µs':>10} {'rows/s':>12} {'to shm':>7} {'CPU':>7}")
            for name, (wall, cpu) in times.items():
                if args.json:
                    print(json.dumps({"road": name, "us": wall * 1e6, "cpu_us": cpu * 1e6, "rows_per_s": rows / wall}))
                    continue
                print(
                    f"{name:>20} {wall * 1e6:10.1f} {cpu * 1e6:10.1f} {rows / wall:12.0f} {best[0] / wall:7.3f} "
                    f"{best[1] / max(cpu, 1e-9):7.3f}"
                )
            for name, where, transport in (("shm", unix, "shm"), ("socket", unix, "socket"), ("tcp", tcp, "auto")):
                t = latency(where, transport)
                print(f"{name:>20} N=1 round trip: p50 {np.median(t):.1f} µs, p99 {np.quantile(t, 0.99):.1f} µs")
        assert server.stdin is not None
        server.stdin.close()
        server.wait()


if __name__ == "__main__":
    main()
