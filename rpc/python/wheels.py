"""Builds a wheel with the Go server inside for every platform, on any one of them, and looks into each.

    python rpc/python/wheels.py [--out DIR] [PLATFORM ...]

A wheel takes its name in the folder only once it was found in order: the server is a program of the
platform that the name says, can be run, needs no library, and the wheel is small enough. What is asked
for besides Python is Go and ``pip install hatchling``; with ``twine`` there, its check is made as well.
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
MOST = 15_000_000  # bytes of a wheel

# What a wheel is called, by GOOS/GOARCH, and what the server in it begins with.
PLATFORMS = {
    "linux/amd64": ("manylinux_2_17_x86_64", "ELF 62"),
    "linux/arm64": ("manylinux_2_17_aarch64", "ELF 183"),
    "darwin/amd64": ("macosx_12_0_x86_64", "Mach-O 0x1000007"),
    "darwin/arm64": ("macosx_12_0_arm64", "Mach-O 0x100000c"),
    "windows/amd64": ("win_amd64", "PE 0x8664"),
}


class WheelError(Exception):
    """A wheel could not be built, or is not in order; the message says which and why."""


def kind(program: bytes) -> str:
    """Return for which machine a program is: ``"ELF 62"``, ``"Mach-O 0x100000c"``, ``"PE 0x8664"``."""
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


def static(program: bytes) -> bool:
    """Whether an ELF program asks for no interpreter and so for no library."""
    at, size, count = *struct.unpack_from("<Q", program, 32), *struct.unpack_from("<HH", program, 54)
    interpreter = 3
    return all(struct.unpack_from("<I", program, at + k * size)[0] != interpreter for k in range(count))


def check(wheel: Path, platform: str) -> list[str]:
    """Return what is wrong with a wheel."""
    tag, wanted = PLATFORMS[platform]
    wrong = []
    if tag not in wheel.name:
        wrong.append(f"its name lacks {tag}")
    if wheel.stat().st_size >= MOST:
        wrong.append(f"{wheel.stat().st_size} bytes are {MOST} or more")
    with zipfile.ZipFile(wheel) as archive:
        if bad := archive.testzip():
            return [f"{bad} is damaged"]
        files = {file.filename: file for file in archive.infolist()}
        servers = [name for name in files if name.startswith("blockyard/_bin/")]
        expected = "blockyard/_bin/blockyard-server" + (".exe" if platform.startswith("windows") else "")
        if servers != [expected]:
            return [*wrong, f"blockyard/_bin has {servers}, want {expected}"]
        program = archive.read(expected)
        if (is_ := kind(program)) != wanted:
            wrong.append(f"the server is {is_}, want {wanted}")
        elif is_.startswith("ELF") and not static(program):
            wrong.append("the server needs a library")
        if not files[expected].external_attr >> 16 & 0o111:
            wrong.append("the server may not be run")
        needed = ("blockyard/py.typed", "blockyard/__init__.py", "blockyard/VERSION")
        wrong += [f"there is no {name}" for name in needed if name not in files]
        wrong += [f"{name} does not belong there" for name in files if "test" in name or "__pycache__" in name]
        info = next((name for name in files if name.endswith(".dist-info/WHEEL")), None)
        tags = archive.read(info).decode() if info else ""
        if f"-{tag}" not in tags or "Root-Is-Purelib: false" not in tags:
            wrong.append("its WHEEL file does not say so")
    return wrong


def build(platform: str, folder: Path) -> Path:
    """Build the wheel of a platform into an empty folder."""
    system, machine = platform.split("/")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    env = {**os.environ, "GOOS": system, "GOARCH": machine}
    env.pop("BLOCKYARD_BUILD_SERVER", None)
    done = subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WheelError(f"{platform}: {done.stdout.strip()}\n{done.stderr.strip()}".rstrip())
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WheelError(f"{platform}: {len(wheels)} wheels were made, want 1")
    return wheels[0]


def make(platform: str, out: Path) -> Path:
    """Build, check and put into out the wheel of a platform."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=out) as folder:
        made = build(platform, Path(folder))
        if wrong := check(made, platform):
            raise WheelError(f"{platform}: {made.name}: " + "; ".join(wrong))
        if importlib.util.find_spec("twine"):
            command = [sys.executable, "-m", "twine", "check", "--strict", str(made)]
            said = subprocess.run(command, capture_output=True, text=True, check=False)
            if said.returncode != 0:
                raise WheelError(f"{platform}: {said.stdout}{said.stderr}".rstrip())
        return made.replace(out / made.name)


def main() -> int:
    """Build what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(description="Build wheels of blockyard with the Go server inside.")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help="such as linux/arm64; all of them by default")
    parser.add_argument("--out", type=Path, default=HERE / "dist", metavar="DIR", help="where wheels go (%(default)s)")
    args = parser.parse_args()
    if unknown := [name for name in args.platforms if name not in PLATFORMS]:
        parser.error(f"unknown {', '.join(unknown)}; there are {', '.join(PLATFORMS)}")
    if not shutil.which("go"):
        parser.error("no `go` on PATH: the servers are compiled with it")
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
