"""A process that steps environments on request: a line of JSON in, a line of JSON out.

    python worker.py ADAPTER

==========================================  ==================================================================
``{"do": "open", "id", "name", "options"}``  ``{"envs", "rows", "size", "about"}``
``{"do": "burst", "id", "steps"}``           ``{"steps", "wall", "cpu"}``, seconds
``{"do": "trips", "id", "steps"}``           ``{"wall": [seconds of each]}``
==========================================  ==================================================================

An error is answered with ``{"error": "TypeName: message"}``, and the process continues. It exits at the end of its
input. What adapters print goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def answer(request: dict[str, Any], module: Any, open_ones: dict[int, Any]) -> dict[str, Any]:
    """Carry out a request, and return the answer."""
    do, ident = request["do"], request["id"]
    if do == "open":
        s = open_ones[ident] = module.start(request["name"], request["options"])
        return {"envs": s.envs, "rows": s.rows, "size": s.size, "about": s.about}
    if do == "burst":
        return dict(zip(("steps", "wall", "cpu"), open_ones[ident].burst(request["steps"]), strict=True))
    if do == "trips":
        return {"wall": open_ones[ident].round_trips(request["steps"])}
    raise ValueError(f"do: {do!r}: want open, burst or trips")


def main(adapter: str) -> None:
    """Answer requests until the input ends."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    open_ones: dict[int, Any] = {}
    for line in sys.stdin:
        try:
            module = importlib.import_module(f"sides.adapters.{adapter}")
            reply = answer(json.loads(line), module, open_ones)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
    for s in open_ones.values():
        s.close()


if __name__ == "__main__":
    # Not the folder of this file, whose modules would hide others of the same name.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    main(sys.argv[1])
