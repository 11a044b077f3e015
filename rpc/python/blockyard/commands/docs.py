"""``blockyard docs``: the pages of the documentation, which are in the package."""

import argparse
from pathlib import Path

ABOUT = """\
list the pages of the documentation and say where they are, or print one

A PAGE is named as messages and help texts name it, such as docs/contest.md or
agents/JSON.md; its last word does."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard docs``."""
    parser.add_argument("page", nargs="?", metavar="PAGE", help="page to print, such as first")


def run(args: argparse.Namespace) -> int:
    """Print the list of pages, or one of them; return the exit status."""
    package = Path(__file__).resolve().parents[1]
    folder = package / "_docs" if (package / "_docs").is_dir() else package.parents[2]  # of a checkout
    python = [folder / "rpc/python/README.md", *sorted(folder.glob("rpc/python/docs/*.md"))]
    pages = [folder / "README.md", *python]
    for place in ("rpc/python/docs/skills/*/SKILL.md", "env/*/RULES.md", "agents/*.md", "rpc/*.md", "train/*.md"):
        pages += sorted(folder.glob(place))
    if args.page:
        names = {f"/{page.relative_to(folder).with_suffix('').as_posix().lower()}": page for page in reversed(pages)}
        want = "/" + args.page.lower().removesuffix(".md").strip("/")
        found = [page for name, page in names.items() if name.endswith(want)]
        if not found:
            raise ValueError(f"docs: no page {args.page!r:.80}; blockyard docs lists them")
        print(found[-1].read_text(encoding="utf-8"))
        return 0
    for page in pages:
        title = page.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]
        print(f"  {page.relative_to(folder).with_suffix('').as_posix():<28} {title}"[:79])
    print(f"\nblockyard docs PAGE prints one. They are in\n{folder}\nand examples in {folder / 'rpc/python/examples'}")
    return 0
