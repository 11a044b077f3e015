"""The figures of the pages: one store, figures.jsonl, from which the tables of Markdown files are written.

    python rpc/bench/reproduce.py                    write the tables, and list figures that are older than their code
    python rpc/bench/reproduce.py --check            compare the tables with the store; runs and writes nothing. It
                                                     fails on a figure older than its code and than this version
    python rpc/bench/reproduce.py --old              measure all figures that are older than their code, where the
                                                     command's output can be read, then write the tables
    python rpc/bench/reproduce.py --only NAME ...    measure these figures (or tables) again, then write the tables
    python rpc/bench/reproduce.py --only NAME --figure TEXT ...    enter what another command has measured

A line of the store is a table (its name, file, columns, and which columns are figures) or a row of one: its cells, the
command, and the commit, date and machine of the figure. A command is run by bash, with RUN as a new folder. `needs` are
the files and folders that the figure depends on, tests of Go and pages left out; PATH#WORDS means the lines of a file
that begin with these words, and of a Python file comments and docstrings do not count. If they differ from the
commit's, it is marked.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from functools import cache
from typing import Any

from sides.golang import ROOT, run
from sides.machine import cpu_model
from sides.table import lines

STORE = ROOT / "rpc/bench/figures.jsonl"
MARK = " †"
NOTE = "† Older than the code that it depends on."
VERSION = "rpc/python/blockyard/VERSION"
UNCOUNTED = (":(exclude,glob)**/*_test.go", ":(exclude,glob)**/*.md")
SCORE = re.compile(r"[\d.]+ % \([\d.]+ to [\d.]+\)")
KEPT = re.compile(r"gate (\d+) of (\d+):.*  kept")
Line = dict[str, Any]


def load(text: str) -> tuple[dict[str, Line], list[Line]]:
    """Return the tables of a store by name, and its rows."""
    store = [json.loads(line) for line in text.splitlines()]
    return {line["table"]: line for line in store if "columns" in line}, [line for line in store if "cells" in line]


def markdown(table: Line, rows: list[Line], old: set[str]) -> str:
    """Return a table as Markdown, with a mark at the figures whose names are in old."""
    cells = [list(row["cells"]) for row in rows]
    marked = [row for row, line in zip(cells, rows, strict=True) if line["name"] in old]
    for row in marked:
        row[table["figures"][-1]] += MARK
    return lines(table["columns"], cells) + (f"\n{NOTE}\n" if marked else "")


def parts(page: str, name: str) -> tuple[str, str, str]:
    """Split a page at its markers: before a table, the table, and after it."""
    begin, end = f"<!-- figures: {name} -->\n", "<!-- end of figures -->\n"
    before, found, rest = page.partition(begin)
    inside, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no place for the table {name}: want a line {begin.strip()} and a line {end.strip()}")
    return before + begin, inside, end + after


def unmarked(text: str) -> str:
    """Return a table without marks: they depend on commits that come later."""
    return text.replace(MARK + " |", " |").replace(f"\n{NOTE}\n", "")


def differing(tables: dict[str, Line], rows: list[Line], pages: dict[str, str]) -> list[str]:
    """Return the names of the tables that are not those of the store."""
    return [
        name
        for name, table in tables.items()
        if unmarked(parts(pages[table["file"]], name)[1]) != markdown(table, of(name, rows), set())
    ]


def of(table: str, rows: list[Line]) -> list[Line]:
    """Return the rows of a table."""
    return [row for row in rows if row["table"] == table]


def git(*command: str) -> str | None:
    """Return what git prints; None if it fails."""
    done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def beginning(text: str, words: str) -> list[list[str]]:
    """Return the words of the lines of a text that begin with these words."""
    begin = words.split()
    return [line.split() for line in text.splitlines() if line.split()[: len(begin)] == begin]


def statements(text: str) -> str:
    """Return what a Python program does: its syntax tree without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


@cache
def changed(commit: str, need: str) -> bool:
    """Return whether something that a figure depends on differs from a commit; a commit that git lacks does not."""
    path, _, words = need.partition("#")
    if git("cat-file", "-e", commit) is None:
        return False
    if not words and not path.endswith(".py"):
        return git("diff", "--quiet", commit, "HEAD", "--", path, *UNCOUNTED) is None
    texts = [git("show", f"{at}:{path}") or "" for at in (commit, "HEAD")]
    then, now = (beginning(text, words) if words else statements(text) for text in texts)
    return then != now


def older(row: Line) -> bool:
    """Return whether a figure is older than something that it depends on."""
    return any(changed(row["commit"], need) for need in row["needs"])


def released(commit: str) -> bool:
    """Return whether a commit is before the one that began this version."""
    begun = (git("log", "-1", "--format=%H", "--", VERSION) or "").strip()
    return bool(begun) and git("merge-base", "--is-ancestor", commit, begun) is not None


def save(tables: dict[str, Line], rows: list[Line]) -> None:
    """Write the store: all of it, or nothing."""
    new = STORE.with_suffix(".new")
    new.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [*tables.values(), *rows]), encoding="utf-8"
    )
    new.replace(STORE)


def percent(share: float) -> str:
    """Return a share as the tables have it."""
    return "100" if share == 1 else f"{100 * share:.1f}"


def figures(said: Line, agent: str) -> list[str]:
    """Return the figures in a command's line of JSON: a match's, or those of an agent in a ladder or alone."""
    if said.get("seats") == 1:
        player = next(player for player in said["players"] if player["name"] == agent)
        if player.get("ends"):
            raise ValueError(f"{agent}: games were stopped, {player['ends']}: enter what that shows with --figure")
        mean = player["points"]["mean"]
        return [f"{mean['value']:,.0f} ({mean['low']:,.0f} to {mean['high']:,.0f}), {player['games']:,} games"]
    if "expected" in said:
        player = next(player for player in said["players"] if player["name"] == agent)
        elo = player["elo"]
        return [f"{percent(player['score'])} %", f"{elo['value']:+.0f} ({elo['low']:+.0f} to {elo['high']:+.0f})"]
    if said["seats"] > 2:
        rank, others = (player["mean_rank"] for player in said["players"])
        ranks = f"{rank['value']:.2f} ({rank['low']:.2f} to {rank['high']:.2f})"
        return [f"mean rank {ranks}, baselines {others['value']:.2f}; {said['games']} games"]
    score, low, high = (percent(said["meetings"][0]["score"][key]) for key in ("value", "low", "high"))
    return [f"{score} % ({low} to {high}), {said['games']:,} games"]


def children() -> float:
    """Return the CPU seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def played(command: str) -> tuple[list[str], str]:
    """Run a command; return the CPU time of a training and the gate that kept its network, and what the end prints."""
    *training, last = command.split(" && ")
    match = re.match(r"(go run ./agents|blockyard) (arena|ladder) ", last)
    with tempfile.TemporaryDirectory() as fresh:  # a ladder would go on with the games in its folder
        used, told = children(), ""
        for part in training:
            told += run("bash", "-c", f"{part} 2>&1", RUN=fresh)
        used = children() - used
        last += " --json" * bool(match) + f" --out {fresh}/ladder" * bool(match and match[2] == "ladder")
        said = run("bash", "-c", last, RUN=fresh)
    kept = KEPT.findall(told)
    return [f"{used:.0f} s", " of ".join(kept[-1])] if kept else [], said


def read(said: str, agent: str) -> list[str]:
    """Return the figures in what a command has printed: in its line of JSON, else its last score.

    Raises:
        ValueError: there are none that this can read.
    """
    if said.startswith("{"):
        return figures(json.loads(said.splitlines()[-1]), agent)
    if not (scores := SCORE.findall(said)):
        raise ValueError(f"enter the figure with --figure; the command printed\n{said[-500:]}")
    return scores[-1:]


def measure(row: Line, table: Line, given: list[str] | None, known: dict[str, tuple[list[str], str]]) -> None:
    """Measure a row again, or enter what is given; known has what commands printed. In a sentence, a score changes."""
    found = given
    if found is None:
        if row["command"] not in known:
            known[row["command"]] = played(row["command"])
        training, said = known[row["command"]]
        found = training + read(said, row["cells"][0].strip("`"))
    if len(found) != len(table["figures"]):
        raise ValueError(f"{row['name']} has {len(table['figures'])} figures, got {len(found)}: {'; '.join(found)}")
    for column, text in zip(table["figures"], found, strict=True):
        old, new = SCORE.search(row["cells"][column]), SCORE.match(text)
        if given is None and new is not None and old is not None and old.start() > 0:
            text = row["cells"][column].replace(old[0], new[0])
        row["cells"][column] = text
    row["commit"] = (git("rev-parse", "--short=8", "HEAD") or "").strip()
    row["date"] = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    row["machine"] = f"{cpu_model()}, {os.cpu_count()} cores"


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the tables with the store, write nothing")
    parser.add_argument(
        "--old", action="store_true", help="measure what is older than its code, where that can be read"
    )
    parser.add_argument("--only", metavar="NAME", nargs="+", default=[], help="measure these figures or tables again")
    parser.add_argument("--figure", metavar="TEXT", action="append", help="the figure of --only, measured elsewhere")
    args = parser.parse_args()
    tables, rows = load(STORE.read_text(encoding="utf-8"))
    if unknown := {*args.only} - {*tables} - {row["name"] for row in rows}:
        parser.error(f"no figure or table {', '.join(sorted(unknown))}: rpc/bench/figures.jsonl has the names")
    known: dict[str, tuple[list[str], str]] = {}
    for row in rows:
        if row["name"] in args.only or row["table"] in args.only:
            measure(row, tables[row["table"]], args.figure, known)
        elif args.old and older(row):
            print(f"{row['name']}: {row['command']}", file=sys.stderr, flush=True)
            try:
                measure(row, tables[row["table"]], None, known)
            except (ValueError, subprocess.CalledProcessError) as error:
                print(f"{row['name']}: {error}", file=sys.stderr, flush=True)
        else:
            continue
        save(tables, rows)
    pages = {table["file"]: (ROOT / table["file"]).read_text(encoding="utf-8") for table in tables.values()}
    old = {row["name"]: row for row in rows if older(row)}
    if args.check:
        if wrong := differing(tables, rows, pages):
            raise SystemExit(f"other figures than the store has: {', '.join(wrong)}: run make reproduce")
        if stale := [name for name, row in old.items() if released(row["commit"])]:
            raise SystemExit(f"older than their code and this version: {', '.join(stale)}: run make reproduce")
        print(f"{len(tables)} tables have the {len(rows)} rows of the store")
    else:
        for name, table in tables.items():
            before, _, after = parts(pages[table["file"]], name)
            pages[table["file"]] = before + markdown(table, of(name, rows), {*old}) + after
        for file, text in pages.items():
            (ROOT / file).write_text(text, encoding="utf-8")
    for name, row in old.items():
        print(f"older than its code: {name}, of {row['commit']}: {row['command']}")


if __name__ == "__main__":
    main()
