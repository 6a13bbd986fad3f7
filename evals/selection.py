"""`python -m evals.selection [--json FILE] [--models-dir DIR]`

Measures which agent items enter a request: with the default settings, and with words or embeddings alone, each with the
settings that are best on the half of the messages kept for tuning; with the default settings for each language, in the
whole catalog and in catalogs of ten items. It also measures the time that selecting among a thousand items takes."""

import argparse
import asyncio
import itertools
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.selection_cost import measure_cost
from evals.selection_data import Labelled, Message, load_labelled
from evals.selection_figures import SelectionFigures, figures, table
from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.context.model import ItemRef
from proviso_service.context.selection.config import SelectionConfig
from proviso_service.context.selection.index import Matches
from proviso_service.context.selection.request_items import ItemBudget, choose
from proviso_service.context.selection.search import ItemSearch
from proviso_service.embedded import MiniLmEmbedder, ModelNotPrepared
from proviso_service.models import Embedder

DEFAULT, WORDS, MEANING, FILLED = "Proviso, default", "BM25", "embeddings", "Proviso, filled up to five"
TOGETHER = "both"

_MIN_SCORES = [step / 100 for step in range(20, 66)]
_DISTANCES = [0.03, 0.05, 0.08, 0.1, 0.15, 1.0]
_MIXED = [0.2, 0.34, 0.6]
_WORD_WEIGHTS = [0.0, *_MIXED, 1.0]
_SMALL = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """The comparison of every item with every message, for each share that words can have in the score."""

    labelled: Labelled
    by_weight: Mapping[float, Mapping[Message, Matches]]

    def figures(self, settings: SelectionConfig, *, held_out: bool) -> SelectionFigures:
        messages = self.labelled.half(held_out=held_out)
        return figures(messages, [self.chosen(message, settings) for message in messages])

    def chosen(self, message: Message, settings: SelectionConfig) -> list[ItemRef]:
        matches = self.by_weight[settings.word_weight][message]
        chosen = choose(self.labelled.items, matches, ItemBudget(settings), settings)
        return [item.ref for item, _ in chosen.items]


async def judge(labelled: Labelled, embedder: Embedder, weights: Sequence[float]) -> Judged:
    vectors = MemoryVectorCache(10_000)
    every = np.ones(len(labelled.items), dtype=np.bool_)
    by_weight = {}
    for weight in weights:
        search = ItemSearch(embedder, vectors, SelectionConfig(word_weight=weight, time_limit_s=600))
        by_weight[weight] = {
            message: await search.matches(labelled.items, message.text, every) for message in labelled.messages
        }
    return Judged(labelled, by_weight)


def best(judged: Judged, weights: Sequence[float], *, held_out: bool = False) -> SelectionConfig:
    """The settings with the best F1 on one half; of equally good ones, the strictest."""
    grid = [
        SelectionConfig(word_weight=weight, min_score=score, max_distance=distance)
        for weight, score, distance in itertools.product(weights, _MIN_SCORES, _DISTANCES)
    ]
    return max(grid, key=lambda one: (judged.figures(one, held_out=held_out).f1, one.min_score, -one.max_distance))


def crossed(judged: Judged, *, held_out: bool) -> dict[str, SelectionFigures]:
    """The figures of one half with the settings that are best on the other half."""
    weights = {TOGETHER: _MIXED, WORDS: [1.0], MEANING: [0.0]}
    return {
        way: judged.figures(best(judged, tried, held_out=not held_out), held_out=held_out)
        for way, tried in weights.items()
    }


async def by_group(judged: Judged, embedder: Embedder) -> dict[str, SelectionFigures]:
    """The figures of each group of messages at the default settings, among all items and among ten."""
    settings, found = SelectionConfig(), {}
    small = await _in_small_catalogs(judged.labelled, embedder)
    for group, messages in judged.labelled.groups().items():
        chosen = [judged.chosen(message, settings) for message in messages]
        found[f"{group}, {len(judged.labelled.items)} items"] = figures(messages, chosen)
        found[f"{group}, {_SMALL} items"] = figures(messages, [small[message] for message in messages])
    return found


async def _in_small_catalogs(labelled: Labelled, embedder: Embedder) -> dict[Message, Sequence[ItemRef]]:
    """What is chosen for each message from the items that it wants and others, drawn by chance, that make ten."""
    vectors, settings = MemoryVectorCache(10_000), SelectionConfig(time_limit_s=600)
    drawn = random.Random(3)  # noqa: S311 - the same items each time
    found: dict[Message, Sequence[ItemRef]] = {}
    for message in labelled.messages:
        others = [item for item in labelled.items if item.ref not in message.wanted]
        wanted = [item for item in labelled.items if item.ref in message.wanted]
        items = wanted + drawn.sample(others, _SMALL - len(wanted))
        every = np.ones(len(items), dtype=np.bool_)
        matches = await ItemSearch(embedder, vectors, settings).matches(items, message.text, every)
        found[message] = [item.ref for item, _ in choose(items, matches, ItemBudget(settings), settings).items]
    return found


def ways(judged: Judged) -> dict[str, SelectionConfig]:
    default = SelectionConfig()
    return {
        DEFAULT: default,
        WORDS: best(judged, [1.0]),
        MEANING: best(judged, [0.0]),
        FILLED: default.model_copy(update={"min_score": 0.0, "max_distance": 1.0}),
    }


async def _run(options: argparse.Namespace) -> None:
    model = MiniLmEmbedder.load(options.models_dir)
    try:
        judged = await judge(load_labelled(), model, _WORD_WEIGHTS)
        groups = await by_group(judged, model)
        cost = await measure_cost(model)
    finally:
        await model.close()
    measured = {
        name: {way: judged.figures(settings, held_out=held_out) for way, settings in ways(judged).items()}
        for name, held_out in (("Tuning messages", False), ("Held-out messages", True))
    }
    for name, found in measured.items():
        print(f"\n#### {name}: {found[DEFAULT].messages}\n\n{table(found)}")
    for name, held_out in (("Held-out", True), ("Tuning", False)):
        rows = table(crossed(judged, held_out=held_out))
        print(f"\n#### {name} messages at the best settings of the other half\n\n{rows}")
    print(f"\n#### Every language at the default settings\n\n{table(groups)}")
    print(f"\n#### Best of the tuning messages by the share of words\n\n{_tuned(judged)}\n\n#### Cost\n\n{cost.text()}")
    if options.json:
        content = {name: {way: one.as_dict() for way, one in found.items()} for name, found in measured.items()}
        await asyncio.to_thread(options.json.write_text, json.dumps(content | {"cost": cost.as_dict()}, indent=1))


def _tuned(judged: Judged) -> str:
    rows = []
    for weight in judged.by_weight:
        settings = best(judged, [weight])
        one = judged.figures(settings, held_out=False)
        rows.append(
            f"| {weight} | {settings.min_score} | {settings.max_distance} "
            f"| {100 * one.precision:.0f} | {100 * one.recall:.0f} | {100 * one.f1:.0f} |"
        )
    head = "| Share | `min_score` | `max_distance` | Precision, % | Recall, % | F1 |"
    return "\n".join((head, "|---|---|---|---|---|---|", *rows))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m evals.selection", description="Measures which agent items enter a request."
    )
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    try:
        asyncio.run(_run(parser.parse_args()))
    except ModelNotPrepared as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
