"""``blockyard example``: the example programs, which are in the package."""

import argparse
import ast
import importlib.util
import subprocess
import sys
import textwrap

from .docs import folder_of_pages

ABOUT = """\
list the examples, or run one

blockyard example ppo_afterstates --help says what that one does, and what can
be set. An example is a file to copy and to change; the list says where they
are."""

PACKAGES = {"sb3_contrib": "sb3-contrib", "stable_baselines3": "stable-baselines3"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard example``."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="example to run, such as quickstart")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="what the example is given")


def run(args: argparse.Namespace) -> int:
    """Print the list of examples, or run one; return the exit status."""
    folder = folder_of_pages() / "rpc/python/examples"
    texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py"))}
    if not args.name:
        for name, text in texts.items():
            if "ArgumentParser" in text:
                line = f"  {name:<19} {(ast.get_docstring(ast.parse(text)) or '').splitlines()[0]}"
                print(textwrap.fill(line, 79, subsequent_indent=22 * " ", break_on_hyphens=False))
        print(f"\nblockyard example NAME --help tells more, and what can be set. They are in\n{folder}")
        return 0
    name = args.name.removesuffix(".py")
    if "ArgumentParser" not in texts.get(name, ""):
        raise ValueError(f"example: none is named {name!r:.80}; blockyard example lists them")
    script = ast.parse(texts[name])
    if missing := [mod for mod in imports(script) if mod not in texts and not importlib.util.find_spec(mod)]:
        if {"-h", "--help"} & set(args.options):
            print(f"{ast.get_docstring(script)}\n", flush=True)
        packages = " ".join(PACKAGES.get(module, module) for module in missing)
        raise ImportError(f"example {name} needs what is not installed here: pip install {packages}")
    return subprocess.call([sys.executable, str(folder / f"{name}.py"), *args.options])


def imports(script: ast.Module) -> list[str]:
    """Return the names of the modules that a script imports when it starts."""
    found: dict[str, None] = {}
    for node in script.body:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= dict.fromkeys(name.partition(".")[0] for name in names)
    return list(found)
