"""Builds a wheel with the Go server inside for every platform, on any of them, and checks each.

    python rpc/python/wheels.py [--out DIR] [PLATFORM ...]

A wheel appears in the folder only after it passed the checks: the server is an executable for the platform in
the name, it needs no loader but glibc's, the wheel is small enough, and its NOTICES name every module of the server
and the library. This needs Go and ``pip install hatchling``;
if ``twine`` is installed, its check is run too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST = 28_000_000  # bytes, largest size of a wheel

LIBRARIES = {"linux": "libblockyard.so", "darwin": "libblockyard.dylib", "windows": "blockyard.dll"}
# By GOOS/GOARCH: the platform tags of the wheel, for glibc on Linux, and the kind of the server in it.
PLATFORMS = {
    "linux/amd64": (("manylinux_2_17_x86_64", "manylinux2014_x86_64"), "ELF 62"),
    "linux/arm64": (("manylinux_2_17_aarch64", "manylinux2014_aarch64"), "ELF 183"),
    "darwin/amd64": (("macosx_12_0_x86_64",), "Mach-O 0x1000007"),
    "darwin/arm64": (("macosx_12_0_arm64",), "Mach-O 0x100000c"),
    "windows/amd64": (("win_amd64",), "PE 0x8664"),
}


class WheelError(Exception):
    """A wheel could not be built or failed a check; the message says which one and why."""


def kind(program: bytes) -> str:
    """Return the format and machine of a program: ``"ELF 62"``, ``"Mach-O 0x100000c"``, ``"PE 0x8664"``."""
    try:
        if program[:6] == b"\x7fELF\x02\x01":
            return f"ELF {struct.unpack_from('<H', program, 18)[0]}"
        if program[:4] == b"\xcf\xfa\xed\xfe":
            return f"Mach-O {struct.unpack_from('<I', program, 4)[0]:#x}"
        if program[:2] == b"MZ":
            at = struct.unpack_from("<I", program, 0x3C)[0]
            if program[at : at + 4] == b"PE\0\0":
                return f"PE {struct.unpack_from('<H', program, at + 4)[0]:#x}"
    except struct.error:
        pass
    return "no program"


def loader(program: bytes) -> str:
    """Return the loader of shared libraries that an ELF program names; "" if it is static."""
    at, size, count = *struct.unpack_from("<Q", program, 32), *struct.unpack_from("<HH", program, 54)
    interpreter = 3
    for segment in range(at, at + count * size, size):
        if struct.unpack_from("<I", program, segment)[0] == interpreter:
            start, _, _, length = struct.unpack_from("<4Q", program, segment + 8)
            return program[start : start + length].rstrip(b"\0").decode()
    return ""


def check(wheel: Path, platform: str) -> list[str]:
    """Return the problems of a wheel; none if it is in order."""
    tags, wanted = PLATFORMS[platform]
    wrong = [f"its name lacks {tag}" for tag in tags if tag not in wheel.name]
    if wheel.stat().st_size >= MOST:
        wrong.append(f"{wheel.stat().st_size} bytes are {MOST} or more")
    with zipfile.ZipFile(wheel) as archive:
        if bad := archive.testzip():
            return [f"{bad} is damaged"]
        files = {file.filename: file for file in archive.infolist()}
        inside = [name for name in files if name.startswith("blockyard/_bin/")]
        servers = [name for name in inside if not name.startswith("blockyard/_bin/bots/")]
        if len(inside) - len(servers) < 8:
            wrong.append("blockyard/_bin/bots lacks programs of contest bots")
        expected = "blockyard/_bin/blockyard-server" + (".exe" if platform.startswith("windows") else "")
        library = f"blockyard/_bin/{LIBRARIES[platform.split('/')[0]]}"
        if {*servers, library} != {expected, library}:
            return [*wrong, f"blockyard/_bin has {servers}, want {expected}, and {library} if it can be built"]
        if library in files and (is_ := kind(archive.read(library))) != wanted:
            wrong.append(f"the library is {is_}, want {wanted}")
        program = archive.read(expected)
        if (is_ := kind(program)) != wanted:
            wrong.append(f"the server is {is_}, want {wanted}")
        elif is_.startswith("ELF") and (named := loader(program)) and not Path(named).name.startswith("ld-linux"):
            wrong.append(f"the server needs the loader {named}, which is not glibc's")
        if not files[expected].external_attr >> 16 & 0o111:
            wrong.append("the server is not executable")
        needed = ("blockyard/py.typed", "blockyard/__init__.py", "blockyard/VERSION", "blockyard/env_ids.json")
        wrong += [f"there is no {name}" for name in needed if name not in files]
        licenses = (f".dist-info/licenses/{name}" for name in ("LICENSE", "NOTICES"))
        wrong += [f"there is no {end}" for end in licenses if not any(name.endswith(end) for name in files)]
        wrong += [f"{name} does not belong there" for name in files if "test" in name or "__pycache__" in name]
        info = next((name for name in files if name.endswith(".dist-info/WHEEL")), None)
        about = archive.read(info).decode() if info else ""
        wrong += [f"its WHEEL file lacks the tag {tag}" for tag in tags if f"-{tag}" not in about]
        if "Root-Is-Purelib: false" not in about:
            wrong.append("its WHEEL file lacks Root-Is-Purelib: false")
    return wrong


def modules(program: Path) -> set[str]:
    """Return the Go modules that a program or a library contains, each with its version."""
    said = subprocess.run(["go", "version", "-m", str(program)], capture_output=True, text=True, check=False)
    found = {f"{line[1]} {line[2]}" for row in said.stdout.splitlines() if (line := row.split())[:1] == ["dep"]}
    if not found:
        raise WheelError(f"{program.name} names no Go modules: {said.stderr.strip() or 'want a program built by Go'}")
    return found


def unnoticed(program: Path, notices: str) -> list[str]:
    """Return the modules of a program that a text of NOTICES lacks."""
    return sorted(module for module in modules(program) if f"\n  {module}: " not in notices)


def unnoticed_in(wheel: Path) -> list[str]:
    """Return the modules of the server and the library of a wheel that its NOTICES lack."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        [notices] = [archive.read(name).decode() for name in names if name.endswith(".dist-info/licenses/NOTICES")]
        programs = [name for name in names if name.startswith("blockyard/_bin/") and "/bots/" not in name]
        return [module for name in programs for module in unnoticed(Path(archive.extract(name, folder)), notices)]


def build(platform: str, folder: Path) -> Path:
    """Build the wheel of a platform into an empty folder."""
    system, machine = platform.split("/")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    env = {**os.environ, "GOOS": system, "GOARCH": machine, "GOAMD64": "v2"}  # as .ci/binaries
    env.pop("BLOCKYARD_BUILD_SERVER", None)
    done = subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WheelError(f"{platform}: {done.stdout.strip()}\n{done.stderr.strip()}".rstrip())
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WheelError(f"{platform}: got {len(wheels)} wheels, want 1")
    return wheels[0]


def make(platform: str, out: Path) -> Path:
    """Build and check the wheel of a platform, and move it to the folder out."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=out) as folder:
        made = build(platform, Path(folder))
        if wrong := check(made, platform):
            raise WheelError(f"{platform}: {made.name}: " + "; ".join(wrong))
        if lacks := unnoticed_in(made):
            raise WheelError(f"{platform}: NOTICES lacks {', '.join(lacks)}: `make notices` writes it again")
        if importlib.util.find_spec("twine"):
            command = [sys.executable, "-m", "twine", "check", "--strict", str(made)]
            said = subprocess.run(command, capture_output=True, text=True, check=False)
            if said.returncode != 0:
                raise WheelError(f"{platform}: {said.stdout}{said.stderr}".rstrip())
        return made.replace(out / made.name)


def main() -> int:
    """Build what the command line requests; return the exit status."""
    parser = argparse.ArgumentParser(description="Build wheels of blockyard with the Go server inside.")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help="such as linux/arm64; all of them by default")
    parser.add_argument(
        "--out", type=Path, default=HERE / "dist", metavar="DIR", help="folder of the wheels (%(default)s)"
    )
    args = parser.parse_args()
    if unknown := [name for name in args.platforms if name not in PLATFORMS]:
        parser.error(f"unknown {', '.join(unknown)}; there are {', '.join(PLATFORMS)}")
    if not shutil.which("go"):
        parser.error("no `go` on PATH: install Go, which compiles the servers")
    if not importlib.util.find_spec("hatchling"):
        parser.error(f"{sys.executable} has no hatchling: pip install hatchling")
    chosen = args.platforms or list(PLATFORMS)
    for k, platform in enumerate(chosen, 1):
        print(f"[{k}/{len(chosen)}] {platform} …", end="", flush=True)
        try:
            wheel = make(platform, args.out)
        except WheelError as error:
            print(f"\nwheels: {error}", file=sys.stderr)
            return 1
        print(f"\r[{k}/{len(chosen)}] {wheel.stat().st_size / 1e6:5.2f} MB  {wheel.name}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
