"""``blockyard onnx``: networks as ONNX models, and models as networks."""

import argparse
from pathlib import Path

from ..errors import WeightsError, plain
from ..networks.perceptron import sizes
from ..networks.weights import feature_facts, load_weights, save_weights
from ..provenance import write_run
from .games import refuse

ABOUT = """\
convert weights (.safetensors) to an ONNX model, or back

The file of weights is for learned:weights=FILE and for contest bots. A model
must be Gemm (torch.nn.Linear) with LeakyRelu (torch.nn.LeakyReLU(0.01))
between them, all in one file."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard onnx``."""
    parser.add_argument("file", metavar="FILE", help="what to convert: net.safetensors or net.onnx")
    parser.add_argument("out", metavar="OUT", help="what to write: net.onnx or net.safetensors")
    parser.add_argument("--game", metavar="GAME", help="game of a model that does not say it")


def run(args: argparse.Namespace) -> int:
    """Convert weights to ONNX or back, by the endings of the files; return the exit status."""
    from ..networks import onnx_model  # the library is optional

    if not args.file.endswith(".onnx"):
        refuse(args, ["game"], f"with {args.file}: a file of weights says its game")
    kinds = (Path(args.file).suffix, Path(args.out).suffix)
    if kinds == (".safetensors", ".onnx"):
        weights = load_weights(args.file)
        game, layers = weights.game, weights.layers
        onnx_model.save_onnx(args.out, weights)
    elif kinds == (".onnx", ".safetensors"):
        layers, metadata = onnx_model.load_onnx(args.file)
        if not (name := args.game or metadata.get("game")):
            raise WeightsError(f"{args.file} does not say for which game it is: pass --game GAME")
        facts = feature_facts(name)
        game, inputs = facts.game, facts.metadata()
        if "game" in metadata and any(metadata.get(key) != inputs[key] for key in inputs if key != "activation"):
            found = f"{args.file} is of {metadata['game']!r:.40}, rules {metadata.get('rules')!r:.20}"
            want = f"this is {game}, rules {facts.rules}, and its {len(facts)} features are the inputs"
            raise WeightsError(f"{found}; {want}")
        save_weights(args.out, layers, facts, facts.notes(metadata))
    else:
        raise WeightsError(f"{args.file} to {args.out}: want .safetensors to .onnx, or .onnx to .safetensors")
    write_run(args.out)
    print(plain(f"{args.out}: a network of {game}, layers of {sizes(layers)}"))
    return 0
