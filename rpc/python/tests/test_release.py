"""What `make release` refuses, writes and compares; a whole release takes many minutes."""

from __future__ import annotations

import shutil
import tarfile

import conftest
import pytest

CHANGES = "# Changes\n\n## Unreleased\n{}\n## 0.2.0\n\n### Added\n- a thing\n\n## 0.1.0\n\nThe first.\n"


script = conftest.script(conftest.ROOT / ".ci/release")


@pytest.mark.parametrize(
    ("version", "stands", "status", "unreleased", "why"),
    [
        ("0.2.0", "0.2.0", "", "", None),
        ("0.2", "0.2", "", "", "want three numbers"),
        ("0.2.0", "0.2.0", " M go.mod\n", "", "go.mod"),
        ("0.2.0", "0.1.0", "", "", "VERSION says 0.1.0"),
        ("0.3.0", "0.3.0", "", "", "no section `## 0.3.0`"),
        ("0.2.0", "0.2.0", "", "- not yet\n", "Unreleased"),
    ],
)
def test_refusals(version, stands, status, unreleased, why):
    said = script.refusal(version, stands, status, CHANGES.format(unreleased))
    assert (said == "") if why is None else (why in said)


def test_notes_are_those_of_the_version():
    text = script.notes(CHANGES.format("- not yet\n"), "0.2.0", {"b.whl": 2_000_000, "a.whl": 1_500_000})
    assert text.startswith("# Blockyard 0.2.0\n\n### Added\n- a thing\n\n## Files\n")
    assert text.index("| `a.whl` | 1.5 MB |") < text.index("| `b.whl` | 2.0 MB |")
    assert "not yet" not in text
    assert "The first" not in text
    assert script.section(CHANGES, "0.1.0") == "The first."


def test_archives_have_their_licenses(program, tmp_path):
    assert script.unlicensed(tmp_path) == ["LICENSE", "NOTICES"]
    for name in ("LICENSE", ".github/NOTICES"):
        shutil.copy(conftest.ROOT / name, tmp_path)
    (tmp_path / "blockyard-server").symlink_to(program)
    assert script.unlicensed(tmp_path) == []
    (tmp_path / "NOTICES").write_text("BSD-3-Clause\n\n  golang.org/x/sys v0.1.0: LICENSE\n")
    assert any(lacks.startswith("golang.org/x/sys v") for lacks in script.unlicensed(tmp_path))


def test_bills_of_materials():
    def bill():
        return {
            "metadata": {"component": {"type": "application", "name": "blockyard"}},
            "components": [{"name": "golang.org/x/sys", "version": "v0.1.0"}],
        }

    assert script.unlisted(["golang.org/x/sys v0.1.0"], bill()) == []
    lacks = ["golang.org/x/sys v0.2.0", "golang.org/x/term v0.1.0"]
    assert script.unlisted(["golang.org/x/sys v0.1.0", *reversed(lacks)], bill()) == lacks
    of_the_module = script.finished(bill(), "0.2.0")
    assert of_the_module["metadata"]["component"] == {"type": "application", "name": "blockyard", "version": "0.2.0"}
    image = script.finished(bill(), "0.2.0", "blockyard-server", "golang:1.26.8-bookworm@sha256:a6")
    assert image["metadata"]["component"] == {"type": "container", "name": "blockyard-server", "version": "0.2.0"}
    assert image["components"][-1]["purl"] == "pkg:docker/golang@sha256%3Aa6?tag=1.26.8-bookworm"


def test_archives_depend_on_files_and_date_only(tmp_path):
    for name, mode in (("one", 0o644), ("two", 0o600)):
        (tmp_path / name / "site/sub").mkdir(parents=True)
        (tmp_path / name / "site/sub/index.html").write_text("x")
        (tmp_path / name / "site/sub/index.html").chmod(mode)
        (tmp_path / name / "out").mkdir()
        script.pack(tmp_path / name / "site", tmp_path / name / "out/site.tar.gz", 1_700_000_000)
    one, two = (script.checksums(tmp_path / name / "out") for name in ("one", "two"))
    assert script.different(one, two) == []
    assert list(one) == ["site.tar.gz"]
    with tarfile.open(tmp_path / "one/out/site.tar.gz") as tar:
        assert tar.getnames() == ["site/sub", "site/sub/index.html"]
    (tmp_path / "two/out/site.tar.gz").write_bytes(b"")
    (tmp_path / "two/out/more").write_bytes(b"")
    assert script.different(one, script.checksums(tmp_path / "two/out")) == ["more", "site.tar.gz"]
