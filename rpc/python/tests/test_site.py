"""The documentation site builds without a warning and loads nothing from elsewhere; every link leads somewhere."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import griffe
import programs
import pytest
import yaml

import blockyard

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
sys.path.append(str(HERE / "pages"))

import cards  # noqa: E402
import docstring_tables  # noqa: E402
import repository  # noqa: E402

ADAPTERS = ("sb3", "sb3_afterstates", "pettingzoo", "torchrl", "rllib", "trl")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    how = {"cwd": HERE, "env": {**os.environ, "NO_MKDOCS_2_WARNING": "1"}, "timeout": 1500}
    programs.printed("-m", "mkdocs", "build", "--strict", "--quiet", "-d", folder, **how)
    return folder


def test_nothing_is_loaded_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]* src=\"?([^\" >]+)", text)
        loaded += re.findall(r"<link [^>]*rel=\"?(?:stylesheet|preload|icon)[^>]*href=\"?([^\" >]+)", text)
        assert loaded or page.name.endswith("-game.html"), page  # players are whole documents
        assert not [url for url in loaded if url.startswith(("http", "//"))], page
        for url in loaded:
            if not url.startswith("data:") and page.name != "404.html":
                assert (page.parent / re.split("[?#]", url)[0]).is_file(), f"{page}: {url}"


def test_tables_fit_the_window(site):
    """No table of the pages that a reader begins with is cut off, in windows of two widths."""
    names = (os.environ.get("CHROMIUM"), "chromium-headless-shell", "headless-shell", "chromium", "google-chrome")
    browser = next(filter(None, (shutil.which(name) for name in names if name)), None)
    assert browser, "pages are looked at in a real browser: install Chromium, or name one in CHROMIUM"
    windows = [(page, width) for page in ("python", "index", "project", "leagues") for width in (1280, 1440)]
    text = "".join(f"<iframe src={page}.html width={width} height=900></iframe>" for page, width in windows)
    over = "[...d.querySelectorAll('table')].map((t) => t.scrollWidth - t.parentElement.parentElement.clientWidth)"
    text += f"<script>onload=()=>{{document.title=Array.from(frames,({{document:d}})=>Math.max(...{over}))}}</script>"
    (measured := site / "measured.html").write_text(text, encoding="utf-8")
    command = [browser, "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"]
    shown = subprocess.run([*command, "--dump-dom", measured.as_uri()], capture_output=True, text=True, check=True)
    measured.unlink()
    pixels = re.search(r"<title>([^<]*)", shown.stdout)[1].split(",")
    assert {window: k for window, k in zip(windows, pixels, strict=True) if not -9999 < float(k) <= 0} == {}


def test_the_licenses_are_in_it(site):
    notices = (site / "NOTICES").read_text(encoding="utf-8")
    for package in ("mkdocs 1.", "mkdocs-material 9.", "mkdocstrings 1."):
        assert f"\n  {package}" in notices
    assert ".icons/material/LICENSE\n" in notices
    assert (site / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (site / "playground/NOTICES").read_bytes() == (ROOT / ".github/NOTICES").read_bytes()


def test_the_index_for_language_models(site):
    """llms.txt has the form of llmstxt.org, and leads to pages of the site in Markdown."""
    head, *sections = (site / "llms.txt").read_text(encoding="utf-8").split("\n## ")
    assert re.match(r"# Blockyard\n\n(> .+\n)+\n", head)
    assert {"Skills", "Optional"} <= {section.partition("\n")[0] for section in sections}
    for section in sections:
        for line in section.strip().splitlines()[2:]:
            target = re.fullmatch(r"- \[[^\]]+\]\(([^)]+\.md)\): .+", line)
            assert target, line
            assert re.search("^# ", (site / target[1]).read_text(encoding="utf-8"), re.M), line


def test_the_markdown_was_understood(site):
    for page in site.rglob("*.html"):
        if page.relative_to(site).parts[0] == "source":
            continue
        text = page.read_text(encoding="utf-8")
        ids = re.findall(r' id="?([^" >]+)', text)
        within = [unquote(html.unescape(anchor)) for anchor in re.findall(r' href="?#([^" >]+)', text)]
        assert not set(within).difference(ids), f"{page}: links within the page that lead nowhere"
        text = re.sub(r"<(pre|code|svg|script)\b.*?</\1>", "", text, flags=re.S)
        assert not re.findall(r"<p>[^<]*\n(?:[-*+] |\|)[^<]*", text), f"{page}: want an empty line before the list"
        assert "```" not in text, f"{page}: code between fences is not marked as code"
        assert not re.search(r":(?:func|class|meth|attr|mod):", text), f"{page}: a role of a docstring is visible"


@pytest.mark.parametrize("game", repository.GAMES)
def test_cards(site, game):
    text = (site / f"games/{game}.html").read_text(encoding="utf-8")
    with blockyard.connect() as client:
        spec = client.describe(game)
    facts = (spec.id, f"Discrete({spec.actions})", f"float32 ({len(spec.global_names)},)", *spec.global_names)
    headings = ("Rules", "Actions", "Observation", "Rewards and end", "Baselines", "Watch a game", "Cite")
    parts = [html.escape(fact, quote=False) for fact in facts]
    for part in [*parts, *(f'id="{h.lower().replace(" ", "-")}"' for h in headings)]:
        assert part in text, part
    for theme in ("light", "dark"):
        frames = (site / f"games/{game}-{theme}.svg").read_text(encoding="utf-8").count('<g class="f"')
        assert 20 <= frames <= 40


def test_every_game_has_a_card():
    with blockyard.connect() as client:
        assert {game["name"].partition(":")[0] for game in client.games()} == set(repository.GAMES) == set(cards.LABELS)


def test_results_of_a_game_are_taken_from_the_readme():
    table = "| game | score |\n|---|---|\n| A | 1 |\n| B, 2 seats | 2 |\n"
    readme = f"## Evaluate\n\n{table}\n## Export to a contest\n\n## Speed\n\n{table}"
    assert cards.scores(readme, ("B",)) == ["| game | score |\n|---|---|\n| B, 2 seats | 2 |"]


def test_sections_of_a_package_comment_become_tables():
    code = "// # Actions (3)\n//\n//\ta*2  one\n//\t     more\n//\n// See rules\n// \u00a71.2.\n//\n// # X\npackage g\n"
    text = cards.tables(cards.section_of(code, "Actions"), "g")
    assert text == "\n| | |\n|---|---|\n| `a*2` | one more |\n\nSee [rules \u00a71.2](g-rules.md)."


def test_tables_of_docstrings_become_markdown():
    text = "A.\n\n===  ===\nh    i\n===  ===\na    b\n     c\n===  ===\n\nB.\n\n==  ==\na   b\n==  =="
    want = "A.\n\n| h | i |\n| --- | --- |\n| a | b c |\n\nB.\n\n|  |  |\n| --- | --- |\n| a | b |"
    assert docstring_tables.markdown(text) == want


def test_every_public_name_is_on_one_page_of_the_reference(site):
    named = re.findall(
        r"^::: blockyard\.(\w+)$", "".join(p.read_text() for p in (HERE / "docs/api").glob("*.md")), re.M
    )
    assert sorted(named) == sorted({*blockyard.__all__, *ADAPTERS} - {"AutoresetMode"})  # Gymnasium's
    text = (site / "api/environments.html").read_text(encoding="utf-8")
    for name in ("BlockVectorEnv.afterstates", "BlockVectorEnv.action_masks", "BlockVectorEnv.step", "Client.games"):
        assert f'id="blockyard.{name}"' in text


# Attributes that the libraries define and document.
THEIRS = {"metadata", "render_mode", "closed", "num_envs", "agents", "possible_agents", "observation_space",
          "action_space", "observation_spaces", "action_spaces", "single_observation_space", "single_action_space",
          "batch_locked", "observation_spec", "action_spec", "reward_spec", "full_done_spec"}  # fmt: skip


def test_every_attribute_has_documentation():
    """Those of public classes; ruff wants a sentence of the classes, functions and methods themselves."""
    package = griffe.load("blockyard", search_paths=[str(HERE)])
    public = [package[name] for name in {*blockyard.__all__} - {"AutoresetMode"}]
    for module in ADAPTERS:
        public += [one for name, one in package[module].members.items() if not (one.is_alias or name.startswith("_"))]
    classes = [one for one in (one.final_target if one.is_alias else one for one in public) if one.is_class]
    assert len(classes) > 20
    for cls in classes:
        texts = [c.docstring.value.partition("Attributes:\n")[2] for c in [cls, *cls.mro()] if c.docstring]
        described = re.findall(r"^ +([\w, ]+):", "\n".join(texts), re.M)
        known = THEIRS.union(*(words.split(", ") for words in described))
        silent = [name for name, one in cls.all_members.items() if name[0] != "_" and one.docstring is None]
        assert not set(silent) - known, cls.path


def tracked() -> list[str]:
    """Return the Markdown files of the repository, one of which is llms.txt."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*llms.txt"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("path", tracked())
def test_links_between_files(path):
    repository.links(path, (ROOT / path).read_text(encoding="utf-8"))


def test_a_link_that_leads_nowhere_is_found():
    with pytest.raises(FileNotFoundError, match=r"a/b.md: the link to c.md#x leads nowhere: there is no a/c.md"):
        repository.links("a/b.md", "See [`c`](c.md#x).")
    assert repository.links("README.md", "`[x](y.md)`\n```\n[x](y.md)\n```\n[x](#y) [x](https://y.md)") == []


def test_citations_agree():
    """The first page and the cards of games cite authors, title and year as CITATION.cff does."""
    cff = yaml.safe_load((ROOT / ".github/CITATION.cff").read_text(encoding="utf-8"))
    author, title, year = cff["authors"][0]["name"], cff["title"], str(cff["date-released"])[:4]
    card = cards.cite(SimpleNamespace(id="Blocking-v0", rules=1))
    for text in (card, (HERE / "docs/index.md").read_text(encoding="utf-8")):
        fields = dict(re.findall(r"^  (\w+) *= (\{.*\}),$", text, re.M))
        want = {"author": f"{{{{{author}}}}}", "title": f"{{{title}}}", "year": f"{{{year}}}"}
        assert fields.items() >= want.items(), text


def test_links_lead_to_pages():
    text = "[a](../PROTOCOL.md#1) [b](blockyard/formats/spec.py) [c](docs) "
    text += "![d](../../env/blocking/pictures/forms.svg) `a\\|b`"
    assert repository.site_text("rpc/python/README.md", text) == (
        "[a](protocol.md#1) [b](source/rpc/python/blockyard/formats/spec.py.md) c "
        "![d](source/env/blocking/pictures/forms.svg) `a|b`"
    )
