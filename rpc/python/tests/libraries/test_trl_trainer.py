"""TRL's GRPOTrainer trains a language model on games of ``blockyard.trl.GameEnvironment``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from datasets import Dataset
from test_trl import serving
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from blockyard.trl import GameEnvironment

MOVES = ["r0 x0", "r0 x5", "nowhere"]  # the last one is not legal


class Game(GameEnvironment):
    """Without the tool whose answer is longer than the completions here, as the page recommends."""

    rules = None


def tokens(words: list[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes in which each of the words is one token as well."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE({letter: k for k, letter in enumerate(alphabet)}, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    plain.decoder = decoders.ByteLevel()
    ends = {"pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"}
    made = PreTrainedTokenizerFast(tokenizer_object=plain, chat_template=qwen3_chat_template, **ends)
    made.add_tokens(words)
    return made


def test_a_model_plays_by_tools(program: Path, tmp_path: Path):
    """A model that can only call tools plays to the end of games; their rewards are those that it learns from."""
    calls = [json.dumps({"name": "play", "arguments": {"move": move}}) for move in MOVES]
    calls = [f"<tool_call>\n{call}\n</tool_call>" for call in calls]
    tokenizer = tokens(calls)
    end = tokenizer.eos_token_id
    said = {*tokenizer.convert_tokens_to_ids(calls), end}
    shape = {"n_embd": 16, "n_layer": 1, "n_head": 1, "n_positions": 8192, "vocab_size": len(tokenizer)}
    ends = {"bos_token_id": None, "eos_token_id": end, "pad_token_id": tokenizer.pad_token_id}
    config = GRPOConfig(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=4, num_generations=4, logging_steps=1,
        max_completion_length=1024, use_cpu=True, save_strategy="no", report_to="none", seed=3,
        generation_kwargs={"suppress_tokens": sorted({*range(len(tokenizer))} - said)},
    )  # fmt: skip
    prompt = [{"role": "user", "content": "Play this game with the tools until it is over. "}]
    games = Dataset.from_dict({"prompt": [prompt] * 4, "seed": [1, 2, 3, 4]})
    with serving(program, "--game", "WinTetris-v0", "--opponents=hand", "--step-limit=3", "--legal-moves=hide") as url:
        factory = partial(Game, url, unfinished=-7.0)
        model = GPT2LMHeadModel(GPT2Config(**shape, **ends))
        trainer = GRPOTrainer(
            model, train_dataset=games, environment_factory=factory, args=config, processing_class=tokenizer
        )
        assert {tool.__name__ for tool in trainer.tools} == {"play", "legal_moves"}
        trainer.train()
    *steps, _ = trainer.state.log_history
    assert len(steps) == 2
    last = [env.get_reward() for env in trainer.environments]
    assert len(last) == 4
    assert steps[-1]["rewards/Game/mean"] == pytest.approx(sum(last) / 4)
    assert all(step["tools/call_frequency"] > 0 and step["grad_norm"] > 0 for step in steps)
    # Whoever stopped early has the penalty for that; the others have at most three moves that were not legal.
    assert all(reward < -6 or round(reward, 6) in (0, -0.1, -0.2, -0.3) for reward in last)
