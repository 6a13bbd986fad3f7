"""`python -m evals.fit_extractor --data DIR [--contracts N] [--cache DIR]` writes the weights that the embedded answer
extractor ships."""

import asyncio
import sys
from importlib import resources
from pathlib import Path

from evals.data import DataProblem
from evals.extraction import arguments, opened
from evals.extraction_data import Asked
from evals.extraction_fitting import fit_head
from proviso_service.embedded import Judge, ModelNotPrepared, classifier, extractor
from proviso_service.embedded.classifier.fitted import from_bytes
from proviso_service.embedded.extractor.model import head_to_json

_TARGET = Path(extractor.__file__).with_name("fitted.json")


def shipped_head(put: list[Asked], judge: Judge) -> bytes:
    """The weights to ship: fitted on all questions, with the word statistics that are shipped."""
    words = from_bytes(resources.files(classifier).joinpath("fitted.npz").read_bytes()).words
    return head_to_json(fit_head(words, put, judge))


async def _run() -> None:
    options = arguments("python -m evals.fit_extractor", "Fits the embedded answer extractor.").parse_args()
    async with opened(options) as (put, _, judge):
        content = shipped_head([*put.fitted, *put.measured, *put.natural], judge)
    await asyncio.to_thread(_TARGET.write_bytes, content)
    print(f"{_TARGET}: {len(content):,} bytes")


def main() -> int:
    try:
        asyncio.run(_run())
    except (DataProblem, ModelNotPrepared) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
