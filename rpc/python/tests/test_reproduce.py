"""The figures of the pages are those of the store."""

from __future__ import annotations

import json
import shlex
import sys

import conftest
import programs
import pytest

BENCH = conftest.ROOT / "rpc/bench"
sys.path.insert(0, str(BENCH))


script = conftest.script(BENCH / "reproduce.py")


def test_every_table_is_that_of_the_store():
    programs.printed(BENCH / "reproduce.py", "--check")


def test_every_figure_says_where_it_is_from():
    tables, rows = script.load(script.STORE.read_text(encoding="utf-8"))
    assert len({row["name"] for row in rows}) == len(rows) > 50
    shown = 0
    for row in rows:
        assert row["table"] in tables, row
        assert all(row[key] for key in ("command", "machine", "needs")), row
        if tables[row["table"]]["columns"][-1].startswith("command: `go run ./agents arena"):
            assert shlex.split(row["command"])[4:] == shlex.split(row["cells"][-1].strip("`")), row["name"]
            shown += 1
        assert len(row["cells"]) == len(tables[row["table"]]["columns"])
        for need in row["needs"]:
            path, _, words = need.partition("#")
            file = script.ROOT / path
            assert file.exists(), f"{row['name']} needs {need}, which is gone"
            assert not words or script.beginning(file.read_text(encoding="utf-8"), words), need
    assert shown > 10


TABLE = {"table": "t", "file": "p", "columns": ["what", "figure"], "figures": [1]}
ROWS = [{"table": "t", "name": f"t/{k}", "cells": [k, "1"]} for k in "ab"]


def test_an_edited_figure_is_found_and_a_mark_is_not_one():
    page = "x\n<!-- figures: t -->\n{}<!-- end of figures -->\ny\n"
    for old in (set(), {"t/b"}):
        written = page.format(script.markdown(TABLE, ROWS, old))
        assert ("| b | 1 † |" in written) == bool(old)
        assert script.differing({"t": TABLE}, ROWS, {"p": written}) == []
        assert script.differing({"t": TABLE}, ROWS, {"p": written.replace("| 1 |", "| 2 |", 1)}) == ["t"]
    with pytest.raises(ValueError, match="no place for the table t"):
        script.parts("x", "t")


def test_figures_are_written_as_the_tables_have_them():
    match = {"seats": 2, "meetings": [{"score": {"value": 0.99, "low": 0.978, "high": 1}}], "games": 4000}
    assert script.figures(match, "") == ["99.0 % (97.8 to 100), 4,000 games"]
    player = {"name": "hand", "score": 0.5, "elo": {"value": 12.4, "low": -7.6, "high": 30}}
    assert script.figures({"expected": 40, "players": [player]}, "hand") == ["50.0 %", "+12 (-8 to +30)"]
    mean = {"value": 4982.4, "low": 4811, "high": 5153.6}
    alone = {"seats": 1, "players": [{"name": "dt10", "games": 3190, "points": {"mean": mean}, "ends": {}}]}
    assert script.figures(alone, "dt10") == ["4,982 (4,811 to 5,154), 3,190 games"]
    alone["players"][0]["ends"] = {"limit": 1}
    with pytest.raises(ValueError, match="--figure"):
        script.figures(alone, "dt10")
    ranks = [{"mean_rank": {"value": 1.765, "low": 1.59, "high": 1.94}}, {"mean_rank": {"value": 1.97}}]
    said = script.figures({"seats": 3, "players": ranks, "games": 90}, "")
    assert said == ["mean rank 1.76 (1.59 to 1.94), baselines 1.97; 90 games"]


def test_a_figure_keeps_its_command_and_gets_the_commit():
    row = {**ROWS[0], "cells": ["a", "1"], "command": "echo 2.0 us", "commit": "0", "needs": []}
    with pytest.raises(ValueError, match=r"enter the figure with --figure; the command printed\n2.0 us"):
        script.measure(row, TABLE, None, {})
    script.measure(row, TABLE, ["2"], {})
    assert row["cells"] == ["a", "2"]
    assert row["commit"] != "0"
    score = {"value": 0.5, "low": 0.4, "high": 0.6}
    said = json.dumps({"seats": 2, "games": 2, "meetings": [{"score": score}]})
    known = {"go run ./agents arena x": ([], said)}
    script.measure({**row, "command": "go run ./agents arena x"}, TABLE, None, known)
    assert row["cells"][1] == "50.0 % (40.0 to 60.0), 2 games"


def test_a_command_is_run_whole_and_its_score_is_read():
    row = {**ROWS[0], "cells": ["a", "won 1.0 % (0.5 to 2) of 7 games"], "commit": "0", "needs": []}
    train = "touch $RUN/net; echo 'gate 1 of 3: 2 games  kept'; echo 'gate 2 of 3: no' >&2"
    said = "echo 'at first 9 % (8 to 10)'; echo 'against x: 60.5 % (55 to 66) of 7'"
    three = {**TABLE, "columns": ["what", "CPU", "gate", "figure"], "figures": [1, 2, 3]}
    longer = {**row, "cells": ["a", "1 s", "0 of 3", row["cells"][1]], "command": f"{train} && ls $RUN/net && {said}"}
    script.measure(longer, three, None, {})
    assert longer["cells"][2:] == ["1 of 3", "won 60.5 % (55 to 66) of 7 games"]
    assert longer["cells"][1].endswith(" s")
    known = {}
    script.measure({**row, "command": said}, TABLE, None, known)
    assert row["cells"][1] == "won 60.5 % (55 to 66) of 7 games"
    assert list(known) == [said]


def test_comments_of_a_program_change_no_figure():
    program = 'async def g():\n    pass\n\nclass A:\n    def f(self):\n        return "x"\n'
    said = program.replace("pass\n", "pass  # why\n").replace("class A:\n", 'class A:\n    """What."""\n\n')
    assert script.statements('"""Why."""\n' + said) == script.statements(program)
    assert script.statements(program.replace('"x"', '"y"')) != script.statements(program)


def test_tests_and_pages_of_a_folder_change_no_figure(monkeypatch, tmp_path):
    monkeypatch.setattr(script, "ROOT", tmp_path)
    author = ("-c", "user.name=a", "-c", "user.email=a@b")

    def commit(name):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        assert script.git("add", ".") is not None
        assert script.git(*author, "commit", "-m", name) is not None
        return script.git("rev-parse", "HEAD").strip()

    script.git("init")
    first = commit("env/vec.go")
    commit("env/vec_test.go")
    before = commit("env/README.md")
    assert not script.changed(first, "env")
    commit("env/step.go")
    assert script.changed(before, "env")


def test_a_figure_older_than_its_code_and_this_version_is_an_error(monkeypatch):
    answers = {"log": "v\n", "merge-base": ""}
    monkeypatch.setattr(script, "git", lambda *words: None if "new" in words else answers[words[0]])
    assert script.released("old")
    assert not script.released("new")
