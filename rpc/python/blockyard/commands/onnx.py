"""``blockyard onnx``: networks as ONNX models, and models as networks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..errors import WeightsError, plain
from ..networks.afterstate_features import feature_facts
from ..networks.perceptron import sizes
from ..networks.weights import load_weights, save_weights
from ..provenance import write_run

HELP = "convert a file of weights (.safetensors) to an ONNX model (.onnx), or a model to a file of weights"
ABOUT = (
    "The file of weights is for learned:weights=FILE and for contest bots. A model must be Gemm (torch.nn.Linear) with "
    "LeakyRelu (torch.nn.LeakyReLU(0.01)) between them, all in one file."
)


def add(commands: Any) -> None:
    """Add the command ``onnx`` and its options to the command line."""
    parser = commands.add_parser("onnx", help=HELP, description=f"{HELP.capitalize()}. {ABOUT}")
    parser.add_argument("file", metavar="FILE", help="what to convert: net.safetensors or net.onnx")
    parser.add_argument("out", metavar="OUT", help="what to write: net.onnx or net.safetensors")
    parser.add_argument(
        "--game", metavar="GAME", help="game of a model that does not say it; its inputs must be the game's features"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Convert weights to ONNX or back, by the endings of the files; return the exit status."""
    from ..networks import onnx_model  # the library is optional

    kinds = (Path(args.file).suffix, Path(args.out).suffix)
    if kinds == (".safetensors", ".onnx"):
        weights = load_weights(args.file)
        onnx_model.save_onnx(args.out, weights)
        write_run(args.out)
        print(plain(f"{args.out}: a network of {weights.game}, layers of {sizes(weights.layers)}"))
        return 0
    if kinds != (".onnx", ".safetensors"):
        raise WeightsError(f"{args.file} to {args.out}: want .safetensors to .onnx, or .onnx to .safetensors")
    layers, metadata = onnx_model.load_onnx(args.file)
    game = args.game or metadata.get("game")
    if not game:
        raise WeightsError(f"{args.file} does not say for which game it is: pass --game GAME")
    facts = feature_facts(game)
    if metadata.get("game"):
        said = (metadata["game"], metadata.get("rules"), metadata.get("features"))
        if said != (facts.game, str(facts.rules), json.dumps(facts.names)):
            raise WeightsError(
                f"{args.file} is of {said[0]!r:.40}, rules {said[1]!r:.20}; this is {facts.game}, rules {facts.rules}, "
                f"and its {len(facts)} features are the inputs"
            )
    notes = {k: v for k, v in metadata.items() if k not in ("game", "rules", "features", "activation")}
    save_weights(args.out, layers, facts, notes)
    print(f"{args.out}: a network of {facts.game}, layers of {sizes(layers)}")
    write_run(args.out)
    return 0
