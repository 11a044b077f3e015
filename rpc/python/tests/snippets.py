"""The snippets of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import programs

DOCS = Path(__file__).resolve().parents[1] / "docs"


def snippets(page: str | Path) -> list[str]:
    """Return the Python in a page, whose name is absolute or one of docs/."""
    return re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)


def run(page: str, cwd: Path, before: str = "") -> None:
    """Run each snippet of a page as a separate program, which begins with the lines ``before``."""
    found = snippets(page)
    assert found, page
    for code in found:
        learns = re.search("import torch|from sb3_contrib", code)
        imports = "blockyard,sb3_contrib,torch._dynamo" if learns else "blockyard"
        done = programs.run("-c", before + code, cwd=cwd, imports=imports)
        assert done.returncode == 0, f"{page}:\n{code}\n{done.stderr}"
