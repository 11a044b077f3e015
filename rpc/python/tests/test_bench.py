"""The benchmarks: their computations, and a very short run without peers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import programs
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from sides import clock, figures, peers, plan, race, stepper, table  # noqa: E402
from sides.race import Entrant  # noqa: E402
from sides.workers import Worker, WorkerError  # noqa: E402


def entrant(key: str, wall: list[float], envs: int = 1, **more: Any) -> Entrant:
    e = Entrant(key, "games", key, more.pop("side", "ours"), "x", {"envs": envs}, **more)
    e.envs, e.rows, e.wall, e.cpu = envs, envs, wall, list(wall)
    return e


def test_ratio_is_taken_within_rounds() -> None:
    # Every round of b takes twice what it takes a, whatever the round.
    a, b = entrant("a", [1.0, 5.0, 2.0], envs=4), entrant("b", [2.0, 10.0, 4.0], envs=4)
    assert figures.ratios(a, b, "wall") == [2, 2, 2]
    assert figures.ratios(b, a, "wall") == [0.5, 0.5, 0.5]
    # Twice the games in the same time count as twice as fast.
    assert figures.ratios(a, entrant("c", [1.0, 5.0, 2.0], envs=2), "wall") == [2, 2, 2]
    a.error = "gone"
    assert figures.ratios(a, b, "wall") == []


def test_quartiles() -> None:
    assert figures.quartiles([3.0, 1.0, 2.0]) == (1.5, 2.0, 2.5)
    assert figures.quartiles([3.0]) == (3.0, 3.0, 3.0)


def test_verdicts_say_met_missed_and_not_measured() -> None:
    game = "WinTetris-v0"
    rows = [
        entrant(plan.key(game, "in process", 4), [1.0], envs=4, side="inprocess"),
        entrant(plan.key(game, "socket, buffer", 4), [1.7], envs=4),
        entrant(plan.key(game, "shm, buffer", 4), [1.1], envs=4),
        entrant(plan.key("null", "null, socket", 4), [], envs=4),
        entrant(plan.key("null", "bare socket", 4), [1.0], envs=4),
        entrant(plan.key(game, "shm", 1), [1.0], trips=True),
        entrant(plan.key(game, "socket", 1), [1.0], trips=True),
        entrant(plan.key(game, "bare socket", 1), [1.0], trips=True),
        entrant(plan.key(game, "bare socket", 4), [0.5], envs=4),
        entrant(plan.key(game, "inproc, single", 1), [20e-6, 12e-6, 11e-6]),
        entrant(plan.key(game, "inproc, into", 1), [1e-6, 3e-6, 3e-6]),
        entrant(plan.key("pufferlib", "keys", 1), [2e-6, 3e-6, 3e-6], side="pufferlib"),
    ]
    rows[3].error = "no such game"
    rows[5].trip, rows[6].trip, rows[7].trip = [26e-6, 10e-6, 39e-6], [28e-6, 28e-6, 42e-6], [20e-6, 10e-6, 30e-6]
    said = figures.verdicts({e.key: e for e in rows}, [game], 4)
    assert {v.what.partition(" :")[0]: v.met for v in said} == {
        f"{rows[1].label}, N=4": True,  # 0.88 of what the game and a bare socket take together, 0.85 is wanted
        f"{rows[2].label}, N=4": False,  # 0.97 is
        f"{rows[3].label}, N=4": None,
        f"{rows[5].label}, N=1": True,  # 1.3 times the bare socket in the same round, 1.35 is the most
        f"{rows[6].label}, N=1": False,
        f"{rows[9].label}, N=1": True,  # 12 microseconds, 12 are the most
        f"{rows[10].label}, N=1": None,  # beside a peer, without an aim
    }
    into = [v for v in said if v.what.startswith(rows[10].label)]
    assert [(v.met, v.most, v.cpu, v.us) for v in into] == [
        (None, False, 1, (pytest.approx(3), pytest.approx(3))),
    ]
    assert [v.error for v in said if v.met is None] == [f"{rows[3].label}: no such game", None]
    single = next(v for v in said if v.what.startswith(rows[9].label))
    assert (single.most, single.us, single.spread) == (True, (None, 12), (11.5, 16))
    assert said[0].us == (pytest.approx(1.5e6), pytest.approx(1.7e6))


def test_a_failure_is_in_the_table() -> None:
    bad = entrant("bad", [])
    bad.error = "cannot be installed: no | wheel"
    assert figures.row(bad)["error"] == bad.error
    report = {
        "machine": {"cpu": "c", "cores": 2, "cores_used": 1, "system": "s", "python": "3", "load": 0.1},
        "load_after": 0.2, "rounds": 1, "burst_s": 0.1, "command": "run", "complete": False, "versions": {"x": "1"},
        "aims": [], "rows": [figures.row(bad), figures.row(entrant("good", [1e-3, 3e-3], envs=10))],
    }  # fmt: skip
    page = table.markdown(report)
    assert "| bad | 1 | not measured: cannot be installed: no / wheel |" in page
    assert "| good | 10 | 5,000 |" in page  # the median of 1 and 3 ms
    assert "ended early" in page


def test_every_entrant_has_its_own_key_and_a_worker() -> None:
    sizes = [1, 64, 4096]
    chosen = plan.ours(sizes, plan.ENV_IDS) + plan.floors(sizes, plan.ENV_IDS)
    chosen += plan.gymnasium() + plan.peers(sizes)
    by_key = {e.key: e for e in chosen}
    assert len(by_key) == len(chosen)
    assert {e.side for e in chosen} == {"ours", "inprocess", "floors", "gym"} | set(peers.PEERS)
    for e in chosen:
        if "like" in e.options:  # it takes the lengths over from one that is opened before it
            assert chosen.index(by_key[e.options["like"]]) < chosen.index(e)
            lengths = plan.with_lengths(e, by_key)
            assert lengths["answer"] == plan.ANSWER_HEAD
            assert "like" not in lengths


def test_every_peer_is_pinned() -> None:
    for peer in peers.PEERS.values():
        assert all("==" in package for package in peer.pinned), peer


class Counting(stepper.Stepper):
    """Prepares three steps at a time, on a clock of its own on which preparing takes long."""

    done = 0

    now = 0.0

    def read(self) -> float:
        self.now += 1e-6
        return self.now

    def prepare(self, want: int) -> int:
        self.now += 100
        return 3

    def play(self, steps: int) -> None:
        self.now += steps
        self.done += steps


def test_a_burst_times_play_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    s = Counting()
    monkeypatch.setattr(stepper.time, "perf_counter", s.read)
    monkeypatch.setattr(stepper, "seconds", lambda others: s.now / 2)
    steps, wall, cpu = s.burst(7)
    assert steps == s.done == 9
    assert (wall, cpu) == (pytest.approx(9), pytest.approx(4.5))
    begun = s.now
    assert s.round_trips(4) == pytest.approx([1] * 6)
    assert s.now - begun == pytest.approx(2 * 100 + 6 * (1 + stepper.PAUSE), abs=3e-5)  # of which the pauses are 6e-5


def test_the_clock_of_another_process_runs() -> None:
    code = "import time\nfor _ in 'ab':\n print(time.process_time(), flush=True)\n input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        before = float(other.stdout.readline())
        seen, both = clock.process_seconds(other.pid), clock.seconds([other.pid])
        other.stdin.write(b"\n")
        other.stdin.flush()
        assert 0 < before <= seen <= float(other.stdout.readline())
        assert both > seen
    with pytest.raises(ProcessLookupError, match=str(other.pid)):
        clock.process_seconds(other.pid)


def test_a_worker_answers_refuses_and_is_seen_to_end(tmp_path: Path) -> None:
    lines = "import sys\nfor x in sys.stdin:\n if 'end' in x: break\n print(x.strip(), flush=True)"
    worker = Worker([sys.executable, "-c", lines], {}, subprocess.DEVNULL, patience=20)
    assert worker.ask(do="x") == {"do": "x"}
    with pytest.raises(WorkerError, match="no such game"):
        worker.ask(do="x", error="no such game")
    with pytest.raises(WorkerError, match="ended"):
        worker.ask(do="end")
    worker.close()
    silent = Worker([sys.executable, "-c", "input(); input()"], {}, subprocess.DEVNULL, patience=0.2)
    with pytest.raises(WorkerError, match="silent"):
        silent.ask(do="x")
    silent.close()


def test_a_worker_that_fails_spoils_nothing_but_itself() -> None:
    class Two:
        def __init__(self, broken: bool) -> None:
            self.broken = broken

        def ask(self, **request: Any) -> dict[str, Any]:
            if self.broken:
                raise WorkerError("broke")
            return {"steps": request["steps"], "wall": 0.5, "cpu": 0.25}

    good, bad = entrant("good", [], side="a"), entrant("bad", [], side="b")
    good.steps = bad.steps = 5
    race.race([good, bad], {"a": Two(False), "b": Two(True)}, 3, 1)  # type: ignore[dict-item]
    assert (good.wall, good.cpu, good.error) == ([0.1] * 3, [0.05] * 3, None)
    assert (bad.wall, bad.error) == ([], "broke")


def test_what_cannot_be_installed_is_told(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho 'ERROR: no wheel here' >&2\necho 'note: a hint' >&2\nexit 3\n")
    uv.chmod(0o755)
    with pytest.raises(peers.InstallError, match="ERROR: no wheel here"):
        peers.python(peers.Peer("x", ("x==1",)), [str(uv)])


def test_a_run_of_a_moment(program: Path, tmp_path: Path) -> None:
    command = [BENCH / "run.py", "--only", "ours,floors", "--games", "WinTetris-v0"]
    command += ["--envs", "1,64", "--rounds", "1", "--burst", "0.005", "--out", str(tmp_path)]
    env = os.environ | {"BLOCKYARD_SERVER": str(program)}
    programs.printed(*command, timeout=900, env=env)
    report = json.loads((tmp_path / "results.json").read_text())
    errors = {r["key"]: r["error"] for r in report["rows"] if "error" in r}
    if shutil.which("cc") is None:  # nothing builds the library
        errors = {key: error for key, error in errors.items() if "inproc" not in key}
    assert not errors
    rows = {r["key"]: r for r in report["rows"]}
    solo = rows[plan.key("WinTetris-v0", "shm", 64)]
    assert solo["env_steps_per_s"] == pytest.approx(64e6 / solo["us_per_step"])
    assert solo["cpu_us_per_step"] > 0
    bare = rows[plan.key("WinTetris-v0", "bare socket", 64)]
    assert bare["bytes_per_step"] == plan.ANSWER_HEAD + solo["bytes_per_step"]
    assert str(tmp_path) not in (tmp_path / "results.json").read_text()
    assert (tmp_path / "results.md").read_text().startswith("# Side by side")


def test_the_overhead_of_options(program: Path) -> None:
    command = [BENCH / "overhead.py", "--envs", "4", "--steps", "80", "--rounds", "1", "--json"]
    env = os.environ | {"BLOCKYARD_SERVER": str(program)}
    said = programs.printed(*command, env=env)
    rows = {row["form"]: row for row in map(json.loads, said.splitlines())}
    seat = rows["a row per seat (default)"]
    assert seat["reference"] == "acting rows (compact form)"
    assert seat["bytes_ratio"] > 3
    assert rows["a row per seat (default), record every=1"]["bytes_ratio"] == 1
    assert rows["a row per seat (default), record every=1"]["games_recorded"] > 2
    assert all(row["ratio"] > 0 and row["peak_memory_mb"] > 1 for row in rows.values())


@pytest.mark.parametrize("wrong", [["--envs", "0"], ["--games", "Chess-v0"], ["--rounds", "x"], ["--only", "peer"]])
def test_wrong_arguments_are_named(wrong: list[str]) -> None:
    done = programs.run(BENCH / "run.py", *wrong)
    assert done.returncode == 2
    assert wrong[0] in done.stderr
