"""GRPO from one position: a language model tries 64 moves in 64 branches of the same game, step after step.

    pip install blockyard openenv trl
    python grpo_branches.py                       # 50 steps, some minutes on a CPU
    python grpo_branches.py --game Blocking-v0 --steps 200

The model is a transformer of two layers with random weights, which writes a move as one token; put a real one, with its
tokenizer, in its place. The server forks the game in its middle for each step; every completion is played in a branch
of its own, and its reward is what the position after it is worth to the agent ``learned``, from -1 to 1 within the
legal moves. Branches with other futures: pass ``seed`` to ``fork``.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from typing import Any

from datasets import Dataset
from openenv import GenericEnvClient
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer


def tool(env: Any, name: str, **arguments: Any) -> Any:
    """Call a tool of the server."""
    seen = env.step({"type": "call_tool", "tool_name": name, "arguments": arguments}).observation
    if seen["error"]:
        raise RuntimeError(seen["error"]["message"])
    return seen["result"]


def middle(env: Any, moves: int, seed: int) -> dict[str, Any]:
    """Play random moves, and return the observation after them."""
    rng = random.Random(seed)
    seen = env.reset(seed=seed).observation
    for _ in range(moves):
        seen = env.step({"move": rng.choice(seen["legal_moves"])}).observation
    return seen


def worth(env: Any) -> dict[str, float]:
    """Return the value of each legal move, from -1 for the worst to 1 for the best."""
    values = {child["move"]: child["value"] for child in tool(env, "children", values=True)["children"]}
    low, high = min(values.values()), max(values.values())
    return {move: 2 * (value - low) / ((high - low) or 1) - 1 for move, value in values.items()}


def model(moves: list[str], prompt: str) -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast]:
    """Return a transformer with random weights, and its tokens: the words of the prompt, and whole moves."""
    words = {word: k for k, word in enumerate(dict.fromkeys(["<pad>", "<end>", "?", *prompt.split()]))}
    plain = Tokenizer(models.WordLevel(words, unk_token="?"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokens = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<end>", unk_token="?")
    tokens.add_tokens(moves)
    shape = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": len(prompt.split()) + 8, "vocab_size": len(tokens)}
    return GPT2LMHeadModel(GPT2Config(**shape, bos_token_id=1, eos_token_id=1, pad_token_id=0)), tokens


def main() -> None:
    """Train, and say how much better the moves became."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="the environment's id (BlockBattle-v0)")
    parser.add_argument("--steps", type=int, default=50, help="of training (50)")
    parser.add_argument("--branches", type=int, default=64, help="moves tried per step (64)")
    parser.add_argument("--moves", type=int, default=8, help="random moves before the position (8)")
    parser.add_argument("--seed", type=int, default=7, help="of the game and of the training (7)")
    args = parser.parse_args()
    serve = [sys.executable, "-m", "blockyard", "serve", "--openenv", "127.0.0.1:0", "--game", args.game]
    serve += ["--max-sessions", str(args.branches + 8)]  # each branch is a session
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        with GenericEnvClient(base_url=json.loads(server.stdout.readline())["openenv"]).sync() as env:
            seen = middle(env, args.moves, args.seed)
            train(env, seen, args)
    finally:
        server.terminate()
        server.wait()


def train(env: Any, seen: dict[str, Any], args: argparse.Namespace) -> None:
    """Train on one position."""
    values, means = worth(env), []

    def reward(completions: list[str], **_: Any) -> list[float]:
        branches = tool(env, "fork", n=len(completions))["branches"]
        rewards = []
        for branch, text in zip(branches, completions, strict=True):
            if text in values:
                env.step({"move": text, "branch": branch})
            rewards.append(values.get(text, -1.0))
        tool(env, "release")
        means.append(sum(rewards) / len(rewards))
        return rewards

    network, tokens = model(list(values), seen["text"])
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            max_steps=args.steps,
            per_device_train_batch_size=args.branches,
            num_generations=args.branches,
            max_completion_length=1,
            learning_rate=1e-3,
            lr_scheduler_type="constant",
            seed=args.seed,
            use_cpu=True,
            save_strategy="no",
            report_to="none",
        )
        prompts = Dataset.from_dict({"prompt": [seen["text"]] * args.branches})
        GRPOTrainer(network, reward, config, train_dataset=prompts, processing_class=tokens).train()
    quarter = max(1, len(means) // 4)
    first, last = sum(means[:quarter]) / quarter, sum(means[-quarter:]) / quarter
    print(f"{len(means)} steps of {args.branches} branches, mean reward {first:.2f} at first, {last:.2f} at last")


if __name__ == "__main__":
    main()
