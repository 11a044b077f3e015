"""The version is in one file."""

from __future__ import annotations

import re
from pathlib import Path

import blockyard


def test_server_and_client_have_one(server):
    with blockyard.connect(server.unix) as client:
        assert client.server == f"blockyard {blockyard.__version__}"
    assert re.fullmatch(r"\d+\.\d+\.\d+", blockyard.__version__)
    assert (Path(blockyard.__file__).parent / "VERSION").read_text().strip() == blockyard.__version__
