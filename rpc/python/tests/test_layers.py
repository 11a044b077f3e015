"""Who may import whom inside the package, and why: imports run down only, and no modules import each other."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "blockyard"

# The rooms of the package from the bottom up: the names that stand directly in it (a folder stands for all modules in
# it), the rooms that they may import, and why. Modules of one room may import each other as long as there is no circle.
LAYERS = [
    ("errors", "errors", "", "everything else may fail"),
    ("formats", "formats provenance", "errors", "checking arguments, describing games and their files needs no server"),
    ("rendering", "rendering", "errors", "pictures of games need no environment"),
    ("transport", "transport", "errors formats", "it moves the bytes of a step and knows no environment"),
    (
        "vector",
        "vector",
        "errors formats rendering transport",
        "the vector environment reaches servers only through the transport",
    ),
    ("networks", "networks policies", "errors formats transport vector", "no environment needs a network"),
    ("evaluation", "evaluation", "errors formats transport vector", "no environment plays matches"),
    ("pool", "pool", "errors formats transport vector", "it is made of vector environments"),
    (
        "adapters",
        "pettingzoo rllib sb3 sb3_afterstates single torchrl trl",
        "errors formats networks rendering transport vector",
        "other forms of the vector environment, none of which it needs to know",
    ),
    (
        "package",
        "__init__ __main__ commands",
        "errors formats transport vector networks evaluation pool adapters",
        "the names that users import, and the command line",
    ),
]

# Which modules may import a library, and why. Others may be imported anywhere.
ADAPTERS = "an adapter's library is optional"
ONLY = {
    "msgpack": ("formats.checkpoint_file transport.connection", "one module each for files and for messages"),
    "pettingzoo": ("pettingzoo", ADAPTERS),
    "stable_baselines3": ("policies sb3 sb3_afterstates", ADAPTERS),
    "torchrl": ("torchrl", ADAPTERS),
    "tensordict": ("torchrl", ADAPTERS),
    "ray": ("rllib", ADAPTERS),
    "torch": (
        "sb3_afterstates torchrl rllib formats.arrays networks.torch_modules",
        "numpy is enough for everything else",
    ),
    "tqdm": ("transport.progress", "it is optional"),
    "onnx": ("networks.onnx_model", "it is optional"),
    "onnxruntime": ("policies", "it is optional"),
    "sb3_contrib": ("sb3_afterstates policies", "it is optional"),
}

FILLER = {"return", "returns", "the", "are", "its", "for", "and", "that", "what", "which", "whether", "has", "have"}


def module_name(path: Path) -> str:
    """Return "a.b" for a/b.py, "a" for a/__init__.py, and "__init__" for that of the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}


def imports(name: str, tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the modules of ours that a module imports, and the libraries; imports in functions too."""
    here = ".".join(["blockyard", *PATHS[name].relative_to(PACKAGE).parts[:-1]])  # what "." means in it
    ours: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(tree):
        targets = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), here)
            targets = [f"{module}.{alias.name}" for alias in node.names]
        for target in targets:
            top, _, inner = target.partition(".")
            if top == "blockyard":
                ours.add(next(c for c in (inner, inner.rpartition(".")[0], "__init__") if c in PATHS))
            else:
                others.add(top)
    return ours - {name}, others


def layer_of(module: str) -> tuple[str, str, str, str]:
    """Return the layer of a module; there is one by test_rooms_are_known."""
    return next(layer for layer in LAYERS if module.partition(".")[0] in layer[1].split())


def breaches(trees: dict[str, ast.Module]) -> list[str]:
    """Return what is wrong with imports, each with the reason of the rule."""
    wrong = []
    found = {name: imports(name, tree) for name, tree in trees.items()}
    for module, (ours, others) in found.items():
        name, _, allowed, why = layer_of(module)
        for target in sorted(ours):
            layer = layer_of(target)[0]
            if layer != name and layer not in allowed.split():
                wrong.append(f"{module} ({name}) imports {target} ({layer}): {why}")
        for library in sorted(others & ONLY.keys()):
            modules, why = ONLY[library]
            if module not in modules.split():
                wrong.append(f"{module} imports {library}, only {modules} may: {why}")
    try:
        TopologicalSorter({module: ours for module, (ours, _) in found.items()}).prepare()
    except CycleError as error:
        wrong.append(f"modules import each other: {' -> '.join(error.args[1])}")
    return wrong


def test_imports_run_down():
    assert len(TREES) > 40
    assert breaches(TREES) == []
    floors: dict[str, int] = {}
    for name, _, allowed, _ in LAYERS:  # a layer may import only lower ones: of others there is no floor
        floors[name] = 1 + max((floors[lower] for lower in allowed.split()), default=0)
    assert max(floors.values()) <= 7, floors
    for module, code, said in (
        ("errors", "from .vector.env import BlockVectorEnv", "errors (errors) imports vector.env (vector)"),
        ("transport.connection", "def f(): from ..vector.batch import Batch", "(transport) imports vector.batch"),
        ("rendering.svg", "import blockyard.formats.spec", "rendering.svg (rendering) imports formats.spec"),
        ("transport.server", "from .. import vector", "transport.server (transport) imports vector"),
        ("formats.spec", "from .arrays import pack", "modules import each other"),
        ("vector.batch", "import msgpack", "vector.batch imports msgpack"),
    ):
        text = f"{PATHS[module].read_text(encoding='utf-8')}\n{code}\n"
        wrong = breaches({**TREES, module: ast.parse(text)})
        assert any(said in line for line in wrong), wrong


def test_rooms_are_known():
    """A newcomer who lists the package meets these names only."""
    names = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert names == {name for _, modules, _, _ in LAYERS for name in modules.split()}, "which room is it part of?"
    assert len(names) <= 21


def test_functions_are_short():
    """A function has at most 45 lines with a statement or a part of one: no comment, blank line or docstring."""
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                parts = [n for part in node.body[bool(ast.get_docstring(node)) :] for n in ast.walk(part)]
                lines = {line for n in parts if hasattr(n, "lineno") for line in (n.lineno, n.end_lineno)}
                assert len(lines) <= 45, f"{module}: split {node.name}"


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
    classes = {n.name: n for tree in TREES.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    found = [f"{module}: {name}" for module, tree in TREES.items() for name in speechless(tree, classes)]
    assert not found
    for text, names in {
        "": ["the module"],
        "'x'\ndef f(): 'Return the f.'": ["f"],
        "'x'\ndef f(): 'Return the square root.'\ndef _g(): pass": [],
        "'x'\nclass A:\n 'A list of games.'\n def b(self): pass": ["A.b"],
        "'x'\nclass C(Infos): 'Some lazy values.'; put = clear = 1": [],
        "'x'\nclass C(Infos):\n 'Some lazy values.'\n def put(self): pass": [],
    }.items():
        assert speechless(ast.parse(text), classes) == names, text
