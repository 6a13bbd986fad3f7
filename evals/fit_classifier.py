"""`python -m evals.fit_classifier --data DIR [--cache DIR]` writes the numbers that the embedded classifier ships."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from evals.classifier_data import Inputs, arguments, opened_inputs
from evals.data import DataProblem, is_fitted
from evals.fitting import fit, fit_judged
from proviso_service.analysis.model import IqlConfig
from proviso_service.embedded import ModelNotPrepared, classifier
from proviso_service.embedded.classifier.fitted import to_bytes

_TARGET = Path(classifier.__file__).with_name("fitted.npz")


async def write(inputs: Inputs, target: Path) -> int:
    """Fits on all categories, and on the contracts that no model was tuned on and that are not measured either. Words
    and headings are those of all contracts, without their labels. Returns the size of the file in bytes."""
    labelled = inputs.corpus.part(np.array([is_fitted(name) for name in inputs.corpus.contracts]))
    fitted = await fit(inputs.corpus, inputs.statements, inputs.embedder, labelled)
    asked = inputs.corpus, labelled, inputs.statements, inputs.embedder, inputs.judge
    judged, asserted = await fit_judged(*asked, IqlConfig().judged_passages)
    # Questions have no figures that a text could conflict with: what that takes off is known of statements.
    fitted = replace(fitted, judged=replace(judged, conflict=asserted.conflict), asserted=asserted)
    content = to_bytes(fitted)
    await asyncio.to_thread(target.write_bytes, content)
    return len(content)


async def _run(target: Path) -> None:
    options = arguments("python -m evals.fit_classifier", "Fits the embedded classifier.").parse_args()
    async with opened_inputs(options) as inputs:
        print(f"{target}: {await write(inputs, target):,} bytes")


def main() -> int:
    try:
        asyncio.run(_run(_TARGET))
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
