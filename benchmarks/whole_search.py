"""Whole searches beside the embedding of their questions: `python -m benchmarks.whole_search FOLDER MODELS`."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.made_contracts import QuickEmbedder, contracts
from benchmarks.report import percentile
from benchmarks.synthetic import vocabulary
from evals.data import Data
from evals.library import TENANT, library
from proviso_service.embedded import MiniLmEmbedder
from proviso_service.matters.model import SearchQuery
from proviso_service.reading import ReadingLimits

CONTRACTS = 60


async def measure(folder: Path, models_dir: Path) -> list[dict[str, Any]]:
    model = MiniLmEmbedder.load(models_dir)
    files, questions = contracts(folder, CONTRACTS, vocabulary(models_dir))
    whole, alone = list[float](), list[float]()
    try:
        async with library(Data(files, ()), folder, QuickEmbedder(model), ReadingLimits().chunk_chars) as books:
            for question in questions:
                begun = time.process_time()
                await model.embed_query(question)
                embedded = time.process_time()
                await books.retriever.search(TENANT, SearchQuery(books.matter.matter_id, question))
                whole.append(time.process_time() - embedded)
                alone.append(embedded - begun)
    finally:
        await model.close()
    return [
        {
            "engine": "service",
            "what": what,
            "passages": books.chunk_count,
            "p50_ms": percentile(times, 0.5) * 1e3,
            "p99_ms": percentile(times, 0.99) * 1e3,
        }
        for what, times in (("whole search with its embedding", whole), ("embedding of a question alone", alone))
    ]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), Path(sys.argv[2])))))
