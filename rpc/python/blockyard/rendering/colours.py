"""The colours of pictures: a light and a dark theme, the same as in the browser viewer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Colours as ``#rrggbb``."""

    paper: str  # background
    text: str
    muted: str  # text of lesser importance
    line: str  # borders
    well: str  # background of a board
    shade: str  # marked cells
    ink: tuple[str, ...]  # cells by colour index; 0 is an empty cell
    seat: tuple[str, ...]  # cells by seat, for games coloured by seat

    def cell(self, ink: int, by_seat: bool) -> str:
        """Return the colour of a cell as ``#rrggbb``: of its seat if the game is coloured by seat, else of its ink."""
        return self.seat[ink - 1] if by_seat and 1 <= ink <= len(self.seat) else self.ink[ink & 15]


LIGHT = Theme(
    paper="#ffffff",
    text="#171a21",
    muted="#5c6675",
    line="#dfe4eb",
    well="#e9edf3",
    shade="#d3dae4",
    ink=(
        "#f7f9fb", "#4fb3e8", "#2f6fd0", "#ee9a1f", "#efcf2f", "#1fa67a", "#c36bb0", "#db5a2a",
        "#98a4b5", "#525e70", "#14808a", "#7c5cd6", "#a0673a", "#ee84ab", "#9dc03c", "#c43d55",
    ),
    seat=("#2f6fd0", "#db5a2a", "#1fa67a", "#e3ab14"),
)  # fmt: skip
DARK = Theme(
    paper="#161a22",
    text="#e9ecf2",
    muted="#97a1b2",
    line="#262c38",
    well="#11151c",
    shade="#2a3240",
    ink=(
        "#1a1f29", "#4fb3e8", "#3f7fe6", "#ee9a1f", "#efcf2f", "#1fa67a", "#c36bb0", "#db5a2a",
        "#6f7b8e", "#3d4757", "#1d96a1", "#8f71e8", "#b0764a", "#ee84ab", "#9dc03c", "#c43d55",
    ),
    seat=("#4a88ef", "#db5a2a", "#1fa67a", "#e3ab14"),
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}
