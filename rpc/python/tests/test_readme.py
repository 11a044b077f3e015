"""The tables of the README match the server, and the snippets of the first pages run."""

from __future__ import annotations

import re

import programs
import pytest
from conftest import ROOT, script
from snippets import snippets

import blockyard

environments = script(ROOT / "rpc/python/environments.py")


def test_tables_and_ids_are_those_of_the_server():
    ids, tables = environments.describe()
    assert environments.ENV_IDS.read_text(encoding="utf-8") == environments.ids_text(ids), "run environments.py --write"
    assert tuple(ids) == blockyard.ENV_IDS
    _, written, _ = environments.parts(environments.README.read_text(encoding="utf-8"))
    assert written.strip() == tables, "run environments.py --write"


def test_a_readme_without_its_place_is_refused():
    with pytest.raises(ValueError, match="no place for the tables"):
        environments.parts("# nothing")


def test_the_first_screen_says_what_it_is():
    """What the project is stands before the first heading, in a few lines."""
    first = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split("## ")[0].split())
    assert len(first) < 1200
    for words in ("gym-style vectorised environment", "thousands of games in parallel over msgpack RPC",
                  "Python trainers", "self-play in Go with gorgonia", "hand-tuned weights", "the contest"):  # fmt: skip
        assert words in first


@pytest.mark.parametrize("page", [ROOT / "rpc/python/README.md", ROOT / "README.md"])
def test_the_first_snippet_runs(page):
    programs.printed("-c", snippets(page)[0])


def test_the_evaluation_prints_what_the_readme_shows():
    text = (ROOT / "rpc/python/README.md").read_text().split("## Evaluate")[1]
    code, shown = re.search(r"^```python\n(.*?)^```\n\n((?:    [^\n]*\n)+)", text, re.M | re.S).groups()
    assert programs.printed("-c", code) == re.sub("^    ", "", shown, flags=re.M)


def test_the_client_of_the_protocol_runs(server, tmp_path):
    """The protocol's page begins with a client of twenty lines, which plays on a running server with msgpack alone."""
    code = snippets(ROOT / "rpc/PROTOCOL.md")[0]
    assert len([line for line in code.splitlines() if line]) <= 20
    said = programs.printed("-c", code, server.tcp.removeprefix("tcp:"), cwd=tmp_path)
    assert int(said.removesuffix(" games ended\n")) > 1000
