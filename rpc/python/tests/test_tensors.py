"""Tensors over the arrays of an environment: shared on the CPU, staged for a GPU."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from conftest import GAME, advance, begun

import blockyard
from blockyard.formats import arrays

torch = pytest.importorskip("torch")


def test_a_step_is_shared_not_copied(server):
    with blockyard.make_vec(GAME, 4, address=server.unix, seed=1) as env, warnings.catch_warnings():
        warnings.simplefilter("error")
        obs, infos = env.reset()
        result = env.step(infos["action_mask"].argmax(1))
        obs, rewards, terminated, truncated, infos = blockyard.to_torch(result)
        for name, array in result[0].items():
            assert obs[name].data_ptr() == array.ctypes.data
            assert obs[name].shape == array.shape
        assert (obs["planes"].dtype, obs["globals"].dtype) == (torch.uint8, torch.float32)
        assert (rewards.dtype, terminated.dtype, truncated.dtype) == (torch.float64, torch.bool, torch.bool)
        assert infos["action_mask"].data_ptr() == result[4]["action_mask"].ctypes.data
        obs["planes"][0, 0, 0, 0] = 77
        assert result[0]["planes"][0, 0, 0, 0] == 77
        logits = torch.zeros(4, env.single_action_space.n).masked_fill(~infos["action_mask"].bool(), -torch.inf)
        assert env.action_masks[np.arange(4), torch.distributions.Categorical(logits=logits).sample().numpy()].all()


def test_buffers_and_results(server):
    with begun(GAME, 4, address=server.unix, seed=1) as env:
        rollout = env.rollout(3)
        arrays = blockyard.to_torch(rollout.buffer.arrays)
        assert arrays["reward"].shape == rollout.buffer.reward.shape
        np.testing.assert_array_equal(arrays["globals"].numpy(), rollout.buffer.globals)
        assert blockyard.to_torch(rollout.actions).dtype == torch.int32
        after = env.afterstates()  # its arrays may be read-only
        np.testing.assert_array_equal(blockyard.to_torch(after.planes).numpy(), after.planes)


def test_what_is_no_array_stays():
    odd = np.array([None, 1], object)
    values = {"a": (np.zeros(2), [np.ones(1, np.int64)], None, "text"), "odd": odd}
    out = blockyard.to_torch(values)
    assert isinstance(out["a"], tuple)
    assert out["a"][1][0].dtype == torch.int64
    assert out["a"][2:] == (None, "text")
    assert out["odd"] is odd
    assert blockyard.to_torch(np.zeros(2), "meta").device.type == "meta"
    with pytest.raises(RuntimeError):
        blockyard.to_torch(np.zeros(2), "nowhere")


def test_a_gpu_gets_pinned_memory(monkeypatch):
    """PyTorch's own: it is reused only when the copy, which nobody waits for here, is done. The device is no GPU."""
    asked = []

    class Shared:
        def pin_memory(self):
            asked.append("pinned")
            return self

        def to(self, device, non_blocking):
            asked.append((device.type, non_blocking))
            return "moved"

    monkeypatch.setattr(arrays, "_shared", lambda array: Shared())
    assert blockyard.to_torch({"x": np.zeros(3)}, "cuda") == {"x": "moved"}
    assert asked == ["pinned", ("cuda", True)]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu():
    arrays = [np.arange(1 << 20, dtype=np.int64) + k for k in range(6)]
    moved = [blockyard.to_torch({"x": array}, "cuda")["x"] for array in arrays]
    for array, tensor in zip(arrays, moved, strict=True):
        assert tensor.is_cuda
        np.testing.assert_array_equal(tensor.cpu().numpy(), array)


def test_torch_takes_results_of_queries(server):
    """Their arrays may be written to, so PyTorch takes them without a warning, from one message or several."""
    with begun(GAME, 40, address=server.unix, seed=1, max_episode_steps=3, opponents="first") as env:
        advance(env, 3)
        final = env.final()
        assert len(final.games) == 40
        for result in (blockyard.features(env), env.afterstates(), env.legal_actions(), final):
            for name, array in vars(result).items():
                assert array is None or array.flags.writeable, (type(result), name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for result in (blockyard.features(env, [3]), env.afterstates([3]), env.legal_actions([3])):
                for array in vars(result).values():
                    torch.as_tensor(array)
            torch.as_tensor(env.legal_actions()[2])
            with blockyard.BlockPool(GAME, 4, 2, address=server.unix) as pool:
                pool.async_reset()
                torch.as_tensor(pool.recv().env_ids)
