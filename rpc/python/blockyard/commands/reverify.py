"""``blockyard reverify``: rewards of stored rollouts, computed again."""

from __future__ import annotations

import argparse
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..transport.server.binary import find_server

HELP = "play stored rollouts of `serve --openenv` again, without a model, and compare their rewards"
FLAGS = {
    "game": "--game",
    "opponents": "--opponents",
    "seats": "--seats",
    "reward_kind": "--reward",
    "illegal_penalty": "--illegal-penalty",
    "step_limit": "--step-limit",
}
EPISODE = ("seed", "seat", "rules", "moves", "reseeds")


def add(commands: Any) -> None:
    """Add the command ``reverify`` and its options to the command line."""
    parser = commands.add_parser("reverify", help=HELP, description=HELP.capitalize() + ".")
    parser.add_argument("file", type=Path, metavar="FILE", help="rollouts: a state of an episode per line, as JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the rollouts with the new rewards here")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play each rollout again; return 1 if a reward differs."""
    rollouts = [(n, _parse(n, line)) for n, line in enumerate(args.file.read_text().splitlines(), 1) if line.strip()]
    servers: dict[tuple[str, ...], list[tuple[int, dict[str, Any]]]] = {}
    for n, rollout in rollouts:
        flags = tuple(f"{flag}={rollout[name]}" for name, flag in FLAGS.items() if rollout[name] != "")
        servers.setdefault(flags, []).append((n, rollout))
    again: dict[int, dict[str, Any]] = {}
    different = 0
    for flags, some in servers.items():
        with _serving(flags) as url:
            for n, rollout in some:
                again[n] = _replay(url, n, rollout)
                if again[n]["rewards"] != rollout["rewards"]:
                    different += 1
                    print(f"{args.file}:{n}: rewards {rollout['rewards']}, again {again[n]['rewards']}")
    if args.write:
        args.write.write_text("".join(json.dumps(again[n]) + "\n" for n, _ in rollouts))
    print(f"{args.file}: {len(rollouts)} rollouts, {different} with other rewards")
    return 1 if different else 0


def _parse(n: int, line: str) -> dict[str, Any]:
    try:
        rollout = json.loads(line)
        missing = [k for k in (*FLAGS, *EPISODE, "rewards") if k not in rollout]
    except (ValueError, TypeError) as error:
        raise ValueError(f"line {n}: {error}: want a state of an episode as JSON") from error
    if missing:
        raise ValueError(f"line {n} has no {missing[0]}: want a state of an episode, as env.state() returns it")
    return dict(rollout)


@contextmanager
def _serving(flags: tuple[str, ...]) -> Iterator[str]:
    command = [str(find_server()), "serve", "--openenv", "127.0.0.1:0", "--parent-death", *flags]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line:
                raise ValueError(f"the server did not start with {' '.join(flags)}: its error is above")
            yield str(json.loads(line)["openenv"])
        finally:
            server.terminate()


def _replay(url: str, n: int, rollout: dict[str, Any]) -> dict[str, Any]:
    body = json.dumps({name: rollout[name] for name in EPISODE}).encode()
    try:
        urllib.request.urlopen(urllib.request.Request(f"{url}/reset", body), timeout=600).close()
        with urllib.request.urlopen(f"{url}/state", timeout=60) as answer:
            state = json.load(answer)
    except urllib.error.HTTPError as error:
        raise ValueError(f"line {n}: {json.load(error)['detail']}") from error
    return {**rollout, **state, "episode_id": rollout.get("episode_id")}
