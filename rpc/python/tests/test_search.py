"""Masks, legal actions, afterstates, snapshots, clones, rollouts, self-play rows."""

from __future__ import annotations

from contextlib import closing

import gymnasium
import numpy as np
import pytest
from conftest import GAME, Server, advance, assert_same, begun, copied
from mortal import mortals

import blockyard
from blockyard.vector.results import Afterstates, LegalActions


@pytest.fixture
def env(server: Server):
    with begun(GAME, 8, address=server.unix, opponents=None, seed=3) as env:
        yield env


def test_masks_agree_with_lists(env):
    for step in range(30):
        result = advance(env, 1, step)
        legal, masks = env.legal_actions(), env.action_masks
        assert masks.dtype == np.bool_
        assert masks.shape == (16, 1601)
        for row in range(16):
            np.testing.assert_array_equal(np.flatnonzero(masks[row]), legal[row])
        np.testing.assert_array_equal(result[4]["action_mask"], masks)
        np.testing.assert_array_equal(
            np.unpackbits(env.packed_masks, axis=1, count=1601, bitorder="little"), masks.view(np.uint8)
        )
        np.testing.assert_array_equal(legal.counts, masks.sum(1))
    with pytest.raises(IndexError):
        legal[16]
    assert len(env.legal_actions([5, 2])) == 4
    np.testing.assert_array_equal(env.legal_actions([5, 2])[2], legal[4])


def test_spaces_sample_with_masks(env):
    advance(env, 5, 0)
    _, _, _, _, infos = advance(env, 1, 0)
    masks = infos["action_mask"]
    for every in (masks, masks.astype(np.int8)):
        assert env.action_masks[np.arange(16), env.action_space.sample(mask=tuple(every))].all()
    for row in range(4):
        action = env.single_action_space.sample(mask=masks[row])
        assert env.action_masks[row, action]


def test_spaces_of_single_environments_sample_with_masks(server: Server):
    """Those of Gymnasium's own vector environments are batches of the single one's."""
    singles = [lambda: blockyard.make(GAME, address=server.unix)] * 3
    with closing(gymnasium.vector.SyncVectorEnv(singles)) as several:
        _, infos = several.reset(seed=1)
        for masks in (infos["action_mask"], tuple(infos["action_mask"].astype(np.int8))):
            actions = several.action_space.sample(mask=masks)
            assert infos["action_mask"][np.arange(3), actions].all()
            assert several.action_space.contains(actions)


def test_samples_are_uniform():
    legal = LegalActions(np.array([0, 2, 2, 5], np.uint32), np.array([7, 9, 1, 2, 3], np.uint16))
    rng = np.random.default_rng(0)
    drawn = np.array([legal.sample(rng, idle=-1) for _ in range(3000)])
    assert set(drawn[:, 0]) == {7, 9}
    assert set(drawn[:, 1]) == {-1}
    assert set(drawn[:, 2]) == {1, 2, 3}
    assert abs((drawn[:, 2] == 2).mean() - 1 / 3) < 0.05


def test_afterstates_are_what_steps_show(env):
    """The own board of an afterstate is that of the step, unless the opponent or the round adds rows."""
    advance(env, 6, 0)
    after, legal = env.afterstates(), env.legal_actions()
    np.testing.assert_array_equal(after.actions, legal.actions)
    np.testing.assert_array_equal(after.indptr, legal.indptr)
    assert after.planes.shape == (len(after), 2, 20, 10)
    assert after.globals.shape == (len(after), len(env.game_spec.global_names))
    assert len(after.row) == len(after)
    rng = np.random.default_rng(0)
    chosen = after.indptr[:-1] + (rng.random(16) * legal.counts).astype(int)
    obs, *_ = env.step(after.actions[chosen])
    np.testing.assert_array_equal(obs["planes"][:, 0], after.planes[chosen, 0])
    assert not after.done[chosen].any()


def test_afterstates_draw_from_their_seed_not_from_the_future(env):
    advance(env, 3, 0)
    a, b, c = (env.afterstates(seed=s) for s in (1, 1, 2))
    assert_same(a.globals, b.globals)
    assert (a.globals != c.globals).any()
    assert_same(a.planes, c.planes)


def test_afterstates_of_some_games(env):
    advance(env, 3, 0)
    whole, some = env.afterstates(seed=1), env.afterstates([6, 1], seed=1)
    for k, row in enumerate((12, 13, 2, 3)):
        np.testing.assert_array_equal(
            some.planes[some.indptr[k] : some.indptr[k + 1]], whole.planes[whole.indptr[row] : whole.indptr[row + 1]]
        )
    assert len(env.afterstates([])) == 0


def test_best_of_each_row():
    after = Afterstates(
        np.array([0, 3, 3, 5, 6], np.uint32),
        *([np.zeros(6, np.uint16)] * 3),
        np.zeros(6, np.float32),
        np.zeros(6, bool),
    )
    np.testing.assert_array_equal(after.best(np.array([1.0, 5.0, 5.0, -2.0, -1.0, 0.0])), [1, -1, 4, 5])
    np.testing.assert_array_equal(after.row, [0, 0, 0, 2, 2, 3])


def test_answers_in_several_parts(program, tmp_path):
    """A server that sends small messages gives the same results."""
    kwargs = {"opponents": None, "seed": 3}
    with (
        mortals(program, f"unix:{tmp_path}/s", flags=["--max-reply=200000"]) as (a,),
        blockyard.make_vec(GAME, 64, address=a.address, **kwargs) as small,
        blockyard.make_vec(GAME, 64, **kwargs) as big,
    ):
        for env in (small, big):
            env.reset()
            advance(env, 4, 0)
        a, b = small.afterstates(seed=5), big.afterstates(seed=5)
        assert a.planes.nbytes > 1_000_000
        for name in ("indptr", "actions", "planes", "reward", "done"):
            assert_same(getattr(a, name), getattr(b, name), name)
        np.testing.assert_array_equal(small.snapshot(), big.snapshot())
        assert_same(small.legal_actions().actions, big.legal_actions().actions)
        for policy in ("random", "hand:ply=1"):
            assert_same(small.rollout(9, policy).buffer.arrays, big.rollout(9, policy).buffer.arrays)


def test_snapshot_and_restore(env):
    advance(env, 10, 0)
    states = env.snapshot()
    assert states.shape[0] == 8
    assert states.dtype == np.uint8
    now = copied(env.restore(states)[0])
    future = [copied(advance(env, 1, i)[:2]) for i in range(5)]
    back, infos = env.restore(states)
    assert_same(copied(back), now)
    assert infos["action_mask"].any()
    assert_same([copied(advance(env, 1, i)[:2]) for i in range(5)], future)


def test_restore_elsewhere_and_in_part(server: Server, env):
    advance(env, 10, 0)
    states = env.snapshot([2, 5])
    with blockyard.make_vec(GAME, 8, address=server.tcp, opponents=None) as other:
        other.reset(seed=77)
        before = copied(other.step(other.sample_actions(np.random.default_rng(1)))[0])
        obs, _ = other.restore(states, [7, 0])
        here = env.restore(env.snapshot())[0]
        for k in obs:
            np.testing.assert_array_equal(obs[k][14:], here[k][4:6])
            np.testing.assert_array_equal(obs[k][:2], here[k][10:12])
            np.testing.assert_array_equal(obs[k][2:14], before[k][2:14])


def test_bad_states(env):
    advance(env, 2, 0)
    states = env.snapshot()
    before = env.snapshot().copy()
    wrong = states.copy()
    wrong[5] = 255
    with pytest.raises(blockyard.BadStateError, match="state 5") as caught:
        env.restore(wrong)
    assert caught.value.data["index"] == 5
    np.testing.assert_array_equal(env.snapshot(), before)
    for bad in (states[:3], states[:, :-1], states.astype(np.int16)):
        with pytest.raises(ValueError, match="states: want uint8"):
            env.restore(bad)


def test_clones_with_other_futures(env):
    advance(env, 4, 0)
    obs, _ = env.clone([0] * 8, range(8))
    for k in obs:
        np.testing.assert_array_equal(obs[k][::2], np.broadcast_to(obs[k][0], obs[k][::2].shape))
    obs, *_ = env.step(np.tile(env.legal_actions([0]).actions[env.legal_actions([0]).indptr[:-1]], 8))
    assert len({row.tobytes() for row in obs["globals"][::2]}) == 1
    env.clone([0] * 8, range(8), reseed=5)
    obs, *_ = env.step(np.tile(env.legal_actions([0]).actions[env.legal_actions([0]).indptr[:-1]], 8))
    assert len({row.tobytes() for row in obs["globals"][::2]}) > 1


def test_rollout(server: Server):
    with (
        begun(GAME, 8, address=server.unix, seed=3) as a,
        begun(GAME, 8, address=server.unix, seed=3) as b,
    ):
        played = a.rollout(40)
        assert played.steps == len(played.buffer) == 40
        assert played.actions.shape == (40, 8)
        for t, actions in enumerate(played.actions):
            obs, rewards, terminated, _, _ = b.step(np.where(actions == 65535, 0, actions))
            np.testing.assert_array_equal(played.buffer.planes[t], obs["planes"])
            np.testing.assert_array_equal(played.buffer.reward[t, :, 0], rewards)
            np.testing.assert_array_equal(played.buffer.terminated[t], terminated)
        last = a.rollout(5, keep="last")
        assert len(last.buffer) == 1
        assert last.steps == 5
        assert (a.action_masks == np.unpackbits(last.buffer.mask[0], axis=1, count=1601, bitorder="little")).all()
        with pytest.raises(TypeError, match=r"policy: want a spec such as 'hand', which the server plays, got <func"):
            a.rollout(5, lambda obs, mask: mask.argmax(1))


def test_rows_of_self_play(env):
    """Row i is game i // 2, seat i % 2: each observes what the other plays."""
    assert env.num_envs == 16
    assert env.num_games == 8
    assert env.rows_per_game == 2
    assert env.players == (0, 1)
    assert env.action_space.shape == (16,)
    obs, *_ = advance(env, 4, 0)
    np.testing.assert_array_equal(obs["planes"][::2, 0], obs["planes"][1::2, 1])
    np.testing.assert_array_equal(obs["planes"][::2, 1], obs["planes"][1::2, 0])
    obs, rewards, terminated, _, infos = env.step(env.sample_actions(np.random.default_rng(0)))
    assert rewards.shape == terminated.shape == infos["score"].shape == (16,)
    np.testing.assert_array_equal(terminated[::2], terminated[1::2])


def test_driving_the_other_seat(server: Server):
    with begun(GAME, 4, address=server.unix, opponents={0: "first"}, seed=1, reward="score") as env:
        assert env.players == (1,)
        assert env.num_envs == 4
        _, rewards, *_ = advance(env, 3, 0)
        np.testing.assert_array_equal(rewards, env.seat_rewards[:, 1])


def test_game_ids_that_make_no_sense(env):
    for bad in ([8], [-1]):
        with pytest.raises(ValueError, match="from 0 to 7"):
            env.snapshot(bad)
    for wrong in ([0.5], 0):
        with pytest.raises(TypeError, match="list of integers"):
            env.legal_actions(wrong)
    assert len(env.snapshot([])) == 0
    with pytest.raises(blockyard.RequestError):
        env.afterstates([1, 1])
