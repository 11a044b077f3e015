"""OpenEnv's collection of rollouts records games of the server.

The command ``openenv collect`` names the environments that it knows, and this server is none of them; what it runs is
this runner.
"""

from __future__ import annotations

import json
from typing import Any

from openenv import GenericEnvClient
from openenv.core.env_server.mcp_types import Tool
from openenv.core.harness import HarnessRunLimits, MCPHarnessAdapter, ModelStepResult
from openenv.core.harness.collect import CollectRunner, RolloutSerializer
from openenv.core.harness.rollout import ResourceSessionFactory, StepEnvSessionAdapter
from openenv.core.llm_client import LLMResponse, ToolCall
from test_openenv import serving

PLAY = Tool(
    name="play",
    description="Plays a move.",
    input_schema={"type": "object", "properties": {"move": {"type": "string"}}, "required": ["move"]},
)


class Games(ResourceSessionFactory):  # type: ignore[type-arg]
    """A game for each episode, with the task as its seed."""

    def __init__(self, url: str) -> None:
        self.url = url

    def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> StepEnvSessionAdapter:
        return StepEnvSessionAdapter(
            GenericEnvClient(base_url=self.url),
            seed=task,
            episode_id=episode_id,
            tool_specs=[PLAY],
            action_builder=lambda _, arguments: arguments,
            initial_messages_builder=lambda result, _: [{"role": "user", "content": json.dumps(result.observation)}],
        )


def first_legal(messages: list[dict[str, Any]], tools: list[Tool], _: dict[str, Any]) -> ModelStepResult:
    """A model that plays the first legal move of the last message."""
    shown = json.loads(messages[-1]["content"])
    move = shown.get("observation", shown)["legal_moves"][0]
    call = ToolCall(id=str(len(messages)), name=tools[0].name, args={"move": move})
    return ModelStepResult(response=LLMResponse(content="", tool_calls=[call]))


def test_collect(program, tmp_path):
    with serving(program, "BlockBattle-v0") as url:
        runner = CollectRunner(
            session_factory=Games(url),
            harness_adapter=MCPHarnessAdapter(),
            serializer=RolloutSerializer(tmp_path),
            tasks=[5, 5, 6],
            limits=HarnessRunLimits(max_turns=500),
        )
        result = runner.run(model_step=first_legal, num_episodes=3)
    assert (result.num_collected, result.num_failed) == (3, 0)
    episodes = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [e["episode_id"] for e in episodes] == ["ep-000000", "ep-000001", "ep-000002"]
    assert all(e["done"] and e["reward"] in (-1, 0, 1) for e in episodes)
    played = [[call["arguments"]["move"] for call in e["tool_trace"]] for e in episodes]
    assert played[0] == played[1]
    assert played[0] != played[2]
