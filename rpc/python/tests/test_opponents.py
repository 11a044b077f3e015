"""Mixtures of opponents, results against each, and weights that go to servers by their content."""

from __future__ import annotations

import gc
import hashlib
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import GAME, Server, begun, first

import blockyard
from blockyard.formats.opponents import Lineup

MIXTURE = {"hand:ply=1": 1, "random": 3.0}


def network(path: Path, seed: int, game: str = GAME) -> str:
    """Write random weights for a game, and return the file's name."""
    facts, rng = blockyard.feature_facts(game), np.random.default_rng(seed)
    layers = [(rng.normal(size=(4, len(facts))), np.zeros(4)), (rng.normal(size=(1, 4)), np.zeros(1))]
    blockyard.save_weights(path, layers, facts, {"seed": str(seed)})
    return str(path)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_infos_say_who_plays(server: Server, mode: str):
    """The default script of a league: who is the opponent, who was it at the end, and how it went."""
    opponents, n = {1: MIXTURE}, 64
    with blockyard.make_vec(
        GAME, n, seed=3, opponents=opponents, autoreset_mode=mode, max_episode_steps=12, address=server.unix
    ) as env:
        _, infos = env.reset()
        assert env.opponent_specs == ("hand:ply=1", "random")
        playing, rng = infos["opponent"].copy(), np.random.default_rng(0)
        assert playing.shape == (n,)
        assert set(playing) == {0, 1}
        assert infos["_opponent"].all()
        counts: Counter[tuple[str, str]] = Counter()
        for _ in range(60):
            _, rewards, terminated, truncated, infos = env.step(env.sample_actions(rng))
            ended = terminated | truncated
            if mode == "SameStep" and ended.any():
                np.testing.assert_array_equal(infos["final_info"]["opponent"][ended], playing[ended])
                np.testing.assert_array_equal(env.final().opponents[:, 1], playing[ended])
                assert (env.final().opponents[:, 0] == 65535).all()
            elif mode != "SameStep":
                np.testing.assert_array_equal(infos["opponent"][ended], playing[ended])
            for row in np.flatnonzero(ended):
                how = "truncated" if truncated[row] else {1: "wins", 0: "draws", -1: "losses"}[int(rewards[row])]
                counts[env.opponent_specs[playing[row]], how] += 1
            playing = infos["opponent"].copy()
            if mode == "Disabled" and ended.any():
                _, infos = env.reset(options={"reset_mask": ended})
                playing = infos["opponent"].copy()
        stats = env.opponent_stats()
        for spec, one in stats.items():
            for how in ("wins", "draws", "losses", "truncated"):
                assert getattr(one, how) == counts[spec, how]
        assert stats["hand:ply=1"].losses > 0
        assert stats["random"].truncated > 0
        assert sum(s.games for s in stats.values()) == sum(counts.values())
        assert env.opponent_stats(reset=True) == stats
        assert all(s.games == 0 and math.isnan(s.score) for s in env.opponent_stats().values())
        assert {"games", "score", "wins"} <= stats["random"].as_dict().keys()


def test_draws_have_the_frequency_of_the_weights(server: Server):
    seen: Counter[int] = Counter()
    with blockyard.make_vec(GAME, 1000, seed=0, opponents=MIXTURE, address=server.unix) as env:
        for _ in range(5):
            seen.update(env.reset()[1]["opponent"].tolist())
    assert abs(seen[0] - 1250) < 4 * math.sqrt(5000 * 0.25 * 0.75)


@pytest.mark.parametrize("transport", ["shm", "socket"])
def test_same_bytes_on_any_split_and_transport(server: Server, tmp_path: Path, transport: str):
    """Opponents are drawn from the seed of each game: not a byte depends on how games are distributed."""
    weights = network(tmp_path / "w.safetensors", 1)
    opponents = {1: {"random": 1, f"learned:ply=1,weights={weights}": 0.5, "first": 1}}

    def run(address, n, first=0):
        with blockyard.BlockVectorEnv(
            GAME, n, first=first, seed=7, opponents=opponents, address=address, max_episode_steps=9, transport=transport
        ) as env:
            env.reset()
            steps = []
            for k in range(30):
                if k == 15:
                    env.set_opponents({"random": 1, "first": 2})
                action = np.arange(first, first + n) * 7 + k
                legal = env.legal_actions()
                chosen = [legal[row][action[row] % len(legal[row])] for row in range(n)]
                obs, rewards, _, _, infos = env.step(np.array(chosen))
                steps.append([obs["planes"], rewards, infos["opponent"]])
            return [np.stack(x) for x in zip(*steps, strict=True)], env.opponent_stats()

    whole, stats = run(server.unix, 10)
    parts = [run(server.unix, n, first)[0] for n, first in ((3, 0), (7, 3))]
    for k, array in enumerate(whole):
        np.testing.assert_array_equal(array, np.concatenate([p[k] for p in parts], axis=1))
    if transport == "socket":
        split, counted = run([server.tcp, server.unix], 10)
        for a, b in zip(whole, split, strict=True):
            np.testing.assert_array_equal(a, b)
        assert counted == stats
        assert sum(s.games for s in stats.values()) > 10


def test_seats_have_their_own_mixtures(server: Server):
    """Several opponents and several driven seats: a column of the infos for each opponent, a row for each seat."""
    opponents = {1: "random", 3: {"first": 1, "random": 1}}
    with blockyard.make_vec("Blocking-v0", 6, seats=4, seed=1, opponents=opponents, address=server.unix) as env:
        _, infos = env.reset()
        assert env.num_envs == 12
        assert infos["opponent"].shape == (12, 2)
        np.testing.assert_array_equal(infos["opponent"][0::2], infos["opponent"][1::2])
        assert set(infos["opponent"][:, 0]) == {0}
        env.set_opponents({3: "hand:ply=1"})
        _, infos = env.reset()
        assert [env.opponent_specs[k] for k in infos["opponent"][0]] == ["random", "hand:ply=1"]
        with pytest.raises(blockyard.RequestError, match="seat 0 is played by the client"):
            env.set_opponents({0: "random"})
    with blockyard.make_vec(GAME, 2, opponents=None, address=server.unix) as env:
        assert "opponent" not in env.reset()[1]
        assert env.opponent_stats() == {}
        with pytest.raises(ValueError, match="you drive every seat"):
            env.set_opponents("random")
    with blockyard.make(GAME, opponents=MIXTURE, seed=1, address=server.unix) as env:
        assert env.opponent_specs[int(env.reset()[1]["opponent"])] in MIXTURE
        env.set_opponents("first")
        assert env.opponent_specs[int(env.reset()[1]["opponent"])] == "first"


@pytest.mark.parametrize("opponents", ["random", {1: MIXTURE}])
def test_set_opponents_is_as_if_created_with_them(server: Server, opponents):
    with begun(GAME, 8, seed=1, opponents="first", address=server.unix) as env:
        env.set_opponents(opponents)
        assert set(env.step(env.sample_actions(np.random.default_rng(0)))[4]["opponent"]) == {0}
        env.reset(seed=1)
        later = env.rollout(20).buffer
        names = np.array(env.opponent_specs)
        with begun(GAME, 8, seed=1, opponents=opponents, address=server.unix) as fresh:
            first = fresh.rollout(20).buffer
            for name in ("planes", "reward", "mask"):
                np.testing.assert_array_equal(later.arrays[name], first.arrays[name])
            playing = np.array(fresh.opponent_specs)[first.arrays["opponent"][..., 1]]
        np.testing.assert_array_equal(names[later.arrays["opponent"][..., 1]], playing)


def test_weights_go_to_a_server_by_content(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The server reads no file: it gets the bytes once, under their hash, also over TCP and from another folder."""
    calls: list[str] = []
    call = blockyard.transport.connection.Connection.call
    monkeypatch.setattr(blockyard.transport.connection.Connection, "call", lambda *a: [calls.append(a[1]), call(*a)][1])
    monkeypatch.chdir(tmp_path)
    network(tmp_path / "a.safetensors", 1)
    a = "learned:ply=1,weights=a.safetensors"
    with blockyard.connect(server.tcp) as client:
        env = client.make_vec(GAME, 8, opponents={1: {"random": 1, a: 1}}, seed=1, max_episode_steps=5)
        two = client.make_vec(GAME, 8, opponents=a, seed=1)
        assert env.opponent_specs == ("random", a)
        assert calls.count("upload") == 1
        env.reset()
        env.rollout(5, a)
        assert calls.count("upload") == 1
        used = client.stats()["memory"]
        for k in range(2, 6):  # the file changes, as a newest checkpoint does: each content is another opponent
            network(tmp_path / "a.safetensors", k)
            env.set_opponents({"random": 1, a: 1})
            (tmp_path / "a.safetensors").unlink()
            env.rollout(1)
            env.reset()
        env.set_opponents("random")
        assert calls.count("upload") == 5
        assert calls.count("drop_upload") == 4, "two still plays against the first content"
        names = env.opponent_specs
        assert len(names) == 6
        assert all(name.startswith(f"{a}@") and len(name) == len(a) + 9 for name in names[2:])
        env.reset()
        env.set_opponents("random")
        assert client.stats()["memory"] <= used
        two.close()
        env.close()
        assert calls.count("drop_upload") == 5
        assert client.stats()["session"]["handles"] == 0
        network(tmp_path / "a.safetensors", 1)
        memory = client.stats()["memory"]
        with pytest.raises(blockyard.RequestError, match="nobody"):
            client.make_vec(GAME, 8, opponents={a: 1, "nobody": 1})
        assert client.stats()["memory"] == memory == 0


def test_a_file_named_twice_is_one_opponent(server: Server, tmp_path: Path):
    network(tmp_path / "a.safetensors", 1)
    (tmp_path / "b.safetensors").write_bytes((tmp_path / "a.safetensors").read_bytes())
    a, b = (f"learned:ply=1,weights={tmp_path}/{x}.safetensors" for x in "ab")
    with blockyard.make_vec(GAME, 4, opponents={a: 1, b: 1}, address=server.unix) as env:
        assert env.opponent_specs == (a,)
        assert set(env.reset()[1]["opponent"]) == {0}


def test_opponents_have_the_hashes_of_their_weights(server: Server, tmp_path: Path):
    """What infos have as opponent leads to the SHA-256 of the file that plays, also after it has changed."""
    path = tmp_path / "a.safetensors"

    def digest(seed: int) -> str:
        network(path, seed)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    one = digest(1)
    known = blockyard.policies.named("known", first, sha256="0" * 64)
    spec = f"learned:ply=1,weights={path}"
    with blockyard.make_vec(GAME, 8, opponents={"random": 1, spec: 1, first: 1, known: 1}, address=server.unix) as env:
        assert dict(zip(env.opponent_specs, env.opponent_hashes, strict=True)) == {
            "random": None,
            spec: one,
            "first": None,
            "known": "0" * 64,
        }
        two = digest(2)
        env.set_opponents(spec)
        _, infos = env.reset()
        assert {env.opponent_hashes[k] for k in infos["opponent"]} == {two}


@pytest.mark.parametrize(
    ("opponents", "error", "said"),
    [
        ({1: {}}, ValueError, r"opponents\[1\]: an empty mixture"),
        ({1: {"random": 0}}, ValueError, r"opponents\[1\]\['random'\]: the weight is 0, want a finite number above 0"),
        ({1: {"random": 1, "hand": math.nan}}, ValueError, r"opponents\[1\]\['hand'\]: the weight is nan"),
        ({"random": -1}, ValueError, r"opponents\['random'\]: the weight is -1"),
        ({"random": math.inf}, ValueError, "the weight is inf"),
        ({"random": 10**400}, ValueError, "want a finite number above 0"),
        ({"random": "1"}, TypeError, r"opponents\['random'\]: want a number as the weight of the spec, got '1'"),
        ({"random": True}, TypeError, "got True"),
        ({1: {1: 1}}, TypeError, r"opponents\[1\]: want specs such as 'hand' or policies, got 1"),
        ({1: ["random"]}, TypeError, r"opponents\[1\]: want a spec such as 'hand', a policy or a mixture"),
        ({1: "random", "hand": 1}, TypeError, "opponents: want specs such as 'hand' or policies, got 1"),
        (Path("m.zip"), TypeError, r"got \w+\('m.zip'\); policies.sb3 or policies.onnx makes a policy of a model"),
        ({Path("m.zip"): 1}, ValueError, r"no seat .*policies.sb3"),
        ({1: object()}, TypeError, "policies.sb3"),
        ({5: {"random": 1}}, ValueError, "no seat 5, seats are 0 to 1"),
        (
            {1: {"random": 1, "nobody": 1}},
            blockyard.RequestError,
            r'opponents\[1\], entry 2: agent "nobody": unknown agent',
        ),
        ({f"hand:ply={k + 1}" if k < 2 else f"hand:width={k}": 1 for k in range(257)}, blockyard.LimitError, "257"),
        ({1: {"learned:weights=none.safetensors": 1}}, FileNotFoundError, r"opponents\[1\], .*none.safetensors"),
        ({1: "learned:weights=sha256:00"}, blockyard.RequestError, "want sha256: and 64 hexadecimal digits"),
        (
            {1: f"learned:weights=sha256:{'0' * 64}"},
            blockyard.RequestError,
            "no such weights were uploaded in this session",
        ),
        ({1: "hand:weights="}, blockyard.RequestError, "no file is named"),
    ],
)
def test_bad_opponents(server: Server, opponents, error, said: str):
    with pytest.raises(error, match=said):
        blockyard.make_vec(GAME, 2, opponents=opponents, address=server.unix).close()
    with blockyard.make_vec(GAME, 4, opponents={1: "random"}, address=server.unix) as env:
        with pytest.raises(error, match=said):
            env.set_opponents(opponents)
        env.reset()
        assert env.opponent_specs == ("random",)


def test_bad_weights(server: Server, tmp_path: Path):
    """A file is checked at the upload: for its form, its game, and its size."""
    spec = f"learned:weights={tmp_path}/w.safetensors"
    for write, said in (
        (lambda p: p.write_bytes(b"no weights"), "safetensors"),
        (lambda p: network(p, 1, "TetrisDuel-v0"), "weights are for game"),
        (lambda p: p.write_bytes(network(p, 1) and p.read_bytes()[:-4]), "truncated"),
        (lambda p: p.write_bytes(bytes(17 << 20)), "too large for the server"),
    ):
        write(tmp_path / "w.safetensors")
        with pytest.raises((blockyard.RequestError, blockyard.LimitError), match=said):
            blockyard.make_vec(GAME, 2, opponents=spec, address=server.unix)
    with pytest.raises(OSError, match="directory"):
        blockyard.make_vec(GAME, 2, opponents=f"learned:weights={tmp_path}", address=server.unix)
    gc.collect()


def test_no_client_names_a_path_on_the_server(server: Server, tmp_path: Path):
    """What is sent has no path in it."""
    path = network(tmp_path / "w.safetensors", 1)
    given = {1: {f"learned:weights={path},ply=1": 1, "exec:bot --weights=x": 1}}
    lineup = Lineup.of(given, GAME, 2, trusted=False, name=lambda policy, others: "none")
    ((name, (spec, data)),) = lineup.files.items()
    assert spec == f"learned:weights={name},ply=1"
    assert data == Path(path).read_bytes()
    assert lineup.wire == {1: [(spec, 1.0), ("exec:bot --weights=x", 1.0)]}
    with blockyard.connect(server.unix) as client:
        for bad in (f"learned:weights={path}", f"hand:ply=1,weights={os.devnull}"):
            with pytest.raises(blockyard.RequestError, match="may upload weights; serve --trust-specs allows it"):
                client.open("blockbattle", {"opponents": {1: bad}})
        with pytest.raises(blockyard.RequestError, match="the spec is"):
            client.connection.call("upload", "blockbattle", f"learned:weights={name}", data + b"!")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_pool(server: Server, mode: str):
    """The infos of a pool say who plays, its results are those of all servers, and its mixture may change any time."""
    where, rng = [server.unix, server.tcp], np.random.default_rng(0)
    opponents = {"random": 1, "first": 2}
    with blockyard.BlockPool(
        GAME, 16, 4, seed=1, opponents=opponents, address=where, max_episode_steps=9, autoreset_mode=mode
    ) as pool:
        pool.async_reset(seed=1)
        playing, counts = np.zeros(16, np.uint16), Counter[str]()
        for k in range(200):
            batch = pool.recv()
            ids, now, ended = batch.env_ids, batch.infos["opponent"], batch.terminated | batch.truncated
            if mode == "SameStep" and ended.any():
                np.testing.assert_array_equal(batch.infos["final_info"]["opponent"][ended], playing[ids[ended]])
            counts.update(pool.opponent_specs[j] for j in (playing[ids[ended]] if mode == "SameStep" else now[ended]))
            playing[ids] = now
            if k == 100:
                pool.set_opponents({"hand:ply=1": 1, "random": 1})
            assert batch.action_masks is not None
            pool.send([rng.choice(np.flatnonzero(mask)) for mask in batch.action_masks], ids)
        flying = 16
        while flying:  # the last steps
            batch = pool.recv(min_envs=1)
            flying -= len(batch)
            ended = batch.terminated | batch.truncated
            who = playing[batch.env_ids[ended]] if mode == "SameStep" else batch.infos["opponent"][ended]
            counts.update(pool.opponent_specs[j] for j in who)
        stats = pool.opponent_stats(reset=True)
        assert pool.opponent_specs == ("random", "first", "hand:ply=1")
        assert {name: s.games for name, s in stats.items()} == {name: counts[name] for name in stats}
        assert stats["hand:ply=1"].games > 0
        assert sum(s.games for s in pool.opponent_stats().values()) == 0
        with pytest.raises(blockyard.RequestError, match="nobody"):
            pool.set_opponents("nobody")


FOLDERS = ["lr=0.1,batch=2", "a,b", "ply=3,eps=1", "plain"]


@pytest.mark.parametrize(
    ("where", "quoted"), [*((one, True) for one in FOLDERS), *((one, False) for one in [*FOLDERS, 'x"y,z'])]
)
def test_paths_of_weights(server: Server, tmp_path: Path, where: str, quoted: bool):
    """A path that exists needs no quotes, whatever is in it; the server gets the file by content, and the rest."""
    (tmp_path / where).mkdir()
    path = network(tmp_path / where / "net.safetensors", 1)
    text = f'"{path}"' if quoted else path
    for spec in (f"learned:weights={text},ply=1", f"learned:ply=1,weights={text}"):
        lineup = Lineup.of(spec, GAME, 2, trusted=False, name=lambda policy, others: "none")
        ((name, (sent, _)),) = lineup.files.items()
        assert sent == spec.replace(str(text), name)
        with blockyard.make_vec(GAME, 2, opponents=spec, address=server.unix) as env:
            assert env.opponent_specs == (spec,)
            env.reset()
            assert env.rollout(2, spec).steps == 2
    missing = f"{tmp_path}/{where}/none.safetensors"
    spec = f"learned:ply=1,weights={missing}"
    with pytest.raises(blockyard.RequestError, match=r'unknown option "plyy"; there are [a-z, ]*$'):
        blockyard.make_vec(GAME, 2, opponents=f"learned:weights={path},plyy=1", address=server.unix)
    if "," in where and not quoted:  # the error is about the path, whatever its parts look like
        with pytest.raises(FileNotFoundError, match="none.safetensors'.*a path with commas goes in quotes"):
            blockyard.make_vec(GAME, 2, opponents=spec, address=server.unix)
        said = f'weights: {missing} is no file here, nor .* in quotes: weights="'
        with pytest.raises(blockyard.RequestError, match=said):
            blockyard.make_vec(GAME, 2, opponents=spec)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("ppo.zip", r"'ppo.zip' names a file, want a spec such as 'hand:ply=1'.*policies.sb3\('ppo.zip'\)"),
        ("runs/a.onnx", r"policies.onnx\('runs/a.onnx'\)"),
        ("net.safetensors", "'learned:ply=1,weights=net.safetensors'"),
        ("net.pt", "load 'net.pt', and pass a function policy"),
    ],
)
def test_files_of_models_are_no_specs(server: Server, file: str, said: str):
    for opponents in (file, {1: {file: 1, "random": 1}}):
        with pytest.raises(ValueError, match=said):
            blockyard.make_vec(GAME, 2, opponents=opponents, address=server.unix)
    for one, other in ((file, "random"), ("random", file)):
        with pytest.raises(ValueError, match=said):
            blockyard.evaluate(one, other, game=GAME, games=2, address=server.unix)
