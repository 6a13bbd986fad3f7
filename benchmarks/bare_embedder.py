"""Measures the embedding model alone on the passages that a service has stored: `python -m benchmarks.bare_embedder DB
MODELS`.

It prints the number of distinct passages and the seconds that embedding them took."""

import asyncio
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from proviso_service.embedded import MiniLmEmbedder

BATCH_TEXTS = 1_024


async def measure(database: Path, models_dir: Path) -> tuple[int, float]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT text FROM chunks GROUP BY content_sha256 ORDER BY min(row_id)").fetchall()
    texts = [row[0] for row in rows]
    embedder = MiniLmEmbedder.load(models_dir)
    try:
        await embedder.embed_documents(texts[:64])  # the first runs set up memory
        begun = time.perf_counter()
        for start in range(0, len(texts), BATCH_TEXTS):
            await embedder.embed_documents(texts[start : start + BATCH_TEXTS])
        return len(texts), time.perf_counter() - begun
    finally:
        await embedder.close()


if __name__ == "__main__":
    count, seconds = asyncio.run(measure(Path(sys.argv[1]), Path(sys.argv[2])))
    print(count, seconds)
