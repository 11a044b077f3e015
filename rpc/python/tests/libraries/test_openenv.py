"""The clients that people have of OpenEnv and MCP play on the server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from openenv import GenericEnvClient
from openenv.cli._validation import validate_multi_mode_deployment, validate_running_environment
from openenv.core.mcp_client import MCPToolClient
from openenv.validation import Level, Verdict, run_validation
from openenv.validation.graders import Subject
from openenv.validation.graders.runtime import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimePlan
from openenv.validation.types import CheckStatus
from transformers.utils import get_json_schema

import blockyard
from blockyard.trl import GameEnvironment

SOLO = {"WinTetris-v0", "Dropblox-v0"}  # of one seat
TOOLS = [
    "observe",
    "legal_moves",
    "play",
    "rules",
    "render",
    "children",
    "fork",
    "rewind",
    "save",
    "restore",
    "release",
]
EXAMPLES = Path(__file__).parents[2] / "examples"


@contextmanager
def serving(program: Path, game: str, *flags: str) -> Iterator[str]:
    command = [program, "serve", "--openenv", "127.0.0.1:0", "--game", game, *flags]
    if game not in SOLO:
        command += ["--opponents", "random"]
    with subprocess.Popen([*command, "--parent-death"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["openenv"]
        server.terminate()
        assert server.wait(timeout=60) == 0


def test_validator(program):
    with serving(program, "BlockBattle-v0") as url:
        report = validate_running_environment(url, timeout_s=60)
    assert report["passed"], report
    assert report["mode"] == "simulation"
    assert report["standard_profile"] == "openenv-http/1.x"


def test_tools_for_trl():
    """TRL makes the schemas of a model's tools from their docstrings."""
    for tool in (GameEnvironment.play, GameEnvironment.legal_moves, GameEnvironment.rules):
        schema = get_json_schema(tool.__get__(object()))["function"]
        assert schema["name"] == tool.__name__
        assert "return" in schema
    assert get_json_schema(GameEnvironment.play.__get__(object()))["function"]["parameters"]["required"] == ["move"]


def test_folder():
    """The folder to publish lacks nothing but uv.lock, which its README says how to make."""
    folder = Path(__file__).parents[3] / "deploy" / "openenv"
    _, issues = validate_multi_mode_deployment(folder)
    assert issues == ["Missing uv.lock - run 'uv lock' to generate it"]
    report = run_validation(folder, max_level=Level.STATIC, skip_build=True)
    assert report.verdict is Verdict.PASS, report
    assert {r.check_id for r in report.results} == {"static.manifest"}, "the validator checks more: so may this test"


def test_graders(program):
    """What the validator would grade of a container, it finds right of a server without one."""
    folder = Path(__file__).parents[3] / "deploy" / "openenv"
    plan = RuntimePlan.model_validate_json((folder / "validation" / "runtime.json").read_text())
    with serving(program, "BlockBattle-v0") as url:
        evidence = collect_runtime_evidence(url, plan, episode_timeout_s=60)
    subject = Subject(folder, OpenEnvYamlParser().parse(folder), None, None, folder, runtime_evidence=evidence)
    for grader in (RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()):
        result = grader.run(subject)
        assert result.status is CheckStatus.PASS, result


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0"])
def test_client_plays_the_same_game(program, game):
    """With the same seed and moves, a game over OpenEnv is the game of the vector environment."""
    rng = np.random.default_rng(5)
    with (
        serving(program, game) as url,
        GenericEnvClient(base_url=url).sync() as client,
        blockyard.make_vec(game, 1, opponents=None if game in SOLO else "random", seed=9) as env,
    ):
        _, infos = env.reset(seed=9)
        result = client.reset(seed=9, episode_id="mine")
        for _ in range(30):
            actions = env.sample_actions(rng)
            texts = env.text(actions)
            assert texts[0] in result.observation["legal_moves"]
            assert len(result.observation["legal_moves"]) == infos["action_mask"][0].sum()
            _, rewards, terminated, _, infos = env.step(actions)
            result = client.step({"move": texts[0]})
            assert result.reward == rewards[0]
            assert result.done == terminated[0]
            if result.done:
                break
        assert client.state()["episode_id"] == "mine"


def test_illegal_moves(program):
    with (
        serving(program, "WinTetris-v0", "--illegal-penalty", "0.5") as url,
        GenericEnvClient(base_url=url).sync() as client,
    ):
        first = client.reset(seed=1).observation
        result = client.step({"move": "to the left"})
        assert result.reward == -0.5
        assert "is no move of wintetris: choose one of" in result.observation["error"]
        assert result.observation["legal_moves"] == first["legal_moves"]
        with pytest.raises(RuntimeError, match='action: unknown field "x"'):
            client.step({"x": 1})


def test_sessions_are_separate(program):
    async def run(url: str) -> None:
        clients = [GenericEnvClient(base_url=url) for _ in range(8)]
        await asyncio.gather(*(c.connect() for c in clients))
        results = await asyncio.gather(*(c.reset(seed=k) for k, c in enumerate(clients)))
        for _ in range(3):
            moves = [r.observation["legal_moves"][k] for k, r in enumerate(results)]
            results = await asyncio.gather(*(c.step({"move": m}) for c, m in zip(clients, moves, strict=True)))
        states = await asyncio.gather(*(c.state() for c in clients))
        assert [s["seed"] for s in states] == list(range(8))
        assert {s["step_count"] for s in states} == {3}
        await asyncio.gather(*(c.close() for c in clients))

    with serving(program, "BlockBattle-v0") as url:
        asyncio.run(run(url))


def test_token(program):
    with serving(program, "WinTetris-v0", "--token", "secret") as url:
        with pytest.raises(ConnectionError):
            GenericEnvClient(base_url=url).sync().connect()
        headers = {"Authorization": "Bearer secret"}
        with GenericEnvClient(base_url=url, headers=headers).sync() as client:
            assert client.reset().observation["legal_moves"]


def test_tool_client(program):
    """OpenEnv's own client of tools shares a session over HTTP and WebSocket."""

    async def run(url: str) -> None:
        async with MCPToolClient(base_url=url) as client:
            assert [t.name for t in await client.list_tools()] == TOOLS
            shown = str(await client.call_tool("observe", new_game=True, seed=3))
            assert "It is your turn." in shown
            played = str(await client.call_tool("play", move="up"))
            assert "is no move of blockbattle" in played

    with serving(program, "BlockBattle-v0") as url:
        asyncio.run(run(url))


def test_mcp_client(program):
    """The official client of MCP plays with the tools."""

    async def run(url: str) -> None:
        async with streamablehttp_client(f"{url}/mcp") as (read, write, _), ClientSession(read, write) as client:
            await client.initialize()
            tools = (await client.list_tools()).tools
            assert sorted(t.name for t in tools) == sorted(TOOLS)
            assert "AI Block Battle" in (await client.call_tool("rules", {})).content[0].text
            await client.call_tool("observe", {"new_game": True, "seed": 3})
            moves = (await client.call_tool("legal_moves", {})).structuredContent["legal_moves"]
            played = await client.call_tool("play", {"move": moves[0]})
            assert not played.isError
            assert played.structuredContent["reward"] == 0
            assert "round 2" in played.content[0].text
            assert "round 2" in (await client.call_tool("render", {})).content[0].text

    with serving(program, "BlockBattle-v0") as url:
        asyncio.run(run(url))


def tool(client, name, **arguments):
    seen = client.step({"type": "call_tool", "tool_name": name, "arguments": arguments}).observation
    assert seen["error"] is None, seen
    return seen["result"]


def test_branches_of_the_generic_client(program):
    """GenericEnvClient forks, plays branches, rewinds, and another client begins with a saved position."""
    with serving(program, "BlockBattle-v0") as url, GenericEnvClient(base_url=url).sync() as client:
        move = client.reset(seed=3).observation["legal_moves"][0]
        branches = tool(client, "fork", n=8)["branches"]
        assert len(branches) == 8
        token = tool(client, "save")["state"]
        played = client.step({"move": move}).observation
        for branch in branches:
            seen = client.step({"move": move, "branch": branch}).observation
            assert (seen["text"], seen["legal_moves"]) == (played["text"], played["legal_moves"])
        children = tool(client, "children", values=True)["children"]
        assert [c["move"] for c in children] == played["legal_moves"]
        assert any("value" in c for c in children)
        rewound = tool(client, "rewind", turn=0)["observation"]
        with GenericEnvClient(base_url=url).sync() as other:
            assert other.reset(state=token).observation["text"] == rewound["text"]
            with pytest.raises(RuntimeError, match="no episode"):
                other.reset(state="forged")
        assert tool(client, "release")["released"] == 9
        named = client.reset(seed=3, rules="relabelled").observation
        assert len(named["legal_moves"]) == len(rewound["legal_moves"])
        assert not client.step({"move": named["legal_moves"][0]}).observation["error"]


def test_branches_of_the_mcp_client(program):
    """The official client of MCP forks, plays, rewinds and restores."""

    async def run(url: str) -> None:
        async with streamablehttp_client(f"{url}/mcp") as (read, write, _), ClientSession(read, write) as client:
            await client.initialize()

            async def call(name, **arguments):
                out = await client.call_tool(name, arguments)
                assert not out.isError, out
                return out.structuredContent

            await call("observe", new_game=True, seed=3)
            moves = (await call("legal_moves"))["legal_moves"]
            branches = (await call("fork", n=4, seed=7))["branches"]
            token = (await call("save"))["state"]
            first = await call("play", move=moves[0])
            results = [await call("play", move=moves[0], branch=b) for b in branches]
            assert all("round 2" in r["observation"]["text"] for r in results)
            assert len((await call("children", moves=first["observation"]["legal_moves"][:2]))["children"]) == 2
            assert "round 1" in (await call("rewind", turn=0))["observation"]["text"]
            await call("play", move=moves[1])
            restored = await call("restore", state=token)
            assert restored["observation"]["legal_moves"] == moves
            assert (await client.call_tool("restore", {"state": token[:-1]})).isError
            assert (await call("release"))["released"] == 5

    with serving(program, "BlockBattle-v0") as url:
        asyncio.run(run(url))


def test_example(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "openenv_agent.py", "--games", "2"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("2 games, mean return") == 5
