"""Installs PufferLib's Tetris from its source package into the current virtual environment.

    python puffer_build.py VERSION

The whole package does not build without a CUDA version of torch and files that its setup downloads; its Tetris needs
neither. pip downloads the source package, a stub of torch's build module makes its setup compile nothing, and this
program then compiles the one game with the optimisation flags of the package's own setup.
"""

from __future__ import annotations

import glob
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import numpy

STAND_IN = """
import os
for folder in ("raylib-5.5_webassembly", "box2d-web", "box2d-linux-amd64"):
    os.makedirs(folder, exist_ok=True)  # for other games: the setup does not download what exists
from setuptools.command.build_ext import build_ext as BuildExtension
from setuptools import Extension as CppExtension, Extension as CUDAExtension
CUDA_HOME = None
"""


def fetch(version: str, folder: Path) -> Path:
    """Return the folder of the unpacked source package."""
    utils = folder / "stand-in" / "torch" / "utils"
    utils.mkdir(parents=True)
    (utils.parent / "__init__.py").touch()
    (utils / "__init__.py").touch()
    (utils / "cpp_extension.py").write_text(STAND_IN)
    env = os.environ | {"NO_TRAIN": "1", "PYTHONPATH": str(utils.parent.parent)}
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pip += ["--no-build-isolation", "--no-binary", ":all:", "--dest", str(folder), f"pufferlib=={version}"]
    subprocess.run(pip, env=env, check=True)
    with tarfile.open(glob.glob(f"{folder}/pufferlib-*.tar.gz")[0]) as archive:
        archive.extractall(folder, filter="data")
    return next(p for p in folder.glob("pufferlib-*") if p.is_dir())


def compile_tetris(source: Path) -> None:
    """Compile the binding of the game in its place."""
    game, raylib = source / "pufferlib" / "ocean" / "tetris", source / "raylib-5.5_linux_amd64"
    target = game / ("binding" + sysconfig.get_config_var("EXT_SUFFIX"))
    include = [sysconfig.get_path("include"), numpy.get_include(), raylib / "include"]
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            "-O2",
            "-flto",
            "-fwrapv",
            "-DPLATFORM_DESKTOP",
            "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION",
        ]
        + [f"-I{folder}" for folder in include]
        + [str(game / "binding.c"), "-o", str(target), str(raylib / "lib" / "libraylib.a"), "-lm", "-lpthread", "-ldl"],
        check=True,
    )


def install(source: Path, version: str) -> None:
    """Copy the package to where imports find it, with its name and version."""
    site = Path(sysconfig.get_path("purelib"))
    (source / "pufferlib").rename(site / "pufferlib")
    note = site / f"pufferlib-{version}.dist-info"
    note.mkdir(exist_ok=True)
    (note / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pufferlib\nVersion: {version}\n")


def main(version: str) -> None:
    with tempfile.TemporaryDirectory(dir=sysconfig.get_path("data")) as folder:
        source = fetch(version, Path(folder))
        compile_tetris(source)
        install(source, version)


if __name__ == "__main__":
    main(sys.argv[1])
