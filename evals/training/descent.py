"""What tuning the encoder and the judge have in common: the descent, and runs of texts of similar length."""

import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from evals.training.bert import Bert, mean_of

T = TypeVar("T")

Say = Callable[[str], None]
Tokens = Callable[[str], list[int]]

_RATE = 1e-4
_WARM_SHARE = 0.05
_TEXTS_AT_ONCE = 16
_SAID_EVERY = 50


def descend(
    model: nn.Module,
    draw: Callable[[random.Random], list[T]],
    loss_of: Callable[[Sequence[T]], Tensor],
    batch: int,
    epochs: int,
    seed: int,
    say: Say,
    rate: float = _RATE,
) -> None:
    """Tunes a model in place. `draw` gives the examples of an epoch, `batch` is how many of them make a step, `seed`
    decides what is drawn, and `rate` is the highest rate of learning."""
    rng = random.Random(seed)  # noqa: S311
    tuned = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(tuned, lr=rate, weight_decay=0.01)
    start, losses = time.monotonic(), []
    model.train()
    for epoch in range(epochs):
        drawn = draw(rng)
        places = range(0, len(drawn) - batch + 1, batch)
        say(f"epoch {epoch}: {len(drawn)} examples, {len(places)} steps")
        for step, at in enumerate(places):
            for group in optimiser.param_groups:
                group["lr"] = rate * _rate((epoch + step / len(places)) / epochs)
            loss = loss_of(drawn[at : at + batch])
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(tuned, 1.0)
            optimiser.step()
            losses.append(loss.item())
            if len(losses) % _SAID_EVERY == 0:
                mean = sum(losses[-_SAID_EVERY:]) / _SAID_EVERY
                say(f"epoch {epoch} step {step} loss {mean:.3f} {time.monotonic() - start:.0f} s")
    model.eval()


def run(model: Callable[[Tensor, Tensor], Tensor], batch: Sequence[list[int]]) -> Tensor:
    """What the model makes of each text, in order, on the processor or the GPU where there is one. Texts of similar
    length are run together."""
    device = device_of()
    order = sorted(range(len(batch)), key=lambda index: len(batch[index]))
    parts = []
    with torch.autocast(device, dtype=torch.bfloat16):
        for at in range(0, len(order), _TEXTS_AT_ONCE):
            ids, mask = _padded([batch[index] for index in order[at : at + _TEXTS_AT_ONCE]])
            parts.append(model(ids.to(device), mask.to(device)).float())
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back.to(device)]


def vectors(bert: Bert, texts: Sequence[list[int]]) -> Tensor:
    """Unit vectors of texts, given as tokens."""

    def mean(ids: Tensor, mask: Tensor) -> Tensor:
        return mean_of(bert(ids, mask), mask)

    return functional.normalize(run(mean, texts), dim=1)


def device_of() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _padded(batch: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """The ids and the mask of the texts, of shape (texts, tokens)."""
    ids = torch.zeros(len(batch), max(map(len, batch)), dtype=torch.long)
    mask = torch.zeros(ids.shape)
    for row, one in enumerate(batch):
        ids[row, : len(one)] = torch.tensor(one)
        mask[row, : len(one)] = 1
    return ids, mask


def _rate(done: float) -> float:
    """The share of the learning rate after a share of the training: it rises for a while and then falls in a straight
    line."""
    return (done + 0.001) / _WARM_SHARE if done < _WARM_SHARE else (1 - done) / (1 - _WARM_SHARE)
