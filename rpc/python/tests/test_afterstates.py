"""Afterstates as actions: what rows observe, which action an index plays, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import GAME, MODES, Server, assert_same, begun, copied, play
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test
from test_transports import roads

import blockyard
from blockyard import features
from blockyard.pettingzoo import aec_env, parallel_env

WITHOUT_FEATURES = ("WinTetrisTick-v0",)
KINDS = [(game, "afterstates") for game in blockyard.ENV_IDS if game not in WITHOUT_FEATURES]
KINDS += [(game, "afterstate_planes") for game in blockyard.ENV_IDS]


def check_rows(env: blockyard.BlockVectorEnv, obs: dict, steps: np.ndarray, most: int) -> int:
    """Compare rows with answers about one game at a time, the slow and obvious way; return how many there are."""
    ids, masks = env.candidate_ids, env.action_masks
    assert np.array_equal(obs["mask"], masks)
    for game in range(env.num_games):
        seed = int(steps[game])
        f = features(env, [game], seed=seed) if "features" in obs else env.afterstates([game], seed=seed)
        for k in range(env.rows_per_game):
            row, (first, end) = game * env.rows_per_game + k, f.indptr[k : k + 2].astype(int)
            entries = np.arange(first, end)
            if len(entries) > most:
                entries = first + (np.arange(1, most + 1) * len(entries) + most - 1) // most - 1
            n = len(entries)
            assert masks[row].tolist() == [True] * n + [False] * (masks.shape[1] - n)
            assert ids[row].tolist() == f.actions[entries].tolist() + [65535] * (masks.shape[1] - n)
            for key in obs.keys() - {"mask"}:
                assert np.array_equal(obs[key][row, :n], getattr(f, key)[entries]), key
                assert not obs[key][row, n:].any()
    return env.num_envs


@pytest.mark.parametrize(("game", "actions"), KINDS)
def test_rows_are_the_afterstates(server: Server, game: str, actions: str):
    """Over 160 positions of every game; and each index plays the action whose afterstate it shows."""
    how = {"address": server.unix, "opponents": "random", "max_episode_steps": 25, "seed": 3, "illegal": "error"}
    many = {"actions": actions, "candidates": 12 if actions == "afterstate_planes" else 40}
    seen, rng = 0, np.random.default_rng(0)
    with blockyard.make_vec(game, 4, **how, **many) as env, blockyard.make_vec(game, 4, **how) as twin:
        obs, infos = env.reset()
        twin.reset()
        steps = np.zeros(4, np.int64)
        assert env.observation_space.contains(obs)
        for _ in range(40):
            seen += check_rows(env, obs, steps, many["candidates"])
            assert np.array_equal(infos["action_mask"], env.action_masks)
            chosen = env.sample_actions(rng)
            ids = env.candidate_ids[np.arange(4), chosen]
            assert env.action_masks[np.arange(4), chosen].all()
            before = {key: array.copy() for key, array in obs.items()}
            obs, rewards, terminated, truncated, infos = env.step(chosen)
            _, *others, shown = twin.step(ids)
            assert_same((rewards, terminated, truncated), tuple(others))
            ended = terminated | truncated
            steps = np.where(ended, 0, steps + 1)
            if ended.any():
                for row in np.flatnonzero(ended):
                    assert_same(infos["final_obs"][row], {key: array[row] for key, array in before.items()})
                assert np.array_equal(infos["final_info"]["action_mask"][ended], before["mask"][ended])
                assert_same(infos["final_info"]["score"], shown["final_info"]["score"])
    assert seen == 160


@pytest.mark.parametrize("mode", MODES)
def test_every_road(server: Server, mode: str):
    """The same bytes in this process, over every transport and several servers, with memory that is used again."""
    how = {"actions": "afterstates", "opponents": {1: {"random": 1, "hand:ply=1": 1}}, "max_episode_steps": 9}
    traces = {}
    for name, road in [*roads(server), ("inproc", {"transport": "inproc"})]:
        with blockyard.make_vec(GAME, 5, autoreset_mode=mode, **how, **road) as env:
            traces[name] = play(env, 30)
    for name, trace in traces.items():
        assert_same(trace, traces["socket"], name)


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0"])
def test_copies_and_buffers(game: str):
    """A copy, a checkpoint and a restored state go on alike; a step into one buffer keeps what final_obs needs."""
    how = {"actions": "afterstates", "opponents": None, "seed": 5, "max_episode_steps": 7}
    with begun(game, 3, **how) as env:
        buffer, rng = env.buffer(1), np.random.default_rng(1)
        with pickle.loads(pickle.dumps(env)) as twin, blockyard.make_vec(game, 3, **how) as third:
            third.restore_checkpoint(env.checkpoint())
            for _ in range(20):
                chosen = env.sample_actions(rng)
                want = copied(env.step(chosen, out=buffer[0]))
                assert np.array_equal(buffer.candidate_features[0], want[0]["features"])
                assert_same(copied(twin.step(chosen)), want)
                assert_same(copied(third.step(chosen)), want)
            states, now = env.snapshot(), copied(env.clone([0], [0])[0])
            env.step(env.sample_actions(rng))
            assert_same(copied(env.restore(states)[0]), now)


def test_policies_and_opponents(server: Server):
    """An opponent of this program observes boards and plays ids, whatever the environment's rows see."""
    seen = []

    def first(obs, mask):
        seen.append((obs["planes"].shape[1:], mask.shape[1]))
        return mask.argmax(1)

    how = {"address": server.unix, "opponents": first, "seed": 1}
    with begun(GAME, 2, actions="afterstates", **how) as env, begun(GAME, 2, **how) as twin:
        rng = np.random.default_rng(1)
        for _ in range(30):
            chosen = env.sample_actions(rng)
            ids = env.candidate_ids[np.arange(2), chosen]
            assert_same(env.step(chosen)[1:4], twin.step(ids)[1:4])
        env.set_opponents("hand:ply=1")
        env.reset()
        assert set(seen) == {(env.game_spec.planes_shape, env.game_spec.actions)}
        rollout = env.rollout(5, "hand:ply=1")
        played = rollout.buffer.candidate[:-1] == rollout.actions[1:, :, None]
        assert played.any(-1).all()


def test_single_environment():
    """Gymnasium's own check, and the same as a row of a vector environment."""
    with blockyard.make(GAME, actions="afterstates", seed=3) as env:
        check_env(env, skip_render_check=True)
        obs, info = env.reset(seed=3)
        with blockyard.make_vec(GAME, 1, actions="afterstates", autoreset_mode="Disabled") as many:
            assert_same(copied(obs), {key: array[0] for key, array in many.reset(seed=3)[0].items()})
            for _ in range(10):
                obs, reward, terminated, _, info = env.step(int(info["action_mask"].argmax()))
                shown, rewards, over, _, _ = many.step([0])
                assert_same(copied(obs), {key: array[0] for key, array in shown.items()})
                assert (reward, terminated) == (rewards[0], over[0])
                if terminated:
                    break


def test_an_index_without_a_candidate_is_illegal(server: Server):
    """It is never a legal action of the game, however many there are; with ``illegal="error"`` nothing is played."""
    how = {"address": server.unix, "actions": "afterstates", "seed": 2}
    for game in blockyard.ENV_IDS:
        if game in WITHOUT_FEATURES:
            continue
        with blockyard.make_vec(game, 2, **how, illegal="random") as env:
            _, infos = env.reset()
            for _ in range(5):
                wrong = ~infos["action_mask"][:, -1] & infos["acting"]
                infos = env.step(np.full(2, env.single_action_space.n - 1))[4]
                assert np.array_equal(infos["illegal"], wrong)
    with blockyard.make_vec(GAME, 2, **how, illegal="error") as env:
        obs, _ = env.reset()
        obs = copied(obs)
        with pytest.raises(blockyard.IllegalActionError, match=r"illegal action 63 of row 0, which has \d+ candidates"):
            env.step([63, 63])
        with pytest.raises(blockyard.IllegalActionError, match="64 is not an action"):
            env.step([64, 0])
        assert_same(copied(env.clone([0], [0])[0]), obs)


def test_what_cannot_be_combined(server: Server):
    """Each is refused when the environment is created, and the error says what to do."""
    for how, error, text in (
        ({"actions": "boards"}, ValueError, "want one of"),
        ({"candidates": 8}, ValueError, 'pass actions="afterstates" too'),
        ({"actions": "afterstates", "candidates": 0}, ValueError, "at least 1"),
        ({"actions": "afterstates", "packed": True}, ValueError, "no packed boards"),
    ):
        with pytest.raises(error, match=text):
            blockyard.make_vec(GAME, 2, address=server.unix, **how)
    with pytest.raises(blockyard.RequestError, match="defines no features"):
        blockyard.make_vec(WITHOUT_FEATURES[0], 2, address=server.unix, actions="afterstates")
    with pytest.raises(TypeError, match=r"actions: cannot be set in a pool: call blockyard.make_vec"):
        blockyard.BlockPool(GAME, 2, 1, address=server.unix, actions="afterstates")
    with pytest.raises(ValueError, match=r"observation='masked': with actions= it is a dict of arrays over candidates"):
        aec_env(GAME, address=server.unix, actions="afterstates", observation="masked")
    with begun(GAME, 2, address=server.unix, actions="afterstates") as env:
        with pytest.raises(RuntimeError, match="step_into: a buffer has ids of actions"):
            env.step_into(env.buffer(1))
        with pytest.raises(AttributeError, match="cannot be changed"):
            env.set_attr("candidates", 3)


@pytest.mark.parametrize("actions", ["afterstates", "afterstate_planes"])
@pytest.mark.parametrize("game", [GAME, "TetrisDuel-v0"])
def test_agents_of_pettingzoo(server: Server, game, actions):
    """PettingZoo's own checks pass, and each agent sees and plays what its row of a vector environment does."""
    parallel_api_test(parallel_env(game, address=server.unix, actions=actions, candidates=9), num_cycles=50)
    api_test(aec_env(game, address=server.unix, actions=actions, candidates=9), num_cycles=50)
    how = {"address": server.unix, "actions": actions, "candidates": 9}
    env = parallel_env(game, **how)
    with blockyard.make_vec(game, 1, opponents=None, autoreset_mode="Disabled", **how) as rows:
        seen, infos = env.reset(seed=5)
        want, _ = rows.reset(seed=5)
        for _ in range(30):
            for row, agent in enumerate(env.agents):
                assert all(np.array_equal(seen[agent][key], want[key][row]) for key in want)
                np.testing.assert_array_equal(infos[agent]["action_mask"], rows.action_masks[row])
            last = rows.action_masks.sum(1) - 1
            want, *_ = rows.step(last)
            seen, _, terminated, _, infos = env.step({agent: int(last[k]) for k, agent in enumerate(env.agents)})
            assert all(terminated.values()) == (not env.agents)
            if not env.agents:
                break
