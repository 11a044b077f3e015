"""What MkDocs calls while it builds the site: adds pages from the rest of the repository and from the server."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from pathlib import Path
from typing import Any

import cards
import repository
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

_ROLE = re.compile(r":(?:func|class|meth|mod|attr):<code>~?([\w.]+)</code>")
_LICENSE = re.compile(r"(?i)licen[cs]e(\.txt|\.md)?")
_THEME = ("mkdocs", "mkdocs-material", "mkdocstrings")  # whose scripts, styles and icons the site contains
_PAGE = re.compile(r"(?:<code>)?\bdocs/(\w+)\.md\b(?:</code>)?")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of other folders, the files to which pages link, the arena, cards of the games, and licenses."""
    texts = {path: (repository.ROOT / path).read_text(encoding="utf-8") for path in repository.PAGES}
    for file in files.documentation_pages():
        texts[repository.DOCS + file.src_uri] = file.content_string
    try:
        linked = {where for path, text in texts.items() for where in repository.links(path, text)}
        pages = {repository.page_of(path): repository.site_text(path, text) for path, text in texts.items()}
    except FileNotFoundError as error:
        raise PluginError(str(error)) from error
    for path in sorted(linked - texts.keys()):
        if path.endswith(repository.PICTURES):
            if not path.startswith(repository.DOCS):
                files.append(File.generated(config, repository.page_of(path), abs_src_path=str(repository.ROOT / path)))
        elif (repository.ROOT / path).is_file():
            pages[repository.page_of(path)] = repository.source_text(path)
    subprocess.run(["make", "--silent", "playground"], cwd=repository.ROOT, check=True, stdout=subprocess.DEVNULL)
    playground = repository.ROOT / "bin/playground"
    for built in sorted(path for path in playground.rglob("*") if path.is_file()):
        name = f"playground/{built.relative_to(playground).as_posix()}"
        files.append(File.generated(config, name, abs_src_path=str(built)))
    license = (repository.ROOT / "LICENSE").read_text(encoding="utf-8")
    index = repository.DOCS + "llms.txt"
    pages["llms.txt"] = repository.site_text(index, (repository.ROOT / index).read_text(encoding="utf-8"))
    for name, text in {**pages, **cards.cards(), "LICENSE": license, "NOTICES": _notices()}.items():
        if (old := files.get_file_from_path(name)) is not None:
            files.remove(old)
        files.append(File.generated(config, name, content=text))
    return files


def _notices() -> str:
    """Return the licenses of what the packages of the theme add to the site."""
    parts = ["This site is under the MIT license, in the file LICENSE. The playground has its own NOTICES.\n"]
    for name in _THEME:
        package = importlib.metadata.distribution(name)
        found = [file for file in package.files or () if _LICENSE.fullmatch(file.name)]
        if not found:
            raise PluginError(f"{name} has no license file: install a version that has one, or remove it from the site")
        parts += [f"{'=' * 80}\n  {name} {package.version}: {file}\n\n{file.read_text('utf-8')}" for file in found]
    return "\n".join(parts)


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> None:
    """Write each page as Markdown too, beside its HTML: llms.txt leads there."""
    path = Path(config.site_dir, page.file.src_uri)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(markdown, encoding="utf-8")


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Turn the roles of docstrings, such as ``:func:`make_vec```, and the pages that they name into links."""
    html = _ROLE.sub(
        lambda match: f'<autoref optional identifier="{_full(match[1])}"><code>{match[1]}</code></autoref>', html
    )
    return _PAGE.sub(_link, html) if page.file.src_uri.startswith("api/") else html


def _link(match: re.Match[str]) -> str:
    title = re.search("^# (.*)", (repository.ROOT / repository.DOCS / f"{match[1]}.md").read_text("utf-8"), re.M)
    return f'<a href="../{match[1]}.html">{title[1] if title else match[1]}</a>'


def _full(name: str) -> str:
    return name if name.startswith("blockyard.") else f"blockyard.{name}"
