"""Seeds determine games."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GAME, Server, advance, assert_same, copied

import blockyard


@pytest.fixture
def env(server: Server):
    with blockyard.make_vec(GAME, 4, address=server.unix, opponents=None, autoreset_mode="Disabled") as env:
        yield env


def pieces(obs) -> list[tuple[int, int]]:
    """Return this and the next piece of every row."""
    ones = obs["globals"][:, :14].reshape(-1, 2, 7).argmax(2)
    return [tuple(map(int, row)) for row in ones]


def look(env, **kwargs):
    obs, _ = env.reset(**kwargs)
    trace = [pieces(obs)]
    for _ in range(8):
        obs = env.step(env.legal_actions().actions[env.legal_actions().indptr[:-1]])[0]
        trace.append(pieces(obs))
    return np.array(trace)[:, ::2]  # by step and game


def test_an_integer_seeds_one_after_the_other(env):
    whole = look(env, seed=40)
    assert_same(look(env, seed=40), whole)
    np.testing.assert_array_equal(look(env, seed=[40, 41, 42, 43]), whole)
    np.testing.assert_array_equal(look(env, seed=[43, 42, 41, 40]), whole[:, ::-1])
    np.testing.assert_array_equal(look(env, seed=41)[:, :3], whole[:, 1:])
    assert (look(env, seed=44) != whole).any()
    np.testing.assert_array_equal(look(env, seed=np.int64(40)), whole)


def test_without_a_seed_sequences_go_on(env):
    first, second, third = look(env, seed=9), look(env), look(env)
    assert (first != second).any()
    assert (second != third).any()
    assert_same(look(env, seed=9), first)
    assert_same(look(env), second)
    assert_same(look(env), third)


def test_none_in_a_list_goes_on_too(env):
    look(env, seed=9)
    second = look(env)
    look(env, seed=9)
    mixed = look(env, seed=[None, 100, None, 101])
    np.testing.assert_array_equal(mixed[:, [0, 2]], second[:, [0, 2]])
    np.testing.assert_array_equal(mixed[:, [1, 3]], look(env, seed=100)[:, [0, 1]])


def test_never_seeded_is_fresh(server: Server):
    traces = []
    for _ in range(3):
        with blockyard.make_vec(GAME, 4, address=server.unix, opponents=None) as env:
            traces.append(look(env).tobytes())
    assert len(set(traces)) == 3
    with blockyard.make_vec(GAME, 4, address=server.unix, opponents=None) as env:
        mixed = look(env, seed=[40, None, None, None])
        np.testing.assert_array_equal(mixed[:, 0], look(env, seed=40)[:, 0])
        assert len({mixed[:, i].tobytes() for i in range(4)}) == 4


def test_seed_of_the_constructor(server: Server, env):
    with blockyard.make_vec(GAME, 4, address=server.unix, opponents=None, seed=40) as other:
        assert_same(look(other), look(env, seed=40))
        assert_same(look(other), look(env))
    with blockyard.make_vec(GAME, 4, address=server.unix, opponents=None, seed=40) as other:
        assert_same(look(other, seed=7), look(env, seed=7))


def test_mask_resets_only_those(env):
    obs, _ = env.reset(seed=40)
    obs, *_ = advance(env, 3, 0)
    before = copied(obs)
    options = {"reset_mask": np.repeat([False, True, False, True], 2)}
    after, infos = env.reset(seed=40, options=options)
    assert options.keys() == {"reset_mask"}
    np.testing.assert_array_equal(infos["_score"], options["reset_mask"])
    for k in before:
        kept = ~options["reset_mask"]
        np.testing.assert_array_equal(after[k][kept], before[k][kept])
        fresh, _ = env.reset(seed=40)
        np.testing.assert_array_equal(after[k][~kept], fresh[k][~kept])


@pytest.mark.parametrize(
    ("mask", "error", "what"),
    [
        ([True] * 8, TypeError, "numpy array"),
        (np.ones(8, np.int8), TypeError, "dtype bool"),
        (np.ones(4, bool), ValueError, r"shape \(8,\)"),
        (np.zeros(8, bool), ValueError, "at least one True"),
        (np.arange(8) < 3, ValueError, "only some rows of game 1"),
    ],
)
def test_masks_that_make_no_sense(env, mask, error, what):
    with pytest.raises(error, match=what):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("seed", "error", "what"),
    [
        (-1, ValueError, "0 <= seed"),
        (2**64, ValueError, "0 <= seed"),
        (1.5, TypeError, "integer"),
        (True, TypeError, "integer"),
        ("7", TypeError, "integer"),
        ([1, 2, 3], ValueError, "3 seeds for 4 games"),
        ([1, 2, 3, -4], ValueError, r"seed\[3\]"),
        ([1, 2, 3, "x"], TypeError, r"seed\[3\]"),
    ],
)
def test_seeds_that_make_no_sense(server: Server, env, seed, error, what):
    with pytest.raises(error, match=what):
        env.reset(seed=seed)
    with pytest.raises(error, match=what):
        blockyard.make_vec(GAME, 4, address=server.unix, opponents=None, seed=seed)


def test_unknown_options(env):
    with pytest.raises(ValueError, match="fast_forward"):
        env.reset(options={"fast_forward": True})


def test_numpy_generator_follows_the_seed(env):
    env.reset(seed=5)
    a = env.np_random.random(3)
    env.reset(seed=5)
    np.testing.assert_array_equal(a, env.np_random.random(3))
    assert env.np_random_seed == 5
