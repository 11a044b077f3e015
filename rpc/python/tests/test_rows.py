"""A row is a seat: what a row sees and receives is what its seat sees and receives, in every game and mode."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from conftest import MODES, Server, advance, assert_same, begun, pairs, random_actions

import blockyard
from blockyard.pettingzoo import BlockAEC, aec_env

SEATS = [("TetrisDuel-v0", 2), ("Blocking-v0", 2), ("Blocking-v0", 3), ("Blocking-v0", 4), ("BlockBattle-v0", 2)]
IN_TURN = [pair for pair in SEATS if pair[0] != "BlockBattle-v0"]


class AsAgents:
    """One game of the batch, played by PettingZoo's accounting."""

    def __init__(self, env: BlockAEC, seed: int) -> None:
        self.env = env
        self.start(seed)

    def start(self, seed: int | None) -> None:
        self.env.reset(seed=seed)
        self.returns = np.zeros(len(self.env.possible_agents))
        self.row_returns = np.zeros(len(self.env.possible_agents))

    def planes(self) -> np.ndarray:
        return np.stack([self.env.observe(agent)["planes"] for agent in self.env.possible_agents])

    def acting(self) -> list[bool]:
        return [agent in self.env._acting for agent in self.env.possible_agents]

    def step(self, actions: np.ndarray) -> list[float]:
        """Let every acting agent play its row's action; return the rewards of all agents."""
        before = self.env._steps
        while self.env._steps == before:
            self.env.step(int(actions[self.env.possible_agents.index(self.env.agent_selection)]))
        rewards = [self.env.rewards[agent] for agent in self.env.possible_agents]
        self.returns += rewards
        return rewards


@pytest.mark.parametrize(
    ("game", "seats", "mode", "reward"),
    pairs(SEATS, [(mode, reward) for reward in ("result", "score") for mode in MODES]),
)
def test_rows_are_what_agents_see(server: Server, game, seats, mode, reward):
    """Transition by transition, the rows of a game and PettingZoo's agents are the same, and so are their returns."""
    games, how = 3, {"seats": seats, "address": server.unix, "reward": reward}
    with blockyard.make_vec(game, games, opponents=None, autoreset_mode=mode, **how) as env:
        assert (env.num_envs, env.rows_per_game, env.players) == (games * seats, seats, tuple(range(seats)))
        agents = [AsAgents(aec_env(game, observation="planes", **how), 5 + i) for i in range(games)]
        rng, ended, steps = np.random.default_rng(0), 0, 250 if game == "BlockBattle-v0" else 120
        obs, infos = env.reset(seed=5)
        for _ in range(steps):
            actions = random_actions(infos["action_mask"], rng)
            waiting = ~infos["acting"]
            actions[waiting] = rng.integers(0, 65536, waiting.sum())  # ignored
            running = [bool(infos["acting"][i * seats : (i + 1) * seats].any()) for i in range(games)]
            obs, rewards, terminated, truncated, infos = env.step(actions)
            assert not truncated.any()
            for i, game_ in enumerate(agents):
                rows = slice(i * seats, (i + 1) * seats)
                if not running[i]:  # NEXT_STEP has reset the game in this step
                    game_.start(None)
                    assert not rewards[rows].any()
                    assert not terminated[rows].any()
                else:
                    np.testing.assert_array_equal(rewards[rows], game_.step(actions[rows]))
                    game_.row_returns += rewards[rows]
                    np.testing.assert_array_equal(terminated[rows], game_.env._terminated)
                if terminated[rows].any():
                    ended += 1
                    np.testing.assert_array_equal(game_.row_returns, game_.returns)
                    if mode == "SameStep":
                        last = np.stack([infos["final_obs"][row]["planes"] for row in range(env.num_envs)[rows]])
                        np.testing.assert_array_equal(last, game_.planes())
                        assert not infos["final_info"]["acting"][rows].any()
                        scores = [game_.env.infos[agent]["score"] for agent in game_.env.possible_agents]
                        np.testing.assert_array_equal(infos["final_info"]["score"][rows], scores)
                        game_.start(None)
                np.testing.assert_array_equal(obs["planes"][rows], game_.planes())
                np.testing.assert_array_equal(infos["acting"][rows], game_.acting())
            if mode == "Disabled" and terminated.any():
                obs, infos = env.reset(options={"reset_mask": terminated})
                for i in np.flatnonzero(terminated[::seats]):
                    agents[i].start(None)
                    np.testing.assert_array_equal(obs["planes"][i * seats : (i + 1) * seats], agents[i].planes())
        assert ended >= games
        for game_ in agents:
            game_.env.close()


@pytest.mark.parametrize(("game", "seats"), IN_TURN)
def test_waiting_rows_have_one_action(server: Server, game, seats):
    """They have ``ignored_action`` everywhere where actions are listed, and whatever they are given changes nothing."""
    how = {"seats": seats, "opponents": None, "seed": 2, "address": server.unix}
    with (
        blockyard.make_vec(game, 5, **how) as env,
        begun(game, 5, illegal="error", **how) as strict,
    ):
        assert env.ignored_action == 0
        obs, infos = env.reset()
        for _ in range(40):
            waiting = np.flatnonzero(~infos["acting"])
            assert len(waiting) == 5 * (seats - 1)
            legal, after = env.legal_actions(), env.afterstates()
            assert (legal.counts >= 1).all()
            assert_same(legal.actions, after.actions)
            packed = np.unpackbits(env.packed_masks, axis=1, count=env.game_spec.actions, bitorder="little")
            np.testing.assert_array_equal(packed, infos["action_mask"])
            for row in range(env.num_envs):
                np.testing.assert_array_equal(np.flatnonzero(infos["action_mask"][row]), legal[row])
            for row in waiting:
                assert legal[row].tolist() == [0]
                k = after.indptr[row]
                np.testing.assert_array_equal(after.planes[k], obs["planes"][row])
                np.testing.assert_array_equal(after.globals[k], obs["globals"][row])
                assert (after.reward[k], after.done[k]) == (0, False)
            best = after.best(np.zeros(len(after)))
            assert best.shape == (env.num_envs,)
            assert (best >= 0).all()
            obs, *result, infos = env.step(after.actions[best])
            assert not infos["illegal"].any()
            wild = after.actions[best].astype(np.int64)
            wild[waiting] = 65535 - waiting
            others, *same, _ = strict.step(wild)
            assert_same([dict(others), same], [dict(obs), result])
        assert env.stats()["env"] == {"actions": 40 * 5, "illegal": 0}


@pytest.mark.parametrize("steps", [120, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("game", "seats", "mode"), pairs([(g, 0) for g in blockyard.ENV_IDS] + [("Blocking-v0", 4)], MODES)
)
def test_no_mask_is_ever_empty(server: Server, game, seats, mode, steps):
    """In every game and mode, through terminated and truncated episodes; what a mask allows is legal."""
    how = {"seats": seats or None, "max_episode_steps": 37, "autoreset_mode": mode, "address": server.unix}
    with blockyard.make_vec(game, 1, opponents=None, seed=1, **how) as env:
        rng = np.random.default_rng(0)
        _, infos = env.reset()
        for t in range(steps):
            masks = [info["action_mask"] for info in (infos, infos.get("final_info", infos))]
            assert all(mask.any(1).all() for mask in (*masks, env.action_masks))
            actions = random_actions(infos["action_mask"], rng) if t % 2 else env.sample_actions(rng)
            _, _, terminated, truncated, infos = env.step(actions)
            assert not infos["illegal"].any()
            if mode == "Disabled" and (done := terminated | truncated).any():
                assert done.all()
                _, infos = env.reset()


@pytest.mark.parametrize("mode", MODES)
def test_infos_of_ended_games(server: Server, mode):
    """A row of a game that NEXT_STEP is about to reset need not act; the final infos of SAME_STEP say what was last."""
    how = {"opponents": None, "autoreset_mode": mode, "max_episode_steps": 6, "address": server.unix}
    with blockyard.make_vec("TetrisDuel-v0", 3, seed=4, **how) as env:
        env.reset()
        *_, terminated, truncated, infos = advance(env, 6, 0)
        ended = terminated | truncated
        assert truncated.any()
        if mode == "SameStep":
            assert infos["acting"].sum() == 3
            last = infos["final_info"]
            assert not last["acting"].any()
            np.testing.assert_array_equal(last["action_mask"].sum(1)[truncated].reshape(-1, 2).min(1), 1)
            assert last["action_mask"][truncated].sum(1).max() > 1  # for bootstrapping
            assert last["action_mask"].any(1).all()
        else:
            assert not infos["acting"][ended].any()
            assert infos["action_mask"].any(1).all()
        assert infos["illegal"].shape == (6,)
        assert infos["_acting"].all()


@pytest.mark.parametrize(("game", "seats"), SEATS)
def test_acting_rows_are_the_same_games(server: Server, game, seats):
    """The compact form has a row per seat that acts at once; what it leaves out is in seat_rewards."""
    how = {"seats": seats, "opponents": None, "seed": 3, "address": server.unix}
    with blockyard.make_vec(game, 6, **how) as whole, blockyard.make_vec(game, 6, rows="acting", **how) as compact:
        at_once = 2 if game == "BlockBattle-v0" else 1
        assert (whole.rows_per_game, compact.rows_per_game) == (seats, at_once)
        obs, infos = whole.reset()
        fewer, few = compact.reset()
        rng = np.random.default_rng(0)
        for _ in range(60):
            acting = infos["acting"]
            assert few["acting"].all()
            np.testing.assert_array_equal(obs["planes"][acting], fewer["planes"])
            np.testing.assert_array_equal(infos["action_mask"][acting], few["action_mask"])
            np.testing.assert_array_equal(infos["score"][acting], few["score"])
            actions = compact.sample_actions(rng)
            every = np.zeros(whole.num_envs, np.int64)
            every[acting] = actions
            obs, rewards, terminated, _, infos = whole.step(every)
            fewer, few_rewards, few_terminated, _, few = compact.step(actions)
            np.testing.assert_array_equal(rewards[acting], few_rewards)
            np.testing.assert_array_equal(rewards, whole.seat_rewards.reshape(-1))
            np.testing.assert_array_equal(whole.seat_rewards, compact.seat_rewards)
            np.testing.assert_array_equal(terminated[::seats], few_terminated[::at_once])


@pytest.mark.parametrize("transport", ["shm", "socket", "split"])
def test_masks_of_rollouts(server: Server, program, tmp_path, transport):
    """A buffer that the server fills has the same masks as steps: none is empty."""
    where = {"address": server.unix, "transport": transport}
    if transport == "split":
        where = {"address": [server.unix, server.tcp]}
    for mode in MODES:
        with blockyard.make_vec("TetrisDuel-v0", 4, opponents=None, seed=1, autoreset_mode=mode, **where) as env:
            assert env.transport == transport
            env.reset()
            played = env.rollout(60)
            masks = np.unpackbits(played.buffer.mask, axis=2, count=env.game_spec.actions, bitorder="little")
            assert masks.any(2).all()
            rows = np.arange(env.num_envs)
            for t in range(59):  # with DISABLED, a rollout resets a game before it plays the next action
                reset = np.repeat(played.buffer.terminated[t] & (mode == "Disabled"), 2)
                assert (masks[t, rows, played.actions[t + 1]] | reset).all()
            assert env.action_masks.any(1).all()
            assert not played.buffer.illegal.any()


class TestIllegalActions:
    def test_default_is_the_penalty_counted(self, server: Server):
        with blockyard.make_vec("TetrisDuel-v0", 3, opponents=None, seed=1, address=server.unix) as env:
            _, infos = env.reset()
            mask = infos["action_mask"]
            assert "illegal" in infos
            actions = mask.argmax(1)
            wrong = int(np.flatnonzero(mask[0] == 0)[0])
            actions[0] = wrong
            actions[1] = wrong  # waits: never illegal
            _, rewards, terminated, _, infos = env.step(actions)
            assert infos["illegal"].tolist() == [True] + [False] * 5
            assert rewards[:2].tolist() == [-1, 1]
            assert terminated[:2].all()
            assert env.stats()["env"] == {"actions": 3, "illegal": 1}
            assert env.stats()["session"]["illegal"] == 1
            assert infos["final_info"]["illegal"].tolist() == [True] + [False] * 5

    def test_warns_once(self, server: Server):
        with begun("BlockBattle-v0", 64, seed=1, address=server.unix) as env:
            rng = np.random.default_rng(0)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(40):
                    env.step(rng.integers(0, 1601, 64))
            (warning,) = caught
            assert warning.category is RuntimeWarning
            assert warning.filename == __file__
            text = str(warning.message)
            for part in (" actions (9", "penalty", 'infos["action_mask"]', 'illegal="error"', 'illegal="random"'):
                assert part in text, text
            assert "\n" not in text

    def test_a_single_environment_warns_at_the_line_of_its_user(self, server: Server):
        with begun("BlockBattle-v0", seed=1, address=server.unix, kind=blockyard.make) as env:
            env.vector.engine.batch.illegal.warn_after = 1
            wrong = int(env.action_masks().argmin())
            with pytest.warns(RuntimeWarning, match="were illegal") as caught:
                env.step(wrong)
            assert caught[0].filename == __file__

    @pytest.mark.parametrize("treatment", ["penalty", "random"])
    def test_a_choice_is_silent(self, server: Server, treatment):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with begun("BlockBattle-v0", 64, seed=1, illegal=treatment, address=server.unix) as env:
                for _ in range(30):
                    *_, infos = env.step(np.random.default_rng(0).integers(0, 1601, 64))
                assert infos["illegal"].mean() > 0.8
                assert env.stats()["env"]["illegal"] > 1000

    def test_error(self, server: Server):
        with blockyard.make_vec("BlockBattle-v0", 2, seed=1, illegal="error", address=server.unix) as env:
            _, infos = env.reset()
            assert "illegal" not in infos
            with pytest.raises(blockyard.IllegalActionError, match=r'infos\["action_mask"\].*illegal="penalty"'):
                env.step([1600, 1600])


def test_default_rewards(server: Server):
    """In games of one seat the result is always the same: their reward is the score."""
    with blockyard.connect(server.unix) as client:
        for game in blockyard.ENV_IDS:
            spec = client.describe(game)
            assert spec.reward == ("score" if spec.max_seats == 1 else "result")
    with begun("Dropblox-v0", 8, seed=1, address=server.unix) as env:
        rewards = env.rollout(40, "hand:width=5").buffer.reward
        np.testing.assert_array_equal(rewards.sum((0, 2)), env.scores[:, 0])
        assert rewards.any()
