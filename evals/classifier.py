"""`python -m evals.classifier --data DIR [--nli FILE] [--json FILE] [--cache DIR] [--shipped]`

Fits the classifier on one half of the contracts and one half of the categories at a time, and measures it on the other
half of the contracts, with the categories that it was fitted on and with those that it was not.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from evals.classifier_data import Inputs, arguments, opened_inputs
from evals.classifier_figures import WAYS, Figures, measure, table
from evals.data import DataProblem, is_held_out
from evals.entailment import Entailment, measure_entailment
from evals.fitting import fit
from evals.phrasings import about
from proviso_service.embedded import ModelNotPrepared, classifier
from proviso_service.embedded.classifier.fitted import FittedClassifier, from_bytes
from proviso_service.embedded.classifier.model import StatementScorer

_SHIPPED = Path(classifier.__file__).with_name("fitted.npz")
_MIN_MARKED = 3


async def run(inputs: Inputs, shipped: bool) -> dict[str, Sequence[Figures]]:
    """The figures of every category with enough marked passages, by slice."""
    if shipped:
        return {"shipped": await _measured(inputs, _shipped(), sorted(inputs.questions), every=True)}
    slices: dict[str, list[Figures]] = {"held-out categories": [], "fitted categories": []}
    tuning = inputs.corpus.part(~inputs.corpus.held_out())
    for half in (False, True):
        chosen = [name for name in inputs.questions if is_held_out("category", name) is half]
        others = [name for name in inputs.questions if is_held_out("category", name) is not half]
        statements = {name: inputs.statements[name] for name in chosen}
        fitted = await fit(tuning, statements, inputs.embedder, tuning.part(tuning.untuned()))
        slices["fitted categories"] += await _measured(inputs, fitted, chosen)
        slices["held-out categories"] += await _measured(inputs, fitted, others)
    return {name: sorted(found, key=lambda one: one.category) for name, found in slices.items()}


async def _measured(
    inputs: Inputs, fitted: FittedClassifier, names: Sequence[str], *, every: bool = False
) -> list[Figures]:
    measured = inputs.corpus.held_out() & inputs.corpus.untuned()
    corpus = inputs.corpus if every else inputs.corpus.part(measured)
    scorer = StatementScorer(fitted)
    return [
        await measure(scorer, inputs.embedder, corpus, name, about(name, inputs.questions[name]))
        for name in names
        if corpus.labels[name].sum() >= _MIN_MARKED
    ]


def _shipped() -> FittedClassifier:
    return from_bytes(_SHIPPED.read_bytes())


async def _run(options: argparse.Namespace) -> None:
    async with opened_inputs(options) as inputs:
        slices = await run(inputs, options.shipped)
        entailment: Entailment | None = None
        if options.nli:
            entailment = await measure_entailment(StatementScorer(_shipped()), inputs.embedder, options.nli)
    for name, found in slices.items():
        print(f"\n### {name[0].upper()}{name[1:]}\n\n{table(found)}")
    if entailment:
        print(f"\n### ContractNLI\n\n{entailment.text()}")
    if options.json:
        figures = {name: [one.as_dict() for one in found] for name, found in slices.items()}
        content = {"ways": WAYS, "slices": figures, "entailment": entailment.as_dict() if entailment else None}
        await asyncio.to_thread(options.json.write_text, json.dumps(content, indent=1))


def main() -> int:
    parser = arguments("python -m evals.classifier", "Measures the embedded classifier.")
    parser.add_argument("--nli", type=Path, metavar="FILE", help="ContractNLI file to measure on as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument(
        "--shipped",
        action="store_true",
        help="measure the shipped numbers on all contracts: for other data than theirs",
    )
    try:
        asyncio.run(_run(parser.parse_args()))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
