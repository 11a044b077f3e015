"""Workers of PyTorch that begin after the library was loaded."""

from __future__ import annotations

import pytest
import torch
from conftest import begun
from torch.utils.data import DataLoader, Dataset

import blockyard


class Returns(Dataset):
    """The points of a few steps, played by an environment of the worker."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> float:
        with begun("WinTetris-v0", 2, seed=index, illegal="random") as env:
            for _ in range(20):
                env.step([0, 0])
            return float(env.scores.sum())


@pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
def test_data_loader(context):
    with blockyard.make_vec("WinTetris-v0", 2, transport="inproc") as env:
        env.reset(seed=1)
        own = [Returns()[k] for k in range(4)]
        loader = DataLoader(Returns(), batch_size=2, num_workers=2, multiprocessing_context=context)
        assert torch.cat(list(loader)).tolist() == own
        env.step([0, 0])
