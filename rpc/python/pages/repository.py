"""Pages of the site that are Markdown files elsewhere in the repository, and links to files that are no pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = "rpc/python/docs/"
CARDS = (f"{DOCS}games/", f"{DOCS}playground/")  # written while the site is built; MkDocs checks links to them
GAMES = ("blockbattle", "tetrisduel", "blocking", "wintetris", "dropblox")

# Pages of the site by file of the repository.
PAGES = {
    "README.md": "project.md",
    ".github/CHANGELOG.md": "changelog.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    ".github/SECURITY.md": "security.md",
    "agents/JSON.md": "json.md",
    "agents/submit/wintetris/README.md": "starters/wintetris-plugin.md",
    "rpc/PROTOCOL.md": "protocol.md",
    "rpc/deploy/README.md": "deploy.md",
    "rpc/python/README.md": "python.md",
    "rpc/bench/README.md": "benchmarks.md",
    "rpc/bench/results/results.md": "benchmark-results.md",
    "train/README.md": "train.md",
    "train/EXPERIMENTS.md": "experiments.md",
    **{f"env/{game}/RULES.md": f"games/{game}-rules.md" for game in GAMES},
    **{f"agents/submit/starters/{game}/README.md": f"starters/{game}.md" for game in GAMES},
}
PICTURES = (".svg", ".png")
LANGUAGES = {".go": "go", ".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".java": "java",
             ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".sbatch": "bash", ".md": "markdown"}  # fmt: skip

_FENCE = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)[^\n]*$)", re.M | re.S)
_CODE = re.compile(r"(`+[^`]*`+)")
LINK = re.compile(r"(?<=\])\(([^()\s]+)\)")
_FOLDER = re.compile(r"\[([^\]]*)\]\(([^()\s]+)\)")
_COMMENT = re.compile(r"^<!--.*?-->\n", re.M | re.S)


def prose(text: str, change: Callable[[str], str]) -> str:
    """Return a Markdown text with its parts outside of fenced code changed."""
    return "".join(part if k % 2 else change(part) for k, part in enumerate(_FENCE.split(text)))


def page_of(path: str) -> str:
    """Return the page of the site that shows a file of the repository."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    if path in PAGES:
        return PAGES[path]
    return f"source/{path}" if path.endswith(PICTURES) else f"source/{path}.md"


def links(path: str, text: str) -> list[str]:
    """Return the files and folders of the repository that a file links to.

    Raises:
        FileNotFoundError: a link leads nowhere; the message names the file and the link.
    """
    found: list[str] = []

    def collect(part: str) -> str:
        for target in LINK.findall("".join(_CODE.split(part)[::2])):
            if (where := _target(path, target)) is not None:
                found.append(where)
        return part

    prose(text, collect)
    return found


def _target(path: str, target: str) -> str | None:
    """Return the file that a link of a file leads to; None if it leads out of the repository or into the same file."""
    name = target.partition("#")[0]
    if not name or re.match(r"[a-z]+:", name):
        return None
    where = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if where.startswith(CARDS):
        return where
    if where.startswith("..") or not (ROOT / where).exists():
        raise FileNotFoundError(f"{path}: the link to {target} leads nowhere: there is no {where}")
    return where


def _is_folder(path: str, target: str) -> bool:
    """Return whether a link leads to a folder, which has no page."""
    where = _target(path, target)
    return where is not None and (ROOT / where).is_dir()


def site_text(path: str, text: str) -> str:
    """Return a Markdown file of the repository as a page of the site: its links lead to pages."""
    own = posixpath.dirname(page_of(path))

    def relink(match: re.Match[str]) -> str:
        where = _target(path, match[1])
        if where is None:
            return match[0]
        _, mark, anchor = match[1].partition("#")
        return f"({posixpath.relpath(page_of(where), own or '.')}{mark}{anchor})"

    def change(part: str) -> str:
        part = _FOLDER.sub(lambda match: match[1] if _is_folder(path, match[2]) else match[0], _COMMENT.sub("", part))
        pieces = _CODE.split(part)
        pieces[::2] = [LINK.sub(relink, piece) for piece in pieces[::2]]
        pieces[1::2] = [piece.replace(r"\|", "|") for piece in pieces[1::2]]  # GitHub wants it in tables
        return "".join(pieces)

    return prose(text, change)


def source_text(path: str) -> str:
    """Return a page that shows a file of the repository as code, and that a search does not look into."""
    fence = "~~~~~~"
    text = (ROOT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(Path(path).suffix, "text")
    head = "---\nsearch:\n  exclude: true\n---\n"
    return f"{head}# {Path(path).name}\n\n`{path}`\n\n{fence} {language}\n{text.rstrip()}\n{fence}\n"
