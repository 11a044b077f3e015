"""Builds PufferLib's Tetris from its source package.

The whole package does not build without a CUDA version of torch and files that its setup downloads; its Tetris needs
neither. pip downloads the source package, a stub of torch's build module makes its setup download and compile nothing,
and this module then compiles the one game with the optimisation flags of the package's own setup. The library that
draws it, raylib, is there as headers alone, from a module of Go: nothing is drawn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import numpy

from ..golang import GO, run

RAYLIB = "github.com/gen2brain/raylib-go/raylib@v0.55.1"  # raylib 5.5
FLAGS = ["-shared", "-fPIC", "-O2", "-flto", "-fwrapv", "-DPLATFORM_DESKTOP", "-Wl,-z,lazy"]
FLAGS += ["-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
STAND_IN = """
import os
for folder in ("raylib-5.5_linux_amd64", "raylib-5.5_webassembly", "box2d-web", "box2d-linux-amd64"):
    os.makedirs(folder, exist_ok=True)  # the setup does not download what exists
from setuptools.command.build_ext import build_ext as BuildExtension
from setuptools import Extension as CppExtension, Extension as CUDAExtension
CUDA_HOME = None
"""


def built(version: str) -> Path:
    """Return a folder with the package, which is built if it is not there yet."""
    cache = Path.home() / ".cache" / "blockyard-bench"
    done = cache / f"pufferlib-{version}"
    if not done.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            source = fetch(version, Path(folder))
            compile_tetris(source)
            source.rename(done)
    return done


def fetch(version: str, folder: Path) -> Path:
    """Return the folder of the unpacked source package."""
    utils = folder / "stand-in" / "torch" / "utils"
    utils.mkdir(parents=True)
    for package in (utils.parent, utils):
        (package / "__init__.py").touch()
    (utils / "cpp_extension.py").write_text(STAND_IN)
    env = os.environ | {"NO_TRAIN": "1", "PYTHONPATH": str(utils.parent.parent)}
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pip += ["--no-build-isolation", "--no-binary", ":all:", "--dest", str(folder), f"pufferlib=={version}"]
    subprocess.run(pip, env=env, check=True)
    with tarfile.open(next(folder.glob("pufferlib-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(p for p in folder.glob("pufferlib-*") if p.is_dir())


def compile_tetris(source: Path) -> None:
    """Compile the binding of the game in its place."""
    game = source / "pufferlib" / "ocean" / "tetris"
    target = game / ("binding" + sysconfig.get_config_var("EXT_SUFFIX"))
    raylib = json.loads(run(GO, "mod", "download", "-json", RAYLIB, GOWORK="off"))["Dir"]
    include = [f"-I{folder}" for folder in (sysconfig.get_path("include"), numpy.get_include(), raylib)]
    subprocess.run(["cc", *FLAGS, *include, str(game / "binding.c"), "-o", str(target), "-lm"], check=True)
