"""The snippets in docs/ run unchanged."""

from __future__ import annotations

import pytest
from snippets import DOCS, run, snippets

SMALL, LARGE = {"gymnasium.md", "pettingzoo.md", "contest.md", "leagues.md"}, {"sb3.md", "torchrl.md", "rllib.md"}


@pytest.mark.parametrize("page", sorted(SMALL))
def test_page(page, tmp_path):
    run(page, tmp_path)


def test_every_page_is_tested():
    assert {page.name for page in DOCS.glob("*.md") if snippets(page.name)} == SMALL | LARGE
