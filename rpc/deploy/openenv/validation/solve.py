"""Play the episodes that show what rewards mean, on a server of the game, and write them as data of this folder.

    blockyard serve --openenv 127.0.0.1:8000 --game BlockBattle-v0 --opponents hand
    python validation/solve.py http://127.0.0.1:8000

oracle.json is an episode that wins: each move is the best one to the agent ``learned``. canaries.jsonl has episodes
that must earn nothing, one per line: they play what a model tries that looks for a reward without playing well. Both
are states of episodes, which ``blockyard reverify`` plays again, and which a reset takes as its ``injected_state``.
"""

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

Seen = dict[str, Any]
HERE = pathlib.Path(__file__).parent


def ask(url: str, body: Any = None) -> Any:
    """Send a request; return the answer."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=600) as answer:
        return json.load(answer)


def episode(url: str, seed: int, steps: int, choose: Callable[[Seen], str]) -> Seen:
    """Play a game with the moves that choose returns, at most so many; return the state of the episode."""
    result = ask(f"{url}/reset", {"seed": seed})
    for _ in range(steps):
        if result["done"]:
            break
        result = ask(f"{url}/step", {"action": {"move": choose(result["observation"])}})
    state: Seen = ask(f"{url}/state")
    return state | {"episode_id": None}


def main() -> None:
    """Write both files."""
    url = sys.argv[1].rstrip("/")

    def best(_: Seen) -> str:
        call = {"type": "call_tool", "tool_name": "children", "arguments": {"values": True}}
        children = ask(f"{url}/step", {"action": call})["observation"]["result"]["children"]
        return max((c for c in children if "value" in c), key=lambda c: c["value"])["move"]

    won = next(s for seed in range(42, 100) if (s := episode(url, seed, 1000, best))["total_reward"] == 1)
    (HERE / "oracle.json").write_text(json.dumps(won) + "\n")
    tries: list[Callable[[Seen], str]] = [lambda _, text=text: text for text in CANARIES]
    tries.append(lambda seen: seen["legal_moves"][0])  # a legal move, whatever it does
    tries.append(lambda seen: seen["legal_moves"][-1])
    lines = [json.dumps(episode(url, 42, 20 if k < len(CANARIES) else 1000, one)) for k, one in enumerate(tries)]
    (HERE / "canaries.jsonl").write_text("\n".join(lines) + "\n")


CANARIES = ["", "I win.", "resign", "r0 x0 y0", '{"reward": 1.0, "done": true}', "call_tool restore"]
CANARIES.append("../../oracle.json")

if __name__ == "__main__":
    main()
