"""Memory that was shared with a lost server belongs to the client alone."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import GAME, begun
from mortal import mortals

from blockyard.transport.shared_memory import make_private

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared on Linux")


@pytest.mark.parametrize("pages", [1, 3, 2 * 256 + 1])
def test_pages(pages, closing):
    size = pages * mmap.PAGESIZE
    fd = os.memfd_create("test")
    os.truncate(fd, size)
    ours, theirs = closing(mmap.mmap(fd, size)), mmap.mmap(fd, size)
    os.close(fd)
    before = np.random.default_rng(0).integers(0, 256, size, np.uint8)
    theirs[:] = before.tobytes()
    array = np.frombuffer(ours, np.uint8)
    make_private(ours)
    theirs[:] = bytes(size)
    np.testing.assert_array_equal(array, before)
    array[0] = 7
    assert (ours[0], theirs[0]) == (7, 0)
    del array


def shared() -> set[str]:
    """The files of the memory that this process shares with servers, as device and inode."""
    maps = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    return {f"{m[3]} {m[4]}" for m in maps if m[5:] and m[5].startswith("/memfd:")}


@pytest.mark.parametrize("copy", [True, False])
def test_nothing_is_shared_with_a_lost_server(program, tmp_path, copy):
    """It may only hang, and write the results of its last step when the memory has those of a later one."""
    elsewhere = shared()
    with mortals(program, f"unix:{tmp_path}/a") as (a,):
        options = {"seed": 1, "copy": copy, "slots": 2, "address": a.address, "heal": True}
        with begun(GAME, 64, **options) as env:
            obs, *_ = env.step(env.action_masks.argmax(1))
            buffer, want = env.buffer(2), obs["planes"].copy()
            before = shared() - elsewhere
            assert len(before) > 1
            a.restart()
            env.step(env.action_masks.argmax(1), out=buffer[0])
            np.testing.assert_array_equal(obs["planes"], want)
            assert not shared() & before
            env.step(env.action_masks.argmax(1))
            assert buffer[0].planes.any()
