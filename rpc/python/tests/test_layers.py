"""Who may import whom inside the package, and why: imports run down only, and no modules import each other."""

from __future__ import annotations

import ast
import shutil
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "blockyard"

# From the bottom up: a layer's modules (a folder stands for all modules in it), the lower layers that they may
# import, and why. Modules of one layer may import each other as long as there is no circle.
LAYERS: list[tuple[str, set[str], set[str], str]] = [
    ("base", {"errors", "progress", "optional", "provenance"}, set(), "everything else may fail and report"),
    (
        "values",
        {"spec", "packing", "tensors", "arguments", "opponents", "seeding", "infos", "checkpoint_file"}
        | {"records", "perceptron", "weights_file", "torch_modules", "intervals", "standings"},
        {"base"},
        "checking arguments and describing games needs no server",
    ),
    ("server", {"server"}, {"base"}, "a server process is started without knowing what will be said to it"),
    (
        "transport",
        {"transport"},
        {"base", "values", "server"},
        "it moves the bytes of a step and knows no environment",
    ),
    ("rendering", {"rendering"}, {"base"}, "pictures of games need no environment"),
    (
        "environment",
        {
            "attributes",
            "illegal",
            "opposition",
            "recorder",
            "recording",
            "results",
            "rows",
            "search",
            "stepping",
            "texts",
        }
        | {"checkpoints", "vector"},
        {"base", "values", "transport", "rendering"},
        "the vector environment reaches servers only through the transport",
    ),
    (
        "surfaces",
        {
            "single",
            "pool",
            "pool_batch",
            "pool_healing",
            "pool_opponents",
            "pool_records",
            "pool_server",
            "pool_stats",
            "pool_waiting",
            "replay",
            "afterstate_features",
            "weights",
            "evaluation",
            "registration",
            "multiagent",
        }
        | {"sb3", "pettingzoo", "torchrl", "rllib"},
        {"base", "values", "transport", "rendering", "environment"},
        "other forms of the vector environment, none of which it needs to know",
    ),
    (
        "package",
        {"__init__", "__main__", "commands"},
        {"base", "values", "server", "transport", "environment", "surfaces"},
        "the names that users import, and the command line",
    ),
]

# Which modules may import a library, and why. Others may be imported anywhere.
ONLY = {
    "msgpack": ({"transport.connection"}, "one module knows how messages are encoded"),
    "pettingzoo": ({"pettingzoo"}, "an adapter's library is optional"),
    "stable_baselines3": ({"sb3"}, "an adapter's library is optional"),
    "torchrl": ({"torchrl"}, "an adapter's library is optional"),
    "tensordict": ({"torchrl"}, "an adapter's library is optional"),
    "ray": ({"rllib"}, "an adapter's library is optional"),
    "torch": ({"torchrl", "packing", "tensors", "torch_modules"}, "numpy is enough for everything else"),
    "tqdm": ({"progress"}, "it is optional"),
}


def module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def imports(package: Path) -> dict[str, tuple[set[str], set[str]]]:
    """Return for each module the modules of ours that it imports, and the libraries; imports in functions too."""
    files = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    found = {}
    for name, path in files.items():
        # "a.b" in the package, "a" for a package's own __init__: what "." means inside the file
        here = ["blockyard", *path.relative_to(package).parts[:-1]]
        ours: set[str] = set()
        others: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                targets = [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = here[: len(here) - node.level + 1] if node.level else []
                full = ".".join([*base, *filter(None, [node.module])])
                targets = [(full, alias.name) for alias in node.names]
            else:
                continue
            for module, member in targets:
                top, _, inner = module.partition(".")
                if top != "blockyard":
                    others.add(top)
                    continue
                candidates = [".".join(filter(None, [inner, member])), inner or "__init__"]
                ours.add(next(c for c in candidates if c in files))
        found[name] = (ours - {name}, others)
    return found


def layer_of(module: str) -> int:
    for k, (_, modules, _, _) in enumerate(LAYERS):
        if module.partition(".")[0] in modules:
            return k
    raise AssertionError(f"{module} is in no layer: add it to one in {Path(__file__).name}")


def breaches(found: dict[str, tuple[set[str], set[str]]]) -> list[str]:
    """Return what is wrong with imports, each with the reason of the rule."""
    wrong = []
    for module, (ours, others) in found.items():
        name, _, allowed, why = LAYERS[layer_of(module)]
        for target in sorted(ours):
            layer = LAYERS[layer_of(target)][0]
            if layer != name and layer not in allowed:
                wrong.append(f"{module} ({name}) imports {target} ({layer}): {why}")
        for library in sorted(others & ONLY.keys()):
            modules, why = ONLY[library]
            if module not in modules:
                wrong.append(f"{module} imports {library}, only {sorted(modules)} may: {why}")
    try:
        TopologicalSorter({module: ours for module, (ours, _) in found.items()}).prepare()
    except CycleError as error:
        wrong.append(f"modules import each other: {' -> '.join(error.args[1])}")
    return wrong


def test_imports_run_down():
    found = imports(PACKAGE)
    assert len(found) > 40
    assert breaches(found) == []
    for k, (_, _, allowed, _) in enumerate(LAYERS):
        assert allowed <= {name for name, *_ in LAYERS[:k]}, "a layer may import only lower ones"
    assert len(LAYERS) <= 8


def test_modules_are_small():
    long = {p.name: n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text(encoding="utf-8").splitlines())) > 350}
    assert not long, "split them: a file is one thought"


@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("errors", "from .vector import BlockVectorEnv", "errors (base) imports vector (environment)"),
        ("transport/stream", "def f():\n    from ..rows import Rows", "transport.stream (transport) imports rows"),
        ("rendering/svg", "import blockyard.spec", "rendering.svg (rendering) imports spec"),
        ("server/binary", "from .. import vector", "server.binary (server) imports vector"),
        ("spec", "from .packing import pack", "modules import each other"),
        ("rows", "import msgpack", "rows imports msgpack"),
    ],
)
def test_breaches_are_found(tmp_path, module, code, said):
    package = shutil.copytree(PACKAGE, tmp_path / "blockyard", ignore=shutil.ignore_patterns("_bin", "__pycache__"))
    changed = package / f"{module}.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}\n{code}\n", encoding="utf-8")
    wrong = breaches(imports(package))
    assert any(said in line for line in wrong), wrong
