"""The snippets in docs/ run unchanged."""

from __future__ import annotations

import pytest
from snippets import DOCS, run, snippets

EXAMPLES = DOCS.parent / "examples"
LISTINGS = {
    "first.md": "sb3_selfplay.py",
    "selfplay.md": "ppo_selfplay.py",
    "policies.md": "sb3_league.py",
    "sb3.md": "sb3_selfplay.py",
    "pettingzoo.md": "pettingzoo_selfplay.py",
}

BEFORE = {"first.md": "import blockyard\nplay = lambda obs, mask: mask.argmax(1)\n"}  # instead of the training
LARGE = {"openenv.md", "sb3.md", "torchrl.md", "rllib.md"}  # libraries/ runs them
SMALL = {page.name for page in DOCS.glob("*.md") if snippets(page.name)} - LARGE


@pytest.mark.parametrize("page", sorted(SMALL))
def test_page(page, tmp_path):
    run(page, tmp_path, BEFORE.get(page, ""))


@pytest.mark.parametrize("page", sorted(LISTINGS))
def test_listings_are_the_examples(page):
    listing = (EXAMPLES / LISTINGS[page]).read_text(encoding="utf-8")
    assert f"```py\n{listing}```" in (DOCS / page).read_text(encoding="utf-8"), "copy the example into the page"
