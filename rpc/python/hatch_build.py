"""Build hook: compiles the Go program with the server and every other command, and adds it to the wheel.

The program is the package ``./rpc/blockyard`` of the Go module that contains this folder. A wheel has it as
``blockyard/_bin/blockyard-server``, an editable install in the source folder; beside it, ``bots`` has the programs
that ``blockyard bundle`` builds networks into. ``blockyard/_docs`` has the pages that ``blockyard docs`` shows, and the
examples. The folder ``licenses`` of the wheel's metadata has LICENSE, and NOTICES of all that the program and the
library contain. A source distribution has the pages, and the Go files that the programs need, under ``_go``,
so it can be built anywhere.

Environment variables:
    GOOS, GOARCH               build the wheel for another platform
    CC                         C compiler for the library beside the server, which is left out if there is none; by
                               default that of the package ziglang, or this machine's
    BLOCKYARD_BUILD_SERVER=0   leave the server out; the client then needs the address of a server
    BLOCKYARD_BUILD_SERVER=FILE  add this program, built elsewhere, instead of compiling one: needs no Go. The wheel
                               is for this machine
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging import tags

NAME = "blockyard-server"
PROGRAM = "./rpc/blockyard"
LIBRARIES = {"linux": "libblockyard.so", "darwin": "libblockyard.dylib", "windows": "blockyard.dll"}

# What the C compiler of the package ziglang calls the platforms for which it can link the library; of Linux, those with
# the glibc of the wheel's tags. On musl, which has its own, the library is there and is not used.
ZIG = {
    ("linux", "amd64"): "x86_64-linux-gnu.2.17",
    ("linux", "arm64"): "aarch64-linux-gnu.2.17",
    ("windows", "amd64"): "x86_64-windows-gnu",
    ("windows", "arm64"): "aarch64-windows-gnu",
}

# Platform tags of wheels, by GOOS and GOARCH. On Linux they do not name musl: the program has glibc's loader, because
# it opens plug-ins of WinTetris.
PLATFORMS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}


class BuildError(Exception):
    """The server could not be built; the message says what to do."""


def module_root(here: Path) -> Path:
    """Return the folder of the Go module: ``_go`` of a source distribution, or a parent folder."""
    for folder in (here / "_go", *here.parents):
        if (folder / "go.mod").is_file() and (folder / "rpc" / "blockyard" / "main.go").is_file():
            return folder
    raise BuildError(
        f"no Go module with the server's sources in a parent folder of {here}: build in a checkout of the whole "
        "repository or from a source distribution, or set BLOCKYARD_BUILD_SERVER to the file of a server, "
        "or to 0 for a client without a server"
    )


def host_platform() -> str:
    """Return the platform tag of wheels for this machine."""
    return next(iter(tags.platform_tags()))


def go_tool() -> str:
    """Return the path of the ``go`` command."""
    go = shutil.which("go")
    if go is None:
        raise BuildError(
            "the Go toolchain is needed to build the server and no `go` is on PATH: install Go "
            "(https://go.dev/dl), or set BLOCKYARD_BUILD_SERVER to the file of a server that was built elsewhere, "
            "or to 0 for a client without a server"
        )
    return go


def run_go(root: Path, *args: str, **env: str) -> str:
    """Run the go command in root and return its standard output."""
    done = subprocess.run(
        [go_tool(), *args], cwd=root, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"`go {' '.join(args)}` failed in {root}:\n{done.stderr.strip()}")
    return done.stdout


def commit_of(root: Path) -> tuple[str, ...]:
    """Return the commit of a checkout, with "+modified" if files differ, and its date; nothing for other folders."""
    command = ["git", "-C", str(root), "log", "-1", "--format=%H %cI"]
    if (root / ".git").exists() and shutil.which("git"):
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
        changed = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain"], capture_output=True, text=True, check=False
        )
        if len(said) == 2:
            return said[0] + ("+modified" if changed.stdout else ""), said[1]
    return ()


def origin(root: Path, version: str) -> str:
    """Return the linker's flags that tell the program its version, and the commit and date of a checkout."""
    at = "blockyard/datasets/program"
    told = {"version": version} | dict(zip(("commit", "date"), commit_of(root), strict=False))
    return " ".join(["-s -w", *(f"-X {at}.{name}={value}" for name, value in told.items())])


def build_server(root: Path, folder: Path, version: str) -> tuple[Path, str]:
    """Compile the server into folder; return the file and the wheel's platform tag."""
    system, machine = run_go(root, "env", "GOOS", "GOARCH").split()
    if (system, machine) not in PLATFORMS:
        raise BuildError(f"no wheel platform is known for GOOS={system} GOARCH={machine}")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (NAME + (".exe" if system == "windows" else ""))
    partial = folder / f".{target.name}.{os.getpid()}"
    flags = ["-trimpath", "-buildvcs=false", "-ldflags", origin(root, version), "-o", str(partial)]
    try:
        run_go(root, "build", *flags, PROGRAM, CGO_ENABLED="0")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target, PLATFORMS[system, machine]


def write_bots(root: Path, server: Path) -> list[Path]:
    """Write the programs of contest bots beside the server; return the files."""
    folder = server.parent / "bots"
    arguments = ["programs", str(folder)]
    try:
        subprocess.run([server, *arguments], cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.SubprocessError):  # it is for another machine
        native = run_go(root, "env", "GOHOSTOS", "GOHOSTARCH").split()
        run_go(root, "run", "./agents", *arguments, GOOS=native[0], GOARCH=native[1])
    return sorted(folder.iterdir())


def compiler(root: Path) -> str | None:
    """Return the command of a C compiler for GOOS and GOARCH: CC, that of ziglang, or this machine's; None without."""
    if named := os.environ.get("CC"):
        return named
    system, machine, *host = run_go(root, "env", "GOOS", "GOARCH", "GOHOSTOS", "GOHOSTARCH").split()
    if importlib.util.find_spec("ziglang") and (system, machine) in ZIG:
        return f"{sys.executable} -m ziglang cc -target {ZIG[system, machine]}"
    return shutil.which("cc") if [system, machine] == host else None


def build_library(root: Path, folder: Path, version: str) -> Path | None:
    """Compile the server as a shared library into folder; None if there is no C compiler for the platform."""
    if (cc := compiler(root)) is None:
        return None
    target = folder / LIBRARIES[run_go(root, "env", "GOOS").strip()]
    link = f"-s -w -X main.version={version}"
    if target.suffix == ".dll":  # strip it whatever cgo says: its debug information names temporary folders
        link += " -extldflags=-s"
    flags = ["-trimpath", "-buildmode=c-shared", "-ldflags", link]
    with tempfile.TemporaryDirectory(prefix=".library-", dir=folder) as made:
        partial = Path(made) / target.name  # the linker writes the name into the library
        run_go(root, "build", *flags, "-o", str(partial), "./rpc/library", CGO_ENABLED="1", CC=cc)
        partial.replace(target)
    return target


def licenses(here: Path) -> dict[str, Path]:
    """Return the files with the licenses of this package and of what its program contains, by name.

    A source distribution has both in ``_go``; a checkout has NOTICES in ``.github``.
    """
    for folder in (here / "_go", *here.parents):
        for notices in (folder / "NOTICES", folder / ".github" / "NOTICES"):
            if notices.is_file():
                return {"LICENSE": folder / "LICENSE", "NOTICES": notices}
    return {}


def compiler_licenses(cc: str | None, library: Path | None) -> dict[str, Path]:
    """Return the files with the licenses of what the C compiler of ziglang adds to the library, by name."""
    if library is None or cc is None or "ziglang" not in cc or (spec := importlib.util.find_spec("ziglang")) is None:
        return {}
    zig = Path(str(spec.origin)).parent
    windows = {"MINGW-W64": zig / "lib/libc/mingw/COPYING"} if library.suffix == ".dll" else {}
    return {"ZIG": zig / "LICENSE", **windows}


def given_server(named: str, version: str, folder: Path) -> Path:
    """Copy the program named by BLOCKYARD_BUILD_SERVER to folder, once it says that it is a server of this version."""
    source = Path(named).expanduser().resolve()
    try:
        done = subprocess.run([source, "--version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise BuildError(
            f"BLOCKYARD_BUILD_SERVER={named}: not a program that runs on this machine ({error}): "
            "want the file of a blockyard-server, or 0 for a client without a server"
        ) from error
    said = done.stdout.split()
    if done.returncode != 0 or len(said) < 2 or said[1] != version:
        raise BuildError(
            f"BLOCKYARD_BUILD_SERVER={named}: `{source} --version` says {' '.join(said[:2])!r}, "
            f"want a server of {version}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (NAME + (".exe" if os.name == "nt" else ""))
    partial = folder / f".{target.name}.{os.getpid()}"
    try:
        shutil.copy(source, partial)
        partial.chmod(0o755)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def server_sources(root: Path) -> list[Path]:
    """Return the files of the module that the program, the library and the bots need on any platform."""
    needed = [PROGRAM, "./rpc/library", "./agents", "./agents/submit/programs/..."]
    out = run_go(root, "list", "-deps", "-json", *needed, CGO_ENABLED="1")
    decoder, files = json.JSONDecoder(), []
    kinds = ("GoFiles", "CgoFiles", "SFiles", "HFiles", "EmbedFiles", "IgnoredGoFiles", "IgnoredOtherFiles")
    while out := out.lstrip():
        package, end = decoder.raw_decode(out)
        out = out[end:]
        if (package.get("Module") or {}).get("Main"):
            files += [Path(package["Dir"]) / name for kind in kinds for name in package.get(kind) or ()]
    return [root / "go.mod", root / "go.sum", *sorted(files)]


# Pages, what they show, and the programs to begin with that they name.
PAGES = ("*.md", "*/*.md", "rpc/deploy/**/*", "env/*/RULES.md", "env/*/pictures/*", "train/curves/*",
         "agents/submit/starters/**/*", "agents/submit/wintetris/*.[hm]*", "agents/submit/wintetris/examples/*",
         ".github/SECURITY.md")  # fmt: skip


def pages(here: Path) -> dict[str, Path]:
    """Return what ``blockyard docs`` shows, the pages and examples that messages and help texts name, by its place."""
    try:
        root = module_root(here)
    except BuildError:
        root = here / "_go"
    own = [here / "README.md", *(here / "docs").rglob("*"), *(here / "examples").glob("*.*")]
    places = {file.relative_to(root).as_posix(): file for pattern in PAGES for file in root.glob(pattern)}
    places |= {f"rpc/python/{file.relative_to(here).as_posix()}": file for file in own}
    return {place: file for place, file in places.items() if file.is_file()}


class ServerHook(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Adds the server to a wheel, or its sources to a source distribution."""

    made: Path | None = None  # a temporary folder

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root)
        named = os.environ.get("BLOCKYARD_BUILD_SERVER", "")
        if named == "0":
            return
        try:
            if self.target_name == "sdist":
                root = module_root(here)
                self.made = Path(tempfile.mkdtemp(prefix="blockyard-sources-"))
                files = {file.relative_to(root).as_posix(): file for file in server_sources(root)} | licenses(here)
                files |= {place: file for place, file in pages(here).items() if here not in file.parents}
                for place, file in files.items():
                    source = file
                    if here in file.parents:  # it is in the package too, and a file can be included only once
                        source = self.made / place
                        source.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copy(file, source)
                    build_data["force_include"][str(source)] = f"_go/{place}"
                self.add_commit(self.made, root, build_data)
                return
            editable = version == "editable"
            folder = here / "blockyard" / "_bin" if editable else Path(tempfile.mkdtemp(prefix="blockyard-build-"))
            self.made = None if editable else folder
            beside: list[Path] = []
            texts = licenses(here)
            if named:
                server, platform = given_server(named, self.metadata.version, folder), host_platform()
            else:
                root = module_root(here)
                server, platform = build_server(root, folder, self.metadata.version)
                library = build_library(root, folder, self.metadata.version)
                beside = [*write_bots(root, server), *filter(None, [library])]
                texts |= compiler_licenses(compiler(root), library)
                if not editable:
                    self.add_commit(folder, root, build_data)
        except BuildError as error:
            if self.made:
                shutil.rmtree(self.made)
            self.app.abort(f"blockyard: {error}")
            raise
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        if not editable:
            for file in (server, *beside):
                build_data["force_include"][str(file)] = f"blockyard/_bin/{file.relative_to(folder).as_posix()}"
            for place, file in pages(here).items():
                build_data["force_include"][str(file)] = f"blockyard/_docs/{place}"
            for name, file in texts.items():
                build_data["force_include"][str(file)] = f"blockyard-{self.metadata.version}.dist-info/licenses/{name}"

    @staticmethod
    def add_commit(folder: Path, root: Path, build_data: dict[str, Any]) -> None:
        """Write the commit of a checkout to a file in folder, and add that to what is built."""
        for commit in commit_of(root)[:1]:
            (folder / "COMMIT").write_text(f"{commit}\n", encoding="ascii")
            build_data["force_include"][str(folder / "COMMIT")] = "blockyard/COMMIT"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.made:
            shutil.rmtree(self.made)
