"""The checks of wheels.py; building wheels takes minutes and is `make wheels`."""

from __future__ import annotations

import platform
import struct
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, script

TAG = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"
SYSTEM = (
    {"linux": "linux", "darwin": "darwin", "win32": "windows"}[sys.platform]
    + "/"
    + {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine().lower()]
)
wheels = script(ROOT / "rpc/python/wheels.py")


def elf(machine=62, loader=""):
    """The beginning of an ELF program: a header and one segment."""
    head = bytearray(64)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<H", head, 18, machine)
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<HH", head, 54, 56, 1)
    segment = struct.pack("<IIQQQQQQ", 3 if loader else 1, 0, 120, 0, 0, len(loader) + 1, 0, 0)
    return bytes(head) + segment + loader.encode() + b"\0"


PE = b"MZ" + bytes(0x3A) + struct.pack("<I", 0x40) + b"PE\0\0" + struct.pack("<H", 0x8664)
MACH = b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x100000C)


def made(folder, server=None, mode=0o755, tag=TAG, without=(), extra=()):
    """Write a wheel that is in order except for the arguments."""
    path = folder / f"blockyard-1-{tag}.whl"
    files = {
        "blockyard/__init__.py": b"",
        "blockyard/py.typed": b"",
        "blockyard/VERSION": b"1\n",
        "blockyard/env_ids.json": b"[]",
    }
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.removeprefix("py3-none-").split("."))
    files["blockyard-1.dist-info/WHEEL"] = f"Root-Is-Purelib: false\n{tags}".encode()
    files |= dict.fromkeys([f"blockyard-1.dist-info/licenses/{name}" for name in ("LICENSE", "NOTICES")], b"")
    files |= dict.fromkeys([f"blockyard/_bin/bots/{k}.go" for k in range(8)] + list(extra), b"")
    with zipfile.ZipFile(path, "w") as archive:
        for name in files.keys() - set(without):
            archive.writestr(name, files[name])
        info = zipfile.ZipInfo("blockyard/_bin/blockyard-server")
        info.external_attr = mode << 16
        archive.writestr(info, elf() if server is None else server)
    return path


def test_programs_are_told_apart():
    assert wheels.kind(elf()) == "ELF 62"
    assert wheels.kind(elf(183)) == wheels.PLATFORMS["linux/arm64"][1]
    assert wheels.kind(MACH) == wheels.PLATFORMS["darwin/arm64"][1]
    assert wheels.kind(PE) == wheels.PLATFORMS["windows/amd64"][1]
    for nothing in (b"", b"MZ", b"#!/bin/sh\n", b"\x7fELF\x02\x01", PE[:0x40]):
        assert wheels.kind(nothing) == "no program"


def test_wheel_in_order(tmp_path):
    assert wheels.check(made(tmp_path), "linux/amd64") == []
    assert wheels.check(made(tmp_path, elf(loader="/lib64/ld-linux-x86-64.so.2")), "linux/amd64") == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"server": elf(183)}, "the server is ELF 183, want ELF 62"),
        ({"server": PE}, "the server is PE 0x8664, want ELF 62"),
        ({"server": elf(loader="/lib/ld-musl-x86_64.so.1")}, "the server needs the loader /lib/ld-musl-x86_64.so.1"),
        ({"mode": 0o644}, "the server is not executable"),
        ({"tag": "py3-none-any"}, "its name lacks manylinux_2_17_x86_64"),
        ({"tag": "py3-none-manylinux_2_17_x86_64"}, "its WHEEL file lacks the tag manylinux2014_x86_64"),
        ({"without": ["blockyard/py.typed"]}, "there is no blockyard/py.typed"),
        ({"without": ["blockyard/VERSION"]}, "there is no blockyard/VERSION"),
        ({"without": ["blockyard-1.dist-info/licenses/NOTICES"]}, "there is no .dist-info/licenses/NOTICES"),
        ({"extra": ["blockyard/test_x.py"]}, "blockyard/test_x.py does not belong there"),
        ({"extra": ["blockyard/_bin/other"]}, "blockyard/_bin has"),
        ({"without": ["blockyard/_bin/bots/3.go"]}, "blockyard/_bin/bots lacks programs of contest bots"),
        ({"extra": ["blockyard/_bin/libblockyard.so"]}, "the library is no program, want ELF 62"),
    ],
)
def test_wheel_that_is_not(tmp_path, wrong, says):
    assert any(says in line for line in wheels.check(made(tmp_path, **wrong), "linux/amd64"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, which `make .venv/test` leaves, or one that is built now."""
    for built in Path(sys.prefix).glob("wheel/blockyard-*.whl"):
        return built
    return wheels.build(SYSTEM, tmp_path_factory.mktemp("wheel"))


def test_the_notices_name_every_module_of_the_wheel(wheel):
    assert wheels.unnoticed_in(wheel) == []
    with zipfile.ZipFile(wheel) as archive:
        texts = {name.rpartition("/")[2]: name for name in archive.namelist() if ".dist-info/licenses/" in name}
        assert archive.read(texts["LICENSE"]) == (ROOT / "LICENSE").read_bytes()
        assert archive.read(texts["NOTICES"]) == (ROOT / ".github/NOTICES").read_bytes()


def test_a_module_without_a_notice_is_found(program, tmp_path):
    notices = (ROOT / ".github/NOTICES").read_text()
    assert wheels.unnoticed(program, notices) == []
    assert len(wheels.modules(program)) > 40
    [sys_module] = [name for name in wheels.modules(program) if name.startswith("golang.org/x/sys ")]
    assert wheels.unnoticed(program, notices.replace(sys_module, "golang.org/x/sys v0.0.1")) == [sys_module]
    (tmp_path / "other").write_bytes(elf())
    with pytest.raises(wheels.WheelError, match="other names no Go modules"):
        wheels.modules(tmp_path / "other")


def test_wheel_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "MOST", 100)
    assert any("bytes are 100 or more" in line for line in wheels.check(made(tmp_path), "linux/amd64"))


def test_the_server_is_of_this_machine(program):
    assert wheels.kind(program.read_bytes()) == wheels.PLATFORMS[SYSTEM][1]
