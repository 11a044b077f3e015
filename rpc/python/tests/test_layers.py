"""Who may import whom inside the package, and why: imports run down only, and no modules import each other."""

from __future__ import annotations

import ast
import shutil
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "blockyard"

# Modules of one line: names that users import, of modules in a room. They are no rooms, and there should be no more.
PUBLIC = ("pettingzoo", "policies", "provenance", "rllib", "sb3", "sb3_afterstates", "single", "torchrl")

# The rooms of the package from the bottom up: the names that stand directly in it (a folder stands for all modules in
# it), the rooms that they may import, and why. Modules of one room may import each other as long as there is no circle.
LAYERS: list[tuple[str, set[str], set[str], str]] = [
    ("errors", {"errors"}, set(), "everything else may fail"),
    ("formats", {"formats"}, {"errors"}, "checking arguments and describing games needs no server"),
    ("rendering", {"rendering"}, {"errors"}, "pictures of games need no environment"),
    ("transport", {"transport"}, {"errors", "formats"}, "it moves the bytes of a step and knows no environment"),
    (
        "vector",
        {"vector"},
        {"errors", "formats", "rendering", "transport"},
        "the vector environment reaches servers only through the transport",
    ),
    ("networks", {"networks"}, {"errors", "formats", "transport", "vector"}, "no environment needs a network"),
    ("evaluation", {"evaluation"}, {"errors", "formats", "transport", "vector"}, "no environment plays matches"),
    ("pool", {"pool"}, {"errors", "formats", "transport", "vector"}, "it is made of vector environments"),
    (
        "adapters",
        {"adapters"},
        {"errors", "formats", "networks", "rendering", "transport", "vector"},
        "other forms of the vector environment, none of which it needs to know",
    ),
    (
        "package",
        {"__init__", "__main__", "commands", *PUBLIC},
        {"errors", "formats", "transport", "vector", "networks", "evaluation", "pool", "adapters"},
        "the names that users import, and the command line",
    ),
]

# Which modules may import a library, and why. Others may be imported anywhere.
ONLY = {
    "msgpack": ({"transport.connection"}, "one module knows how messages are encoded"),
    "pettingzoo": ({"adapters.pettingzoo"}, "an adapter's library is optional"),
    "stable_baselines3": ({"adapters.sb3", "adapters.sb3_afterstates"}, "an adapter's library is optional"),
    "torchrl": ({"adapters.torchrl"}, "an adapter's library is optional"),
    "tensordict": ({"adapters.torchrl"}, "an adapter's library is optional"),
    "ray": ({"adapters.rllib"}, "an adapter's library is optional"),
    "torch": (
        {
            "adapters.sb3_afterstates",
            "adapters.torchrl",
            "formats.packing",
            "networks.tensors",
            "networks.torch_modules",
        },
        "numpy is enough for everything else",
    ),
    "tqdm": ({"transport.progress"}, "it is optional"),
    "onnx": ({"networks.onnx_model"}, "it is optional"),
    "onnxruntime": ({"networks.policies"}, "it is optional"),
    "sb3_contrib": ({"adapters.sb3_afterstates", "networks.policies"}, "it is optional"),
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
    floors: dict[str, int] = {}
    for name, _, allowed, _ in LAYERS:
        floors[name] = 1 + max((floors[lower] for lower in allowed), default=0)
    assert max(floors.values()) <= 7, floors


def test_rooms_are_known():
    """A newcomer who lists the package meets these names only."""
    names = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert names == set().union(*(modules for _, modules, _, _ in LAYERS)), "which room is it part of?"
    assert len(names - set(PUBLIC)) <= 12
    for name in PUBLIC:
        code = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8")).body
        assert len(code) == 2, f"{name} is the public name of a module in a room: a docstring and an import"


def test_functions_are_short():
    long = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.body:
                first = node.body[0]
                documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                begin = (first.end_lineno or 0) if documented else node.lineno
                if (node.end_lineno or 0) - begin > 85:
                    long.append(f"{path.name}: {node.name}")
    assert not long, "split them"


def test_modules_are_small():
    long = {p.name: n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text(encoding="utf-8").splitlines())) > 350}
    assert not long, "split them: a file is one thought"


@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("errors", "from .vector.env import BlockVectorEnv", "errors (errors) imports vector.env (vector)"),
        (
            "transport/stream",
            "def f():\n    from ..vector.batch import Batch",
            "transport.stream (transport) imports vector.batch",
        ),
        ("rendering/svg", "import blockyard.formats.spec", "rendering.svg (rendering) imports formats.spec"),
        ("transport/server/binary", "from ... import vector", "transport.server.binary (transport) imports vector"),
        ("formats/spec", "from .packing import pack", "modules import each other"),
        ("vector/batch", "import msgpack", "vector.batch imports msgpack"),
    ],
)
def test_breaches_are_found(tmp_path, module, code, said):
    package = shutil.copytree(PACKAGE, tmp_path / "blockyard", ignore=shutil.ignore_patterns("_bin", "__pycache__"))
    changed = package / f"{module}.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}\n{code}\n", encoding="utf-8")
    wrong = breaches(imports(package))
    assert any(said in line for line in wrong), wrong
