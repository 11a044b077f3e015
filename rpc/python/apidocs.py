"""Writes the API reference of the package as HTML.

    python rpc/python/apidocs.py [--out DIR]

Needs ``pip install pdoc``. The adapters' libraries need not be installed; the pages are the same either way. If
there is a warning or a public name without documentation, it fails and writes nothing.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent

# The modules that users import; the others are private.
PUBLIC = (
    "blockyard",
    "blockyard.sb3",
    "blockyard.pettingzoo",
    "blockyard.torchrl",
    "blockyard.rllib",
)
# Libraries of the adapters, which are replaced by stubs.
LIBRARIES = ("torch", "stable_baselines3", "sb3_contrib", "pettingzoo", "tensordict", "torchrl", "ray")

# Attributes that the libraries define and document.
THEIRS = {
    "metadata", "render_mode", "closed", "num_envs", "agents", "possible_agents", "observation_space", "action_space",
    "observation_spaces", "action_spaces", "single_observation_space", "single_action_space", "batch_locked",
    "observation_spec", "action_spec", "reward_spec", "full_done_spec",
}  # fmt: skip


class _Stub(ModuleType):
    """A stub of a library: every name in it is a class of that name."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__module__": self.__name__, "__class_getitem__": classmethod(lambda cls, _: cls)})
        setattr(self, name, made)
        return made


class _Stubs(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of the stub of a library or of a module in it."""
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in LIBRARIES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Create the stub."""
        return _Stub(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stub has no code."""


def adopt(module: ModuleType) -> None:
    """Give the public classes of a module what they inherit from private modules, so that it is on their page."""
    for cls in vars(module).values():
        if isinstance(cls, type) and cls.__module__.partition(".")[0] == "blockyard":
            for base in cls.__mro__[1:]:
                private = base.__module__.startswith("blockyard.") and base.__module__ not in PUBLIC
                for name, member in vars(base).items() if private else ():
                    if not name.startswith("_") and name not in vars(cls):
                        setattr(cls, name, member)


def undocumented(name: str) -> Iterator[str]:
    """Yield the public names of a module, and of its classes, that have no documentation."""
    import pdoc.doc

    module = pdoc.doc.Module.from_name(name)
    if not module.docstring:
        yield name
    for member in module.members.values():
        home = getattr(member.obj, "__module__", name)
        ours = (
            home.partition(".")[0] == "blockyard" if name == "blockyard" else home == name
        )  # otherwise it was imported
        if member.name.startswith("_") or member.kind == "module" or not ours:
            continue
        if not member.docstring and not isinstance(member, pdoc.doc.Variable):
            yield member.fullname
        if isinstance(member, pdoc.doc.Class):
            yield from _undocumented_members(member)


def _undocumented_members(cls: Any) -> Iterator[str]:
    """Yield the members of a class that neither they nor the Attributes of the class document."""
    attributes = {name for base in inspect.getmro(cls.obj) for name in _words(base.__doc__ or "")}
    for member in cls.members.values():
        taken_from = member.taken_from[0].partition(".")[0]
        if member.name.startswith("_") or taken_from != cls.obj.__module__.partition(".")[0] or member.docstring:
            continue
        if member.kind == "variable" and member.name in attributes | THEIRS:
            continue
        yield member.fullname


def _words(text: str) -> set[str]:
    """Return the names in the Attributes section of a docstring."""
    names: set[str] = set()
    for line in inspect.cleandoc(text).partition("Attributes:\n")[2].splitlines():
        before, colon, _ = line.partition(":")
        if colon:
            names |= {name.strip() for name in before.split(",")}
    return names


def write(folder: Path) -> list[str]:
    """Write the pages, and return their problems."""
    import pdoc
    import pdoc.render

    finder = _Stubs()
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, str(HERE))
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            adopt(importlib.import_module(PUBLIC[0]))
            pdoc.render.configure(docformat="google", show_source=False, footer_text="blockyard")
            pdoc.pdoc(PUBLIC[0], f"!{PUBLIC[0]}.", *PUBLIC[1:], output_directory=folder)
            missing = [f"{name} has no documentation" for module in PUBLIC for name in undocumented(module)]
    finally:
        sys.path.remove(str(HERE))
        sys.meta_path.remove(finder)
    return [str(w.message) for w in said if "pdoc" in w.filename or "blockyard" in str(w.message)] + missing


def main() -> int:
    """Write the reference; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the API reference of blockyard as HTML.")
    parser.add_argument("--out", type=Path, default=HERE / "site", metavar="DIR", help="folder to write (%(default)s)")
    args = parser.parse_args()
    if importlib.util.find_spec("pdoc") is None:
        parser.error(f"{sys.executable} has no pdoc: pip install pdoc")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=args.out.parent) as made:
        if wrong := write(Path(made) / "site"):
            print("\n".join(wrong), file=sys.stderr)
            return 1
        shutil.rmtree(args.out, ignore_errors=True)
        (Path(made) / "site").replace(args.out)
    print(f"{args.out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
