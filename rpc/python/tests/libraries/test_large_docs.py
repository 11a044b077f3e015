"""The snippets of the pages on large libraries run unchanged."""

from __future__ import annotations

import pytest
from snippets import run


@pytest.mark.parametrize("page", ["openenv.md", "rllib.md", "sb3.md", "torchrl.md"])
def test_page(page, tmp_path):
    run(page, tmp_path)
