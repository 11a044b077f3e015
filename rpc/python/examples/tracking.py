"""Where an example writes its figures while it trains: TensorBoard, Weights & Biases, or nowhere.

    with tracking("tensorboard:runs/one", vars(args)) as log:
        for update in range(100):
            ...
            log(update, {"loss": loss.item(), "mean_return": mean_return})

``log(step, figures)`` is the callback: any callable with these arguments will do in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Log = Callable[[int, Mapping[str, float]], None]


@contextmanager
def tracking(where: str, settings: Mapping[str, Any]) -> Iterator[Log]:
    """Open a log of figures, and close it at the end, whatever happens.

    Args:
        where: ``"tensorboard:FOLDER"``, ``"wandb:PROJECT"`` or ``""`` for none. W&B reads its own environment
            variables: with ``WANDB_MODE=offline`` nothing leaves the machine.
        settings: of the run, kept beside the figures.

    Raises:
        ImportError: the library is not installed: ``pip install tensorboard`` or ``pip install wandb``.
        ValueError: where is none of these.
    """
    kind, _, name = where.partition(":")
    if where == "":
        yield lambda step, figures: None
    elif kind == "tensorboard" and name:
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(name) as writer:
            writer.add_text("settings", "\n".join(f"    {k}: {v}" for k, v in settings.items()))

            def scalars(step: int, figures: Mapping[str, float]) -> None:
                for tag, value in figures.items():
                    writer.add_scalar(tag, value, step)

            yield scalars
    elif kind == "wandb" and name:
        import wandb

        with wandb.init(project=name, config={k: str(v) for k, v in settings.items()}) as run:
            yield lambda step, figures: run.log(dict(figures), step=step)
    else:
        raise ValueError(f"where is {where!r}: want 'tensorboard:FOLDER', 'wandb:PROJECT' or ''")
