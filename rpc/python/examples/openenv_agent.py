"""An agent that only reads and writes text plays games over OpenEnv, as a language model would.

    pip install blockyard openenv
    python openenv_agent.py --games 100                 # every contest, on servers of its own
    python openenv_agent.py --url http://HOST:8000      # the game of a server that runs

``complete`` stands in for the model: it gets a prompt and returns a sentence with a move. Replace it by a call of
yours.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from openenv import GenericEnvClient

CONTESTS = ["BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0"]
ALONE = CONTESTS[3:]  # those of one seat
PROMPT = """You play a game on a board. The position:

{text}
{error}Legal moves: {moves}
Answer with one of them.
"""


def complete(prompt: str) -> str:
    """A scripted model: it drops pieces where the board is lowest, and places large pieces first."""
    position, _, rest = prompt.partition("Legal moves: ")
    moves = rest.splitlines()[0].split("; ")
    rows = re.findall(r"^[.:#a-zA-Z]{10}(?=\s|$)", position, re.MULTILINE)  # boards of ten columns

    def height(x: int) -> int:
        settled = [y for y, row in enumerate(rows) if row[x] == "x"]
        return len(rows) - min(settled, default=len(rows))

    def value(move: str) -> int:
        numbers = [int(n) for n in re.findall(r"\d+", move)]
        if "at" in move:  # "L02 at 3,4": letters later in the alphabet are larger pieces
            return ord(move[0])
        if " y" in move:  # "r1 x4 y18": row 18 is almost the lowest
            return numbers[2]
        if move.startswith("r"):  # "r1 x4": pieces are about three columns wide
            return -max(height(x) for x in range(numbers[1], min(numbers[1] + 3, 10)))
        return numbers[0]  # "32 8 1" begins with the row

    return f"I play {max(moves, key=value)}, since it is low."


def move_in(answer: str, moves: list[str]) -> str:
    """Return the longest legal move that an answer contains, or else the answer: the server says what is wrong."""
    return max((m for m in moves if m in answer), key=len, default=answer)


def play(url: str, games: int, seed: int) -> tuple[list[float], int]:
    """Play games with consecutive seeds; return the sum of rewards of each, and how many moves were made."""
    returns, steps = [], 0
    with GenericEnvClient(base_url=url).sync() as env:
        for game in range(games):
            result = env.reset(seed=seed + game)
            total = 0.0
            while not result.done:
                seen = result.observation
                error = f"Your last move was not played: {seen['error']}.\n" if seen["error"] else ""
                prompt = PROMPT.format(text=seen["text"], error=error, moves="; ".join(seen["legal_moves"]))
                result = env.step({"move": move_in(complete(prompt), seen["legal_moves"])})
                total += result.reward
                steps += 1
            returns.append(total)
    return returns, steps


@contextmanager
def serving(game: str, opponents: str) -> Iterator[str]:
    """Run a server of a game; yields its address."""
    command = [sys.executable, "-m", "blockyard", "serve", "--openenv", "127.0.0.1:0", "--game", game]
    command += ["--step-limit", "200", "--parent-death"]
    if game not in ALONE:
        command += ["--opponents", opponents]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        try:
            yield json.loads(server.stdout.readline())["openenv"]
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="a server that runs, by default one for each contest")
    parser.add_argument("--games", type=int, default=100, help="games to play of each contest")
    parser.add_argument("--opponents", default="random", help="spec of the other players")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first game")
    args = parser.parse_args()
    for game in [args.url] if args.url else CONTESTS:
        start = time.perf_counter()
        if args.url:
            returns, steps = play(args.url, args.games, args.seed)
        else:
            with serving(game, args.opponents) as url:
                returns, steps = play(url, args.games, args.seed)
        took = time.perf_counter() - start
        mean = sum(returns) / len(returns)
        print(f"{game}: {len(returns)} games, mean return {mean:.2f}, {steps} moves, {steps / took:.0f} per second")


if __name__ == "__main__":
    main()
