"""Policies of this program as opponents: what the trainer sees is what it sees of the server's opponents."""

from __future__ import annotations

import copy
import gc
import json
import subprocess
import weakref

import numpy as np
import pytest
from conftest import GAME, MODES, Server, advance, begun, first, last, pairs
from mortal import mortals

import blockyard
from blockyard.formats.checkpoint_file import Checkpoint


def plain(value):
    """Return infos and observations as what can be compared."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [plain(one) for one in value]
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


HOW = [
    {},
    {"reward": "score", "packed": True, "transport": "socket"},
    {"illegal": "error"},
    {"rows": "acting", "illegal": "random"},
]


@pytest.mark.parametrize(
    ("game", "opponents", "seats", "mode", "how"),
    pairs(
        [
            (GAME, [1], 2),
            (GAME, [0], 2),
            ("TetrisDuel-v0", [1], 2),
            ("TetrisDuel-v0", [0], 2),
            ("Blocking-v0", [0], 2),
            ("Blocking-v0", [1, 2, 3], 4),
            ("Blocking-v0", [0, 2], 4),
        ],
        [(mode, how) for how in HOW for mode in MODES],
    ),
)
def test_the_trainer_sees_what_it_sees_of_the_server(server: Server, game, opponents, seats, mode, how):
    """Every byte of observations, rewards, flags and infos; the policy plays as the server's agent does."""
    n, rng = 6, np.random.default_rng(0)
    limit = {"max_episode_steps": 7} if game != "Blocking-v0" else {}
    options = {"seats": seats, "autoreset_mode": mode, "seed": 5, "address": server.unix, **limit, **how}
    with (
        blockyard.make_vec(game, n, opponents=dict.fromkeys(opponents, "first"), **options) as theirs,
        blockyard.make_vec(game, n, opponents=dict.fromkeys(opponents, first), **options) as ours,
    ):
        assert repr(ours) == repr(theirs)
        want, got = theirs.reset(), ours.reset()
        assert plain(got) == plain(want)
        ended = 0
        for step in range(60):
            actions = theirs.sample_actions(rng)
            if how.get("illegal") != "error":
                actions[step % len(actions)] = rng.integers(theirs.game_spec.actions)
            want, got = theirs.step(actions), ours.step(actions)
            for k, name in enumerate(("obs", "rewards", "terminated", "truncated")):
                assert plain(got[k]) == plain(want[k]), (step, name)
            assert got[4].keys() == want[4].keys()
            for key in got[4]:
                assert plain(got[4][key]) == plain(want[4][key]), (step, key)
            for name in ("scores", "seat_rewards", "action_masks", "acting"):
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
            over = want[2] | want[3]
            ended += int(over.sum())
            assert plain(ours.final().__dict__) == plain(theirs.final().__dict__)
            if mode == "Disabled" and over.any():
                want, got = (env.reset(options={"reset_mask": over}) for env in (theirs, ours))
                assert plain(got[0]) == plain(want[0])
                np.testing.assert_array_equal(got[1]["action_mask"], want[1]["action_mask"])
            if step % 20 == 3 and mode == "SameStep":
                np.testing.assert_array_equal(ours.legal_actions().actions, theirs.legal_actions().actions)
                assert ours.observation_texts() == theirs.observation_texts()
        assert ended > 5
        assert list(ours.opponent_stats().values()) == list(theirs.opponent_stats().values())


@pytest.mark.parametrize("game", [GAME, "TetrisDuel-v0"])
def test_the_games_are_those_of_both_seats_by_hand(server: Server, game):
    """The same seeds and choices: the actions, positions and ends of all games, byte for byte."""
    n = 5
    with (
        blockyard.make_vec(game, n, seed=9, opponents=None, address=server.unix) as by_hand,
        blockyard.make_vec(game, n, seed=9, opponents={1: last}, address=server.unix) as env,
    ):
        games = [[], []]
        by_hand.reset()
        for _ in range(160):
            mask, acting = by_hand.action_masks, by_hand.acting
            actions = np.where(np.arange(2 * n) % 2 == 0, first(None, mask), last(None, mask))
            before = by_hand.engine.batch.current.planes[::2].copy()
            by_hand.step(actions)
            games[0] += [(i, before[i].tobytes(), int(actions[2 * i])) for i in range(n) if acting[2 * i]]
        env.reset()
        for _ in range(160):
            before, actions = env.engine.batch.current.planes.copy(), first(None, env.action_masks)
            env.step(actions)
            games[1] += [(i, before[i].tobytes(), int(actions[i])) for i in range(n)]
    for i in range(n):
        hand, ours = ([one for one in some if one[0] == i] for some in games)
        assert len(hand) >= 70
        assert hand == ours[: len(hand)]


def test_mixtures_follow_from_the_seed(server: Server):
    opponents = {1: {"random": 0.3, "first": 0.2, last: 0.3, first: 0.2}}

    def play(seed):
        with blockyard.make_vec(GAME, 32, seed=seed, opponents=opponents, address=server.unix) as env:
            seen = [env.reset()[1]["opponent"]]
            for _ in range(150):
                seen.append(env.step(env.action_masks.argmax(1))[4]["opponent"])
            assert env.opponent_specs == ("random", "first", "last", "first#2")
            return np.stack(seen), env.opponent_stats()

    (a, stats), (b, again), (c, _) = play(1), play(1), play(2)
    np.testing.assert_array_equal(a, b)
    assert stats == again
    assert (a != c).any()
    games = np.array([s.games for s in stats.values()])
    assert abs(games / games.sum() - [0.3, 0.2, 0.3, 0.2]).max() < 0.12, games


def test_forged_checkpoints(server: Server):
    """What the client keeps of policies is refused in words when it is missing or of another kind."""
    with blockyard.make_vec(GAME, 4, opponents=first, address=server.unix) as env:
        env.reset(seed=1)
        data = env.checkpoint()
        for wrong in (None, {}, 7, "x", [{}], [1], ["x"], {"x": 1}):
            forged = Checkpoint.from_bytes(data)
            forged.client["policies"] = wrong
            with pytest.raises(blockyard.CheckpointError):
                env.restore_checkpoint(forged.to_bytes())
        for head in (b'{"opponents": ["client:first"], "mixtures": 1}', b'{"opponents": ["client:x"], "mixtures": []}'):
            forged = Checkpoint.from_bytes(data)
            forged.head = head
            with pytest.raises(blockyard.CheckpointError):
                env.restore_checkpoint(forged.to_bytes())
        env.restore_checkpoint(data)
        env.step(env.action_masks.argmax(1))


def test_states_and_checkpoints(server: Server):
    """They continue exactly, with the policy given again by its name."""
    opponents = {1: {"random": 0.5, last: 0.5}}
    with begun(GAME, 8, seed=1, opponents=opponents, address=server.unix) as env:
        advance(env, 40, 0)
        states, data = env.snapshot(), env.checkpoint()

        def play(env, n=50):
            return [plain(list(env.step(env.action_masks.argmax(1)))) for _ in range(n)], env.opponent_stats()

        before = env.opponent_stats()
        want = play(env)
        env.restore_checkpoint(data)
        assert env.opponent_stats() == before
        assert play(env) == want
        other = {1: {last: 1}}
        with begun(GAME, 8, opponents=other, address=server.unix, checkpoint=data) as again:
            assert play(again) == want
        for wrong in ({1: first}, "random"):
            with pytest.raises(blockyard.CheckpointError, match="last"):
                blockyard.make_vec(GAME, 8, opponents=wrong, address=server.unix, checkpoint=data)
        now = env.clone([0, 1, 0], [5, 6, 7])[0]["planes"]
        np.testing.assert_array_equal(now[[5, 6, 7]], now[[0, 1, 0]])
        obs = env.restore(states)[0]["planes"]
        np.testing.assert_array_equal(env.snapshot(), states)
        play(env, 5)
        np.testing.assert_array_equal(env.restore(states[[3]], [0])[0]["planes"][0], obs[3])
        play(env, 100)


def test_several_servers(server: Server):
    """The same bytes as one server, and a checkpoint of either continues on the other."""
    one, two = server.unix, [server.unix, server.tcp]
    opponents = {1: {"random": 0.5, last: 0.5}}

    def play(env, steps):
        return [plain(list(env.step(env.action_masks.argmax(1)))) for _ in range(steps)]

    with (
        blockyard.make_vec(GAME, 5, seed=1, opponents=opponents, address=one) as env,
        blockyard.make_vec(GAME, 5, seed=1, opponents=opponents, address=two) as split,
    ):
        assert plain(env.reset()) == plain(split.reset())
        assert play(env, 90) == play(split, 90)
        data = split.checkpoint()
        want = play(split, 60)
        with begun(GAME, 5, opponents=opponents, address=one, checkpoint=data) as again:
            assert play(again, 60) == want
    with blockyard.BlockPool(GAME, 6, 6, seed=3, opponents=opponents, address=two) as pool:
        pool.async_reset()
        for _ in range(30):
            batch = pool.recv()
            pool.send(batch.action_masks.argmax(1), batch.env_ids)
        pool.recv()
        data = pool.checkpoint()
        pool.restore_checkpoint(data)
        want = pool.recv()
        with blockyard.BlockPool(GAME, 6, 6, opponents=opponents, address=one, checkpoint=data) as again:
            again.async_reset()
            got = again.recv()
            order = np.argsort(want.env_ids), np.argsort(got.env_ids)
            np.testing.assert_array_equal(want.obs["planes"][order[0]], got.obs["planes"][order[1]])
            assert again.opponent_stats() == pool.opponent_stats()


def test_records_have_the_names_of_policies(server: Server, tmp_path, datasets):
    """With the hash of the weights, where it is known."""
    path, digest = tmp_path / "games.jsonl", "ab" * 32
    mine = blockyard.policies.named("mine", last, sha256=digest)
    record = {"path": path, "every": 1, "players": "me"}
    how = {"address": server.unix, "seed": 1, "record": record}
    with begun(GAME, 4, opponents={1: {mine: 1, first: 1}}, **how) as env:
        advance(env, 60)
        env.set_opponents({1: {"random": 1, mine: 1}})
        advance(env, 100)
        recording, stats = env.stop_recording(), env.opponent_stats()
    names = [tuple(json.loads(line)["agents"]) for line in path.read_text().splitlines()]
    assert len(names) == recording.games == sum(s.games for s in stats.values())
    assert stats.keys() == {"mine", "first", "random"}
    for name, one in stats.items():
        recorded = f"mine@sha256:{digest}" if name == "mine" else name
        assert names.count(("me", recorded)) == one.games > 0
    subprocess.run([*datasets, "check", path], check=True)


def test_policies_that_are_wrong(server: Server):
    calls = []

    def fails(obs, mask):
        calls.append(len(mask))
        if len(calls) == 3:
            raise KeyError("mine")
        return mask.argmax(1)

    with begun("TetrisDuel-v0", 4, opponents={1: fails}, address=server.unix, seed=1) as env:
        actions = env.action_masks.argmax(1)
        env.step(actions)
        env.step(env.action_masks.argmax(1))
        with pytest.raises(KeyError, match="mine"):
            env.step(env.action_masks.argmax(1))
        with pytest.raises(blockyard.OpponentError, match=r"reset\(\) all games"):
            env.step(env.action_masks.argmax(1))
        env.reset()
        env.step(env.action_masks.argmax(1))
    with begun(GAME, 4, opponents=lambda obs, mask: mask.argmin(1), address=server.unix) as env:
        with pytest.raises(ValueError, match="opponent 'policy': it returned action 0 in row 0, which is not legal"):
            env.step(env.action_masks.argmax(1))
    with pytest.raises(ValueError, match="played by one seat"):
        blockyard.make_vec("WinTetris-v0", opponents=first, address=server.unix)


@pytest.mark.parametrize("game", [GAME, "TetrisDuel-v0"])
def test_after_a_policy_that_raised(server: Server, game):
    """States and checkpoints are a way back, to the very games of before; a part of the games is not."""
    failing = []

    def sometimes(obs, mask):
        if failing:
            raise KeyError("mine")
        return mask.argmax(1)

    with begun(game, 4, seed=1, opponents={1: sometimes}, address=server.unix) as env:
        advance(env, 9)
        states, data, steps = env.snapshot(), env.checkpoint(), []
        for back in (lambda: None, lambda: env.restore(states), lambda: env.restore_checkpoint(data)):
            back()
            steps.append([plain(list(env.step(env.action_masks.argmax(1))[:4])) for _ in range(20)])
            failing.append(True)
            with pytest.raises(KeyError, match="mine"):
                env.step(env.action_masks.argmax(1))
            failing.clear()
            if game == "TetrisDuel-v0":  # moves were made before the policy was asked
                env.restore(states[:3], [0, 1, 2])
                with pytest.raises(blockyard.OpponentError, match=r"reset\(\) all games, or restore\(\)"):
                    env.step(env.action_masks.argmax(1))
        assert steps[1] == steps[0] == steps[2]


def test_a_pool(server: Server):
    """The same bytes as an environment, game by game."""
    opponents = {1: {"random": 0.5, last: 0.5}}
    with (
        blockyard.make_vec(GAME, 6, seed=3, opponents=opponents, address=server.unix) as env,
        blockyard.BlockPool(GAME, 6, 2, seed=3, opponents=opponents, address=server.unix) as pool,
    ):
        want, seen = {i: [] for i in range(6)}, {i: [] for i in range(6)}
        env.reset()
        for _ in range(80):
            obs, rewards, terminated, _, infos = env.step(env.action_masks.argmax(1))
            for i in range(6):
                final = plain(infos["final_obs"][i]) if terminated[i] else None
                want[i].append((obs["planes"][i].tobytes(), rewards[i], infos["opponent"][i], final))
        pool.async_reset()
        while min(map(len, seen.values())) <= 80:
            batch = pool.recv()
            for k, i in enumerate(batch.env_ids.tolist()):
                final = plain(batch.infos["final_obs"][k]) if batch.terminated[k] else None
                seen[i].append((batch.obs["planes"][k].tobytes(), batch.rewards[k], batch.infos["opponent"][k], final))
            pool.send(batch.action_masks.argmax(1), batch.env_ids)
        for i in range(6):
            assert seen[i][1:81] == want[i]
        assert pool.opponent_specs == env.opponent_specs


def test_a_pool_whose_policy_fails(server: Server):
    """It says so, and goes on after a reset."""
    calls = []

    def fails(obs, mask):
        calls.append(len(mask))
        if len(calls) == 5:
            raise KeyError("mine")
        return mask.argmax(1)

    for game in (GAME, "TetrisDuel-v0"):
        calls.clear()
        with blockyard.BlockPool(game, 4, 2, seed=1, opponents={1: fails}, address=server.unix) as pool:
            pool.async_reset()

            def play(steps):
                for _ in range(steps):
                    batch = pool.recv()
                    pool.send(batch.action_masks.argmax(1), batch.env_ids)

            with pytest.raises(KeyError, match="mine"):
                play(20)
            while pool._receiver.flying:  # what was sent before
                pool.recv()
            pool.async_reset()
            play(20)


def test_other_forms_of_the_environment(server: Server, closing):
    """Single environments, PettingZoo and a pickled copy."""
    import pickle

    from blockyard.pettingzoo import aec_env

    env = closing(blockyard.make("TetrisDuel-v0", opponents={1: last}, seed=1, address=server.unix))
    theirs = closing(blockyard.make_vec("TetrisDuel-v0", 1, opponents=last, seed=1, address=server.unix))
    assert (env.reset()[0]["planes"] == theirs.reset()[0]["planes"][0]).all()
    for _ in range(10):
        obs, *_ = env.step(env.action_masks().argmax())
        np.testing.assert_array_equal(obs["planes"], theirs.step(theirs.action_masks.argmax(1))[0]["planes"][0])
    with pickle.loads(pickle.dumps(theirs)) as copied:
        for _ in range(5):
            a, b = (e.step(e.action_masks.argmax(1))[0]["planes"] for e in (copied, theirs))
            np.testing.assert_array_equal(a, b)
    zoo = closing(aec_env("Blocking-v0", seats=3, opponents={1: last}, address=server.unix))
    zoo.reset(seed=1)
    assert zoo.possible_agents == ["player_0", "player_2"]
    for _ in zoo.agent_iter():
        *_, terminated, truncated, info = zoo.last()
        assert info["opponent"] == "last"
        zoo.step(None if terminated or truncated else int(info["action_mask"].argmax()))


def test_a_curriculum(server: Server):
    """A game goes up when it wins, down when it loses; its place is in infos, stats and checkpoints."""
    rungs = blockyard.rungs(GAME)
    with blockyard.make_vec(GAME, 6, opponents="curriculum", seed=1, address=server.unix) as env:
        _, infos = env.reset()
        assert env.opponent_specs == tuple(rungs)
        assert infos["rung"].tolist() == [0] * 6
        seen = set()
        for _ in range(600):
            *_, infos = env.step(strong(env))
            np.testing.assert_array_equal(infos["rung"], infos["opponent"])
            seen.update(infos["rung"].tolist())
        assert {0, 1, 2} <= seen
        stats = env.opponent_stats()
        assert stats[rungs[0]].games >= 60
        assert env.stats()["env"]["rung"] == infos["rung"].tolist()
        data, places = env.checkpoint(), infos["rung"].copy()
        for _ in range(3):
            env.step(strong(env))
        for given in ("curriculum", "random", dict.fromkeys(rungs, 1)):  # who plays is taken from the checkpoint
            with blockyard.make_vec(GAME, 6, opponents=given, address=server.unix, checkpoint=data) as again:
                assert again.reset()[1]["rung"].tolist() == places.tolist()
                assert again.opponent_stats() == stats
    for part in ({1: "curriculum"}, {"curriculum": 1, "random": 1}):
        with pytest.raises(ValueError, match="for all seats of make_vec; otherwise name one"):
            blockyard.make_vec(GAME, 2, opponents=part, address=server.unix)


def strong(env):
    """Actions that win against the weakest: those that leave the lowest board."""
    found = env.afterstates(seed=1)
    filled = (found.planes[:, 0] > 0).any(axis=2).sum(axis=1)
    return found.actions[found.best(-filled.astype(np.float32) - 0.01 * (found.planes[:, 0] > 0).sum((1, 2)))]


@pytest.mark.parametrize("opponents", [{1: last}, {1: {"random": 1, last: 1, first: 1}}, "curriculum", "hand:ply=1"])
def test_copies_go_on(server: Server, opponents):
    """A copy continues after the opponents were replaced, with those of games in progress and those to come."""
    with begun(GAME, 6, seed=1, address=server.unix, opponents={1: {first: 1, "random": 1}}) as env:
        advance(env, 20)
        env.set_opponents(opponents)
        env.step(env.action_masks.argmax(1))
        with pytest.raises(ValueError, match="'first' is a policy and a spec; give the policy another name"):
            env.set_opponents("first")
        with copy.deepcopy(env) as other:
            for _ in range(120):
                a, b = (plain(list(e.step(e.action_masks.argmax(1)))) for e in (env, other))
                assert a == b
            assert env.opponent_stats() == other.opponent_stats()


class Net:
    """A policy with an object of its own."""

    def __call__(self, obs, mask):
        return mask.argmax(1)


def test_replaced_policies_are_freed(server: Server):
    """As soon as the last game against them has ended: a league may run for days."""
    refs = []
    with (
        begun(GAME, 4, seed=1, address=server.unix) as env,
        blockyard.BlockPool(GAME, 4, 2, seed=1, address=server.unix) as pool,
    ):
        pool.async_reset()

        def play(steps):
            for _ in range(steps):
                env.step(env.action_masks.argmax(1))
                for _ in range(2):
                    batch = pool.recv()
                    pool.send(batch.action_masks.argmax(1), batch.env_ids)

        for _ in range(3):
            for one in (env, pool):
                net = Net()
                refs.append(weakref.ref(net))
                one.set_opponents({1: net})
                del net
            play(3)
            assert refs[-1]() is not None
            assert refs[-2]() is not None
        env.set_opponents("random")
        pool.set_opponents("random")
        play(150)
        gc.collect()
        assert [ref() for ref in refs] == [None] * 6
        assert env.opponent_specs == pool.opponent_specs == ("random", "Net", "Net#2", "Net#3")
        assert env.rollout(2).steps == 2, "no policy plays any more"


def test_what_policies_get_is_their_own(server: Server):
    """What they write there changes neither what is legal nor what others see."""

    def vandal(obs, mask):
        actions = mask.argmax(1)
        for array in (*obs.values(), mask):
            array[:] = 0
        return actions

    with (
        blockyard.make_vec(GAME, 4, seed=1, opponents=vandal, address=server.unix) as env,
        blockyard.make_vec(GAME, 4, seed=1, opponents="first", address=server.unix) as other,
    ):
        assert plain(env.reset()[0]) == plain(other.reset()[0])
        for _ in range(80):
            a, b = (e.step(e.action_masks.argmax(1)) for e in (env, other))
            assert plain(a[0]) == plain(b[0])
    assert blockyard.evaluate(vandal, "random", game=GAME, games=2, address=server.unix).games == 2

    def sloppy(obs, mask):
        mask[:, 0] = True
        return np.zeros(len(mask), int)

    for one, other in ((sloppy, "random"), ("random", sloppy), (first, sloppy)):
        with pytest.raises(ValueError, match="returned action 0 in row 0, which is not legal"):
            blockyard.evaluate(one, other, game=GAME, games=2, address=server.unix)


@pytest.mark.parametrize(("game", "mode"), pairs([GAME, "TetrisDuel-v0", "Blocking-v0"], MODES))
def test_games_against_policies_heal(server: Server, program, tmp_path, game, mode):
    """They go on exactly when their server is killed, also in a pool: no policy is asked again for an old step."""
    options = {
        "opponents": {"first": 1, last: 1},
        "seed": 4,
        "autoreset_mode": mode,
        "seats": 4 if "ing" in game else 2,
    }

    def played(env, kill):
        env.reset()
        seen = []
        for t in range(90):
            if t in (7, 30, 31, 60):
                kill()
            if (
                mode == "Disabled"
                and (over := ~env.acting & (env.engine.batch.current.terminated.repeat(env.rows_per_game))).any()
            ):
                env.reset(options={"reset_mask": over})
            seen.append(plain(list(env.step(env.action_masks.argmax(1))[:4])))
        return seen, env.opponent_stats()

    with blockyard.make_vec(game, 5, address=server.unix, **options) as env:
        want = played(env, lambda: None)
    with (
        mortals(program, f"unix:{tmp_path}/a") as servers,
        blockyard.make_vec(game, 5, address=servers[0].address, heal=True, snapshot_every=9, **options) as env,
    ):
        assert played(env, servers[0].restart) == want


def test_a_pool_against_policies_heals(server: Server, program, tmp_path):
    options = {"opponents": {"first": 1, last: 1}, "seed": 4}

    def played(pool, kill):
        seen = {i: [] for i in range(6)}
        pool.async_reset()
        for t in range(200):
            if t in (20, 90, 91):
                kill()
            batch = pool.recv()
            for k, i in enumerate(batch.env_ids.tolist()):
                seen[i].append((batch.obs["planes"][k].tobytes(), batch.rewards[k], batch.infos["opponent"][k]))
            pool.send(batch.action_masks.argmax(1), batch.env_ids)
        return seen

    for game in (GAME, "TetrisDuel-v0"):
        with blockyard.BlockPool(game, 6, 2, address=server.unix, **options) as pool:
            want = played(pool, lambda: None)
        with (
            mortals(program, f"unix:{tmp_path}/{game}") as servers,
            blockyard.BlockPool(game, 6, 2, address=servers[0].address, heal=True, snapshot_every=9, **options) as pool,
        ):
            got = played(pool, servers[0].restart)
        for i in range(6):
            least = min(len(want[i]), len(got[i]))
            assert least > 20
            assert got[i][:least] == want[i][:least]


def test_a_policy_costs_one_handle(server: Server):
    """However many opponents of whatever kinds a mixture has."""
    with blockyard.connect(server.unix) as client:
        before = client.stats()["session"]["handles"]
        with client.make_vec(GAME, 4, opponents={first: 1, last: 1, "random": 1, "hand:ply=1": 1}) as env:
            env.reset()
            advance(env, 60)
            assert client.stats()["session"]["handles"] == before + 1


def test_a_policy_named_as_an_earlier_opponent(server: Server, tmp_path):
    """It is another opponent, with results and records of its own, also where the earlier one has left."""
    mine = blockyard.policies.named("random", last)
    record = {"path": tmp_path / "games.jsonl", "every": 1}
    with (
        begun(GAME, 4, seed=1, address=server.unix, opponents="random", record=record) as env,
        blockyard.BlockPool(GAME, 4, 4, seed=1, address=server.unix, opponents="random") as pool,
    ):
        pool.async_reset()
        for _ in range(2):  # to the same policy again
            for one in (env, pool):
                one.set_opponents("first")
                one.set_opponents({1: {mine: 1}})
                assert one.opponent_specs == ("random", "first", "random#2")
            advance(env, 120)
        stats = env.opponent_stats()
        assert list(stats) == ["random", "first", "random#2"]
        assert stats["random#2"].games > 4 >= stats["random"].games > 0
        with copy.deepcopy(env) as other:
            other.set_opponents({1: blockyard.policies.named("first", first)})
            assert other.opponent_specs == ("random", "first", "random#2", "first#2")
            assert other.opponent_stats()["random#2"] == stats["random#2"]
        env.stop_recording()
    agents = [json.loads(line)["agents"][1] for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert [agents.count(name) for name in stats] == [one.games for one in stats.values()]
