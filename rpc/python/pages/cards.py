"""The card of each game: its rules in short, a picture, its spaces, baselines, a game to watch, a citation.

Everything on a card has its source elsewhere: the rules in RULES.md, the tables in the game's doc.go and in the
answer of the server, the scores in README.md.
"""

from __future__ import annotations

import re

import movie
import repository

import blockyard

# The first cells of a game's rows in the tables of README.md begin with one of these.
LABELS = {
    "blockbattle": ("AI Block Battle", "Block Battle"),
    "tetrisduel": ("Tetris duel",),
    "blocking": ("Blocking",),
    "wintetris": ("WinTetris",),
    "dropblox": ("Dropblox",),
}
TURNS = {"simultaneous": "at the same time", "alternating": "in turn", "single": "alone"}
SECTIONS = {
    "Actions": "Actions",
    "Observation": "Observation",
    "Rewards and end": "Score, result and end",
    "Coordinates": "Coordinates",
}


def cards() -> dict[str, str]:
    """Return the pages, pictures and players of all games, by path in the site."""
    made, specs = {}, []
    with blockyard.connect() as client:
        for game in repository.GAMES:
            record = repository.ROOT / "datasets/games" / f"{game}.jsonl"
            spec = client.describe(game)
            specs.append(spec)
            shown = movie.frames(client, record)
            made[f"games/{game}.md"] = card(spec, _example(client, spec))
            made[f"games/{game}-game.html"] = blockyard.view(record).html
            for theme in movie.THEMES:
                pictures = [picture[theme] for picture in shown]
                made[f"games/{game}-{theme}.svg"] = movie.movie(pictures, f"A game of {title(game)}")
    made["games/index.md"] = index(specs)
    return made


def title(game: str) -> str:
    """Return the name of a game for people."""
    return LABELS[game][0]


def _read(path: str) -> str:
    return (repository.ROOT / path).read_text(encoding="utf-8")


def _example(client: blockyard.Client, spec: blockyard.GameSpec) -> str:
    return client.text(spec.name, [spec.actions // 3])[0]


def card(spec: blockyard.GameSpec, example: str) -> str:
    """Return the card of a game as Markdown."""
    game = spec.name
    rules, code = _read(f"env/{game}/RULES.md"), _read(f"env/{game}/doc.go")
    parts = [
        f"# {title(game)}",
        rules.split("\n\n")[1],
        f"![A game of {title(game)}]({game}-light.svg#only-light){{ .movie }}"
        f"![A game of {title(game)}]({game}-dark.svg#only-dark){{ .movie }}",
        f"[Play it against `learned` in this browser](../playground/index.html#{game})"
        "{ .md-button .md-button--primary }",
        facts(spec, example),
        "```python\nimport blockyard\n\n"
        f'env = blockyard.make_vec("{spec.id}", num_envs=64, seed=1)\nobs, infos = env.reset()\n```',
        "## Rules",
        in_short(rules),
        f"[Rules and {'interface' if game == 'wintetris' else 'protocol'}]({game}-rules.md) has every detail, with "
        f"pictures; [starters](../starters/{game}.md) are programs to begin with.",
    ]
    for heading, section in SECTIONS.items():
        parts += [f"## {heading}", tables(section_of(code, section), game)]
        if section == "Observation":
            parts.append(all_globals(spec))
    parts += [
        "## Baselines",
        "Scores are explained [here](../project.md#evaluate). Commands are of `go run ./agents arena` unless they "
        "begin with `host`.",
        *scores(_read("README.md"), LABELS[game]),
        "## Watch a game",
        f'<iframe class="player" src="{game}-game.html" title="A game of {title(game)}" loading="lazy"></iframe>',
        "Space plays it, the arrow keys step. In a checkout, `go run ./datasets view --web datasets/games` shows this "
        "game and others; [recording](../recording.md) says how to record your own.",
        "## Cite",
        cite(spec),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def facts(spec: blockyard.GameSpec, example: str) -> str:
    """Return a table of what the server says about a game."""
    seats = str(spec.min_seats) if spec.min_seats == spec.max_seats else f"{spec.min_seats} to {spec.max_seats}"
    shape = ", ".join(map(str, spec.planes_shape))
    rows = [
        ("id", f"`{spec.id}`, in Gymnasium `blockyard/{spec.id}`"),
        ("seats", f"{seats}, {TURNS[spec.turn]}"),
        (
            "action space",
            f"`Discrete({spec.actions})`, as text such as `{example}`; at most {spec.max_legal:,} legal at a time",
        ),
        ("`planes`", f"uint8 ({shape}), 0 to {spec.planes_high}: {', '.join(spec.plane_names)}"),
        ("`globals`", f"float32 ({len(spec.global_names)},)"),
        ("default reward", f"`{spec.reward}`"),
        ("opponents", ", ".join(f"`{name}`" for name in spec.opponents)),
    ]
    if spec.variants:
        rows.insert(1, ("variants", ", ".join(f"`{name}`" for name in spec.variants)))
    if spec.max_episode_steps:
        rows.append(("steps until a game is truncated", f"{spec.max_episode_steps:,}"))
    return "| | |\n|---|---|\n" + "\n".join(f"| {name} | {text} |" for name, text in rows)


def in_short(rules: str) -> str:
    """Return the list of section 1 of RULES.md."""
    section = rules.partition("## 1. In short\n")[2].partition("\n## ")[0]
    found = re.search(r"^\* .*?(?=\n\n(?!\*| ))", section, re.M | re.S)
    assert found, "section 1 of RULES.md has no list"
    return found[0]


def section_of(code: str, heading: str) -> str:
    """Return a section of the package comment of a doc.go, without its comment marks; its heading may say more."""
    text = re.sub(r"^// ?", "", code, flags=re.M)
    found = re.search(rf"^# {re.escape(heading)}[^\n]*\n(.*?)(?=^# |^package )", text, re.M | re.S)
    assert found, f"doc.go has no section {heading}"
    return found[1].strip("\n")


def tables(text: str, game: str) -> str:
    """Return a section of a package comment as Markdown: its indented lines become tables of two columns."""
    out: list[str] = []
    for line in text.splitlines():
        if not line.startswith("\t"):
            out.append(line)
            continue
        first, *rest = re.split(r" {2,}", line[1:].rstrip(), maxsplit=1)
        if first and rest:
            if not (out and out[-1].startswith("|")):
                out += ["", "| | |", "|---|---|"]
            out.append(f"| `{first}` | {_cell(rest[0])} |")
        elif out and out[-1].startswith("|"):  # the line before goes on
            out[-1] = f"{out[-1].removesuffix(' |')} {_cell(line.strip())} |"
        else:
            out += ["", "    " + line.strip()]
    return re.sub(r"rules\s(§[\d.]*\d)", rf"[rules \1]({game}-rules.md)", "\n".join(out))


def _cell(text: str) -> str:
    return text.strip().replace("|", r"\|").replace("*", r"\*")


def all_globals(spec: blockyard.GameSpec) -> str:
    """Return a folded table of the globals by name."""
    space = spec.observation_space()["globals"]
    rows = [
        f"| {k} | {name} | {low:g} to {high:g} |"
        for k, (name, low, high) in enumerate(zip(spec.global_names, space.low, space.high, strict=True))
    ]
    return (
        f'<details markdown="1"><summary>All {len(rows)} globals by name</summary>\n\n'
        "| index | name | range |\n|---|---|---|\n" + "\n".join(rows) + "\n\n</details>"
    )


def scores(readme: str, labels: tuple[str, ...]) -> list[str]:
    """Return the parts of README's tables of results that are about a game."""
    found = []
    sections = re.findall(r"^## (?:Evaluate|Export to a contest)\n.*?(?=^## )", readme, re.M | re.S)
    for table in re.findall(r"(?:^\|.*\n)+", "".join(sections), re.M):
        head, rule, *rows = table.splitlines()
        own = [row for row in rows if row.removeprefix("| ").startswith(labels)]
        if own:
            found.append("\n".join([head, rule, *own]))
    assert found, f"README.md has no results of {labels[0]}"
    return found


def cite(spec: blockyard.GameSpec) -> str:
    """Return how to cite the environment."""
    return f"""\
```bibtex
@software{{blockyard,
  author = {{{{The Blockyard authors}}}},
  title = {{Blockyard: an environment server for block games}},
  year = {{2026}},
  version = {{{blockyard.__version__}}},
  note = {{Environment {spec.id}, rules version {spec.rules}}}
}}
```"""


def index(specs: list[blockyard.GameSpec]) -> str:
    """Return the page that leads to all cards."""
    parts = [
        "# Games",
        "Every game follows the published rules of its contest: see [how this was checked](../project.md#what-is-it).",
        '<div class="games" markdown="1">',
    ]
    for spec in specs:
        game = spec.name
        pictures = "".join(f"![]({game}-{theme}.svg#only-{theme})" for theme in movie.THEMES)
        seats = (
            "1 seat"
            if spec.max_seats == 1
            else f"{spec.min_seats} seats"
            if spec.min_seats == spec.max_seats
            else (f"{spec.min_seats} to {spec.max_seats} seats")
        )
        turns = "" if spec.turn == "single" else f", {TURNS[spec.turn]}"
        parts.append(f"[{pictures}]({game}.md)\n**[{title(game)}]({game}.md)** `{spec.id}`, {seats}{turns}")
    return "\n\n".join([*parts, "</div>"]) + "\n"
