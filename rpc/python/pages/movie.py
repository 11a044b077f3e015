"""A recorded game as an animated SVG: the pictures that the server draws of its positions, one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from blockyard import Client

THEMES = ("light", "dark")
LONGEST = 40  # pictures; of a longer game, the last ones
SECONDS = 0.5  # per picture


def frames(
    client: Client, path: Path, chosen: Callable[[range], range] = lambda positions: positions[-LONGEST:]
) -> list[dict[str, str]]:
    """Return pictures of chosen positions of the first game of a file, before each step and at the end, by theme."""
    game = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
    choices, shown = game["choices"], []
    with client.make_vec(
        game["game"],
        1,
        seats=game["seats"],
        opponents=None,
        rows="acting",
        max_episode_steps=0,
        autoreset_mode="DISABLED",
    ) as env:

        def pictures() -> dict[str, str]:
            return {theme: env.engine.call("render", 0, {"mode": "svg", "theme": theme}) for theme in THEMES}

        env.reset(seed=[int(game["seed"])])
        positions = range(0, len(choices) + 1, env.num_envs)
        for k in positions:
            if k in chosen(positions):
                shown.append(pictures())
            if k < len(choices):
                ended = env.step(choices[k : k + env.num_envs])[2]
        assert ended.all(), f"{path}: the game did not end"
    return shown


def movie(shown: list[str], label: str) -> str:
    """Return an animated SVG that shows one picture after the other, again and again.

    If the reader asked for less motion, it shows the last one.
    """
    sizes = [tuple(map(int, re.findall(r'(?:width|height)="(\d+)"', picture)[:2])) for picture in shown]
    width, height = (max(side) for side in zip(*sizes, strict=True))
    total, share = SECONDS * len(shown), 100 / len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(label, quote=True)}">'
        f"<style>.f{{visibility:hidden;animation:f {total:g}s infinite}}"
        f"@keyframes f{{0%,{share:.3f}%{{visibility:visible}}{share + 0.001:.3f}%,100%{{visibility:hidden}}}}"
        "@media(prefers-reduced-motion:reduce){.f{animation:none}.f:last-child{visibility:visible}}</style>"
    ]
    for k, (picture, (w, h)) in enumerate(zip(shown, sizes, strict=True)):
        # The sheet of every picture gets the size of the largest, so that none jumps.
        sized = picture.replace(f'width="{w}" height="{h}" viewBox="0 0 {w} {h}"', "", 1)
        sized = sized.replace(f'width="{w - 1}" height="{h - 1}"', f'width="{width - 1}" height="{height - 1}"', 1)
        parts.append(f'<g class="f" style="animation-delay:{k * SECONDS:g}s">{sized}</g>')
    return "".join(parts) + "</svg>\n"
