"""A recorded game as an animated SVG, in the colours of the viewer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

from blockyard import Client
from blockyard.rendering.colours import Theme
from blockyard.rendering.frames import Board, Frame
from blockyard.rendering.svg import _FONT as FONT

LONGEST = 40  # frames; of a longer game, the last ones
TINT = ' fill-opacity=".16"'  # of the zones of a board
SECONDS = 0.5  # per frame
GAP, TOP, NOTE, LETTER = 1.2, 1.6, 1.1, 0.46  # cells: between boards, above them, per line of text, per letter


def frames(client: Client, path: Path) -> list[Frame]:
    """Return the positions of the first game of a file, before each step."""
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
        env.reset(seed=[int(game["seed"])])
        for k in range(0, len(choices), env.num_envs):
            shown.append(Frame.from_wire(env._engine.call("render", 0, {"mode": "frame"})))
            ended = env.step(choices[k : k + env.num_envs])[2]
        assert ended.all(), f"{path}: the game did not end"
        shown.append(Frame.from_wire(env._engine.call("render", 0, {"mode": "frame"})))
    return shown


def movie(shown: list[Frame], theme: Theme, label: str) -> str:
    """Return an animated SVG that shows one frame after the other, again and again.

    If the reader asked for less motion, it shows the last one.
    """
    shown = shown[-LONGEST:]
    boards, trays = shown[0].boards, max(len(_next(frame)) for frame in shown)
    cell = max(8, min(22, 400 // max(b.h for b in boards)))
    wide = GAP + sum(map(_width, boards)) + (5.5 if trays else 0)
    wide = max(wide, 2 * GAP + LETTER * max(len(note) for frame in shown for note in (*frame.notes, "")))
    high = TOP + max(b.h for b in boards) + NOTE * (max(len(f.notes) for f in shown) + 0.6)
    total, share = SECONDS * len(shown), 100 / len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide * cell:.0f}" '
        f'height="{high * cell:.0f}" role="img" aria-label="{escape(label, quote=True)}" font-family="{FONT}" '
        f'font-size=".8" fill="{theme.text}">',
        f"<style>.f{{visibility:hidden;animation:f {total:g}s infinite}}"
        f"@keyframes f{{0%,{share:.3f}%{{visibility:visible}}{share + 0.001:.3f}%,100%{{visibility:hidden}}}}"
        "@media(prefers-reduced-motion:reduce){.f{animation:none}.f:last-child{visibility:visible}}</style>",
        f'<rect width="{wide:g}" height="{high:g}" rx=".6" fill="{theme.paper}"/>',
        *_wells(boards, theme),
    ]
    for k, frame in enumerate(shown):
        body = "".join(_frame(frame, theme, wide, TOP + max(b.h for b in boards)))
        parts.append(f'<g class="f" style="animation-delay:{k * SECONDS:g}s">{body}</g>')
    return "".join(parts) + "</svg>\n"


def _width(b: Board) -> float:
    """Return the width of a board or of its name, and the gap after it."""
    return max(b.w, LETTER * len(b.name)) + GAP


def _wells(boards: tuple[Board, ...], theme: Theme) -> Iterator[str]:
    """Yield what all frames share: empty boards with their names."""
    cell = f'<rect x=".04" y=".04" width=".92" height=".92" rx=".12" fill="{theme.ink[0]}"/>'
    yield f'<defs><pattern id="e" width="1" height="1" patternUnits="userSpaceOnUse">{cell}</pattern></defs>'
    left = GAP
    for b in boards:
        if b.name not in ("", "board"):
            yield f'<text x="{left:g}" y="{TOP - 0.5:g}" fill="{theme.muted}">{escape(b.name)}</text>'
        yield f'<g transform="translate({left:g} {TOP:g})"><rect x="-.15" y="-.15" rx=".3" fill="{theme.well}" '
        yield f'width="{b.w + 0.3:g}" height="{b.h + 0.3:g}"/><rect width="{b.w}" height="{b.h}" fill="url(#e)"/></g>'
        left += _width(b)


def _frame(frame: Frame, theme: Theme, wide: float, bottom: float) -> Iterator[str]:
    """Yield the cells, next pieces and notes of a frame."""
    left = GAP
    for b in frame.boards:
        yield from _cells(b, theme, frame.by_seat, left, TOP, 1)
        left += _width(b)
    if pieces := _next(frame):
        yield f'<text x="{left:g}" y="{TOP - 0.5:g}" fill="{theme.muted}">next</text>'
        y = TOP + 0.2
        for piece in pieces:
            yield from _cells(piece, theme, frame.by_seat, left, y, 0.7)
            y += 0.7 * piece.h + 0.7
    for k, note in enumerate(frame.notes):
        yield f'<text x="{GAP:g}" y="{bottom + NOTE * (k + 1):g}" fill="{theme.muted}">{escape(note)}</text>'


def _next(frame: Frame) -> tuple[Board, ...]:
    return tuple(piece for tray in frame.trays if tray.seat < 0 for piece in tray.pieces)


def _cells(b: Board, theme: Theme, by_seat: bool, x: float, y: float, size: float) -> Iterator[str]:
    """Yield one path per colour and kind of cell."""
    paths: dict[tuple[str, str], list[str]] = {}
    for v in range(b.h):
        for u in range(b.w):
            kind, ink = b.kind(u, v), b.ink[v * b.w + u]
            if not ink:
                continue
            style = {"ghost": ' fill-opacity=".35"', "hint": TINT, "empty": TINT}.get(kind, "")
            paths.setdefault((theme.cell(ink, by_seat), style), []).append(f"M{u}.04 {v}.04h.92v.92h-.92z")
    for (colour, style), d in paths.items():
        at = f"translate({x:g} {y:g})" + (f" scale({size:g})" if size != 1 else "")
        yield f'<path transform="{at}" fill="{colour}"{style} d="{"".join(d)}"/>'
