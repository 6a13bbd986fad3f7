"""Documents of made passages, stored as the service stores them but without the time that embedding them would take."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.synthetic import DIMENSIONS, Vectors, passages, vocabulary
from evals.data import Data
from evals.library import library
from proviso_service.embedded import MiniLmEmbedder
from proviso_service.identity import LOCAL_TENANT
from proviso_service.reading import ReadingLimits

PASSAGES_OF_A_CONTRACT = 94

# What queries look for: each is in every document three times, and they alone are embedded by the model.
_CLAUSES = """\
Either party may terminate this Agreement at any time, with or without cause, by giving the other party not less than
thirty days' prior written notice of termination. Either party may also terminate this Agreement immediately upon
written notice if the other party commits a material breach and fails to cure that breach within fifteen days after it
has received written notice of it, or if the other party becomes insolvent, makes an assignment for the benefit of its
creditors, or has a receiver appointed over its business. Termination does not release either party from what it owes
the other at the time.

The Supplier shall indemnify, defend and hold harmless the Customer, its affiliates, and their officers, directors and
employees from and against any and all losses, damages, liabilities, costs and expenses, including reasonable
attorneys' fees, that arise out of any claim of a third party that is based on the negligence or wilful misconduct of
the Supplier, on a breach of this Agreement, or on an infringement of the intellectual property of another. The
Customer shall tell the Supplier of each claim without delay, and leave the defence to it.

All notices, requests, consents and other communications that this Agreement requires or permits shall be in writing,
and shall be deemed to have been given when delivered by hand, when sent by registered mail with a receipt of its
return, or on the next business day when sent by an overnight courier to the address of the party that stands at the
head of this Agreement, or to another address of which that party has given notice in writing in this way before."""
CLAUSES = tuple(" ".join(clause.split()) for clause in _CLAUSES.split("\n\n"))
TIMES = 3


class QuickEmbedder:
    """Embeds questions as the model does; documents get vectors by chance, at once, but for CLAUSES."""

    def __init__(self, model: MiniLmEmbedder) -> None:
        self._model = model
        self._chance = np.random.default_rng(1)
        self.model_id = model.model_id
        self.dimensions = model.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = self._chance.normal(size=(len(texts), DIMENSIONS))
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        if real := [number for number, text in enumerate(texts) if text in CLAUSES]:
            unit[real] = await self._model.embed_documents([texts[number] for number in real])
        return unit

    async def embed_query(self, text: str) -> Vectors:
        return await self._model.embed_query(text)


def contracts(folder: Path, count: int, words: Sequence[str]) -> tuple[dict[str, Path], Sequence[str]]:
    """Writes documents of as many passages as contracts have on average. Returns their files by name, and questions."""
    made = passages(count * PASSAGES_OF_A_CONTRACT, count * PASSAGES_OF_A_CONTRACT, words)
    files = {}
    for number in range(count):
        texts = made.texts[number * PASSAGES_OF_A_CONTRACT :][:PASSAGES_OF_A_CONTRACT]
        files[f"{number}.txt"] = folder / f"{number}.txt"
        paragraphs = [*(f"{text}." for text in texts[TIMES * len(CLAUSES) :]), *CLAUSES * TIMES]
        files[f"{number}.txt"].write_text("\n\n".join(paragraphs), encoding="utf-8")
    return files, made.questions


async def data_folder(place: Path, models_dir: Path, count: int) -> None:
    """Makes a data folder of the service, with a matter of so many documents."""
    model = MiniLmEmbedder.load(models_dir)
    files, _ = contracts(place, count, vocabulary(models_dir))
    try:
        chunk_chars = ReadingLimits().chunk_chars
        async with library(Data(files, ()), place, QuickEmbedder(model), chunk_chars, LOCAL_TENANT):
            pass
    finally:
        await model.close()
