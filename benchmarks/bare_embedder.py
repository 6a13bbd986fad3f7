"""Measures the embedding model alone on the passages that a service has stored: `python -m benchmarks.bare_embedder DB
MODELS`.

It prints the number of distinct passages, the seconds that embedding them took, and the seconds of CPU time."""

import asyncio
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from proviso_service.embedded import MiniLmEmbedder

BATCH_TEXTS = 1_024


async def measure(database: Path, models_dir: Path) -> tuple[int, float, float]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        query = "SELECT text FROM chunks GROUP BY content_sha256 ORDER BY document_id, ordinal"
        rows = connection.execute(query).fetchall()
    texts = [row[0] for row in rows]
    embedder = MiniLmEmbedder.load(models_dir)
    try:
        await embedder.embed_documents(texts[:64])  # the first runs set up memory
        begun, begun_cpu = time.perf_counter(), time.process_time()
        for start in range(0, len(texts), BATCH_TEXTS):
            await embedder.embed_documents(texts[start : start + BATCH_TEXTS])
        return len(texts), time.perf_counter() - begun, time.process_time() - begun_cpu
    finally:
        await embedder.close()


if __name__ == "__main__":
    print(*asyncio.run(measure(Path(sys.argv[1]), Path(sys.argv[2]))))
