"""`python -m evals.fit_classifier --data DIR [--cache DIR]` writes the numbers that the embedded classifier ships."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from evals.classifier_data import Inputs, arguments, opened_inputs
from evals.data import DataProblem, is_held_out, is_measured
from evals.fitting import fit, fit_judged
from evals.training.texts import split_of
from proviso_service.analysis.model import IqlConfig
from proviso_service.embedded import ModelNotPrepared, classifier
from proviso_service.embedded.classifier.fitted import to_bytes

_TARGET = Path(classifier.__file__).with_name("fitted.npz")


async def write(inputs: Inputs, target: Path) -> int:
    """Fits on the contracts that are neither measured, nor asked about in a chat, nor nearly the same as one of these,
    and on the categories that are not measured; returns the size of the file in bytes."""
    split = split_of({path.name: path.read_text() for path in (inputs.folder / "contracts").glob("*.txt")})
    fitted_on = [not is_measured(name) and name not in split.kept_out | split.near for name in inputs.corpus.contracts]
    corpus = inputs.corpus.part(np.array(fitted_on))
    statements = {name: texts for name, texts in inputs.statements.items() if not is_held_out("category", name)}
    fitted = await fit(corpus, statements, inputs.embedder, corpus.part(corpus.untuned()))
    asked = corpus, statements, inputs.embedder, inputs.judge
    fitted = replace(fitted, judged=await fit_judged(*asked, IqlConfig().judged_passages))
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
