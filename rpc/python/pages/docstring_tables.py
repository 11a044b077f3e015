"""An extension of Griffe: the simple tables of docstrings, between lines of =, become tables of Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

_RULE = re.compile(r"=+(?: +=+)+")


def markdown(text: str) -> str:
    """Return a docstring with its tables in Markdown. A row whose first column is empty continues the row above."""
    blocks = re.split(r"\n[ \t]*\n", text)
    return "\n\n".join(_table(block) if _RULE.match(block.strip()) else block for block in blocks)


def _table(block: str) -> str:
    """Return a table in Markdown; a second line of = ends its head, if another follows."""
    lines = block.splitlines()
    starts = [found.start() for found in re.finditer("=+", lines[0])]
    columns = [slice(a, b) for a, b in zip(starts, [*starts[1:], None], strict=True)]
    rows: list[list[str]] = []
    for line in lines:
        cells = [line[column].strip() for column in columns]
        if _RULE.fullmatch(line.strip()):
            continue
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
    rules = sum(bool(_RULE.fullmatch(line.strip())) for line in lines)
    head = rows.pop(0) if rules == 3 else [""] * len(columns)
    return "\n".join(map(_row, [head, ["---"] * len(columns), *rows]))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


class Tables(griffe.Extension):
    """Rewrites every docstring when it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
