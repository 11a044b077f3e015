"""The picture of the five games at the top of README.md: a position of a recorded game each, in light and dark.

    python rpc/python/pages/pictures.py    # writes games-light.png and games-dark.png to rpc/python/docs/assets

It needs Chromium, which draws the SVG pictures of the server.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import movie
import repository

import blockyard

FOLDER = repository.ROOT / "rpc/python/docs/assets"
SIZE = (1400, 300)  # pixels
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; display: flex; align-items: center; justify-content: space-around; background: transparent }}
svg {{ height: auto; max-height: {high}px; width: auto }}
</style>{games}"""


def pages() -> dict[str, str]:
    """Return a page with the five games for each theme, by its name."""
    made = dict.fromkeys(movie.THEMES, "")
    with blockyard.connect() as client:
        for game in repository.GAMES:
            record = repository.ROOT / "datasets/games" / f"{game}.jsonl"
            (shown,) = movie.frames(client, record, lambda positions: positions[len(positions) * 2 // 3 :][:1])
            for theme, picture in shown.items():
                made[theme] += picture
    return {name: PAGE.format(games=games, high=SIZE[1]) for name, games in made.items()}


def main() -> None:
    """Write the pictures."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("pictures: Chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in pages().items():
            page = Path(folder) / f"{name}.html"
            page.write_text(text, encoding="utf-8")
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            command += [f"--window-size={SIZE[0]},{SIZE[1]}", "--default-background-color=00000000"]
            subprocess.run([*command, f"--screenshot={FOLDER / f'games-{name}.png'}", page.as_uri()], check=True)


if __name__ == "__main__":
    main()
