"""Who may import whom inside the package, and why: imports run down only, and no modules import each other."""

from __future__ import annotations

import ast
import re
import shutil
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "blockyard"

# The rooms of the package from the bottom up: the names that stand directly in it (a folder stands for all modules in
# it), the rooms that they may import, and why. Modules of one room may import each other as long as there is no circle.
LAYERS: list[tuple[str, set[str], set[str], str]] = [
    ("errors", {"errors"}, set(), "everything else may fail"),
    (
        "formats",
        {"formats", "provenance"},
        {"errors"},
        "checking arguments, describing games and their files needs no server",
    ),
    ("rendering", {"rendering"}, {"errors"}, "pictures of games need no environment"),
    ("transport", {"transport"}, {"errors", "formats"}, "it moves the bytes of a step and knows no environment"),
    (
        "vector",
        {"vector"},
        {"errors", "formats", "rendering", "transport"},
        "the vector environment reaches servers only through the transport",
    ),
    (
        "networks",
        {"networks", "policies"},
        {"errors", "formats", "transport", "vector"},
        "no environment needs a network",
    ),
    ("evaluation", {"evaluation"}, {"errors", "formats", "transport", "vector"}, "no environment plays matches"),
    ("pool", {"pool"}, {"errors", "formats", "transport", "vector"}, "it is made of vector environments"),
    (
        "adapters",
        {"pettingzoo", "rllib", "sb3", "sb3_afterstates", "single", "torchrl"},
        {"errors", "formats", "networks", "rendering", "transport", "vector"},
        "other forms of the vector environment, none of which it needs to know",
    ),
    (
        "package",
        {"__init__", "__main__", "commands"},
        {"errors", "formats", "transport", "vector", "networks", "evaluation", "pool", "adapters"},
        "the names that users import, and the command line",
    ),
]

# Which modules may import a library, and why. Others may be imported anywhere.
ONLY = {
    "msgpack": ({"formats.checkpoint_file", "transport.connection"}, "one module each for files and for messages"),
    "pettingzoo": ({"pettingzoo"}, "an adapter's library is optional"),
    "stable_baselines3": ({"policies", "sb3", "sb3_afterstates"}, "an adapter's library is optional"),
    "torchrl": ({"torchrl"}, "an adapter's library is optional"),
    "tensordict": ({"torchrl"}, "an adapter's library is optional"),
    "ray": ({"rllib"}, "an adapter's library is optional"),
    "torch": (
        {
            "sb3_afterstates",
            "torchrl",
            "formats.arrays",
            "networks.torch_modules",
        },
        "numpy is enough for everything else",
    ),
    "tqdm": ({"transport.progress"}, "it is optional"),
    "onnx": ({"networks.onnx_model"}, "it is optional"),
    "onnxruntime": ({"policies"}, "it is optional"),
    "sb3_contrib": ({"sb3_afterstates", "policies"}, "it is optional"),
}

FILLER = {"return", "returns", "the", "are", "its", "for", "and", "that", "what", "which", "whether", "has", "have"}


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
    assert len(names) <= 21


def trees() -> dict[str, ast.Module]:
    files = sorted(PACKAGE.rglob("*.py"))
    return {module_name(path, PACKAGE): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_functions_are_short():
    """A function has at most 45 lines with a statement or a part of one: no comment, blank line or docstring."""
    long = []
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                parts = [n for part in node.body[bool(ast.get_docstring(node)) :] for n in ast.walk(part)]
                if len({line for n in parts if hasattr(n, "lineno") for line in (n.lineno, n.end_lineno)}) > 45:
                    long.append(f"{module}: {node.name}")
    assert not long, "split them"


def speechless(tree: ast.Module, classes: dict[str, ast.ClassDef]) -> list[str]:
    """Return the public functions, classes and methods that have no sentence of their own, or none at all.

    A method has that of a base class, as in Python. A sentence says more than the name: two words that are not in it.
    """
    found = [] if ast.get_docstring(tree) else ["the module"]

    def inherits(owner: ast.ClassDef, name: str) -> bool:
        names = [getattr(base, "id", getattr(base, "attr", "")) for base in owner.bases]
        bases = [classes[base] for base in names if base in classes]
        own = [n for base in bases for n in base.body if getattr(n, "name", "") == name]
        return any(map(ast.get_docstring, own)) or any(inherits(base, name) for base in bases)

    def visit(owner: ast.Module | ast.ClassDef, prefix: str) -> None:
        for n in owner.body:
            if not isinstance(n, (ast.FunctionDef, ast.ClassDef)) or n.name.startswith("_"):
                continue
            name = prefix + n.name
            words = set(re.findall("[a-z]{3,}", (ast.get_docstring(n) or "").lower())) - FILLER
            said = len([w for w in words if w[: max(4, len(w) - 2)] not in name.lower()]) > 1
            overload = any(getattr(d, "id", "") == "overload" for d in n.decorator_list)
            if not said and not overload and not (isinstance(owner, ast.ClassDef) and inherits(owner, n.name)):
                found.append(name)
            if isinstance(n, ast.ClassDef):
                visit(n, f"{name}.")

    visit(tree, "")
    return found


def test_public_names_have_a_sentence():
    """Every public name says what it promises, and not only its name."""
    every = trees()
    classes = {n.name: n for tree in every.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    found = [f"{module}: {name}" for module, tree in every.items() for name in speechless(tree, classes)]
    assert not found
    for text, names in {
        "": ["the module"],
        "'x'\ndef f(): 'Return the f.'": ["f"],
        "'x'\ndef f(): 'Return the square root.'\ndef _g(): pass": [],
        "'x'\nclass A:\n 'A list of games.'\n def b(self): pass": ["A.b"],
        "'x'\nclass C(Infos): 'Some lazy values.'; update = clear = 1": [],
        "'x'\nclass C(Infos):\n 'Some lazy values.'\n def update(self): pass": [],
    }.items():
        assert speechless(ast.parse(text), classes) == names, text


@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("errors", "from .vector.env import BlockVectorEnv", "errors (errors) imports vector.env (vector)"),
        (
            "transport/connection",
            "def f():\n    from ..vector.batch import Batch",
            "transport.connection (transport) imports vector.batch",
        ),
        ("rendering/svg", "import blockyard.formats.spec", "rendering.svg (rendering) imports formats.spec"),
        ("transport/server", "from .. import vector", "transport.server (transport) imports vector"),
        ("formats/spec", "from .arrays import pack", "modules import each other"),
        ("vector/batch", "import msgpack", "vector.batch imports msgpack"),
    ],
)
def test_breaches_are_found(tmp_path, module, code, said):
    package = shutil.copytree(PACKAGE, tmp_path / "blockyard", ignore=shutil.ignore_patterns("_bin", "__pycache__"))
    changed = package / f"{module}.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}\n{code}\n", encoding="utf-8")
    wrong = breaches(imports(package))
    assert any(said in line for line in wrong), wrong


# Names that begin with a line and are not this package's.
FOREIGN = {"_getframe", "_replace", "_fields", "_last_obs"}


def test_what_is_private_stays_in_its_file():
    """A name with a line before it belongs to the object itself, to its subclasses and to its file."""
    wrong = []
    for module, tree in trees().items():
        own = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_self(node.value)}
        own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            private = isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
            if private and not is_self(node.value) and node.attr not in own | FOREIGN:
                wrong.append(f"{module}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong


def is_self(node: ast.expr) -> bool:
    """Whether an expression is the object itself, or the part of it that a subclass has inherited."""
    return ast.unparse(node) in ("self", "cls", "super()")
