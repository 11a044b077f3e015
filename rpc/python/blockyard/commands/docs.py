"""``blockyard docs``: the pages of the documentation, which are in the package."""

import argparse
import pydoc
import re
import shutil
import sys
import textwrap
from pathlib import Path

ABOUT = """\
list the pages of the documentation, or print one

The list says where they are.
A PAGE is named as messages and help texts name it, such as docs/contest.md or
agents/JSON.md; its last word does."""

PAGES = ("README.md", "rpc/python/README.md", "rpc/python/docs/*.md", "rpc/python/docs/skills/*/SKILL.md",
         "env/*/RULES.md", "agents/*.md", "agents/submit/starters/*/README.md", "rpc/*.md", "train/*.md",
         ".github/SECURITY.md")  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard docs``."""
    parser.add_argument("page", nargs="?", metavar="PAGE", help="page to print, such as first")


def run(args: argparse.Namespace) -> int:
    """Print the list of pages, or one of them; return the exit status."""
    folder = folder_of_pages()
    pages = [page for pattern in PAGES for page in sorted(folder.glob(pattern))]
    if args.page:
        names = {f"/{page.relative_to(folder).with_suffix('').as_posix().lower()}": page for page in reversed(pages)}
        want = "/" + args.page.lower().removesuffix(".md").strip("/")
        found = [page for name, page in names.items() if name.endswith(want)]
        if not found:
            near = ", ".join(name[1:] for name in reversed(names) if want[1:] in name)
            raise ValueError(f"docs: no page {args.page!r:.80}{near and '; near it: '}{near}; blockyard docs lists all")
        text = found[-1].read_text(encoding="utf-8")
        if sys.stdout.isatty():
            pydoc.pager(wrapped(text, shutil.get_terminal_size().columns))
        else:
            print(text)
        return 0
    for page in pages:
        title = page.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]
        print(f"  {page.relative_to(folder).with_suffix('').as_posix():<28} {title}"[:79])
    print(f"\nblockyard docs PAGE prints one. They are in\n{folder}\nblockyard example lists and runs the examples.")
    return 0


def folder_of_pages() -> Path:
    """Return the folder that the paths of pages begin in: that of the wheel's, or the checkout."""
    package = Path(__file__).resolve().parents[1]
    return package / "_docs" if (package / "_docs").is_dir() else package.parents[2]


def wrapped(text: str, width: int) -> str:
    """Return a page with its paragraphs and lists in lines of at most so many columns; tables and code stay."""
    apart = r"(^```.*?^```$|^[|#][^\n]*$|^    [^\n]*$|\n(?=\n)|\n(?= *(?:[*-]|\d+\.) ))"
    parts = re.split(apart, text, flags=re.M | re.S)
    for k in range(0, len(parts), 2):
        words, indent = " ".join(parts[k].split()), "  " * bool(re.match(r"\s*(?:[*-]|\d+\.) ", parts[k]))
        lines = textwrap.fill(words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        parts[k] = "\n" * parts[k].startswith("\n") + lines + "\n" * (len(parts[k]) > 1 and parts[k].endswith("\n"))
    return "".join(parts)
