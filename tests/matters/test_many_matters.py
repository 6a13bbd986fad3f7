"""Many small matters: every one is searched right, with few files open."""

import subprocess
import sys

SCRIPT = """
import asyncio, resource, sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

from tests.support.index_world import TENANT, found, index_world, nearest, random_units

MATTERS, PASSAGES = 100, 5


async def main(folder):
    vectors = random_units(MATTERS * PASSAGES, seed=1).reshape(MATTERS, PASSAGES, -1)
    queries = random_units(2 * MATTERS, seed=2).reshape(2, MATTERS, -1)
    async with index_world(folder) as world, world.running() as index:
        documents = [await world.ingested(index, await world.matter(), own) for own in vectors]
        for again in queries:
            for document, own, query in zip(documents, vectors, again, strict=True):
                hits = await index._index.search(TENANT, document.matter_id, query, 100)
                assert found(hits) == nearest(document, own, query, 100), document
    print("right")


asyncio.run(main(Path(sys.argv[1])))
"""


def test_a_hundred_matters_are_each_searched_right_twice_with_fewer_files_than_five_for_each(tmp_path: object) -> None:
    arguments = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    shown = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=100)
    assert (shown.stdout.splitlines()[-1:], shown.stderr) == (["right"], "")
