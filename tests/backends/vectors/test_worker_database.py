"""Tests of WorkerDatabase, in the process of the tests."""

from array import array
from pathlib import Path
from typing import Any

import pytest

from proviso_service.backends.vectors.worker_database import WorkerDatabase

VECTORS = {"a": (1.0, 0.0), "b": (0.8, 0.6), "c": (0.0, 1.0), "d": (-1.0, 0.0)}


class WrittenMeanwhile:
    """A Chroma whose count is older than some of its vectors."""

    def __init__(self, chroma: Any, written: int) -> None:
        self._chroma = chroma
        self._written = written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chroma, name)

    def count(self, *arguments: Any) -> int:
        return int(self._chroma.count(*arguments)) - self._written


@pytest.fixture
def database(tmp_path: Path) -> WorkerDatabase:
    database = WorkerDatabase(str(tmp_path))
    values = array("f", [value for vector in VECTORS.values() for value in vector])
    header = {"collection": "all", "ids": list(VECTORS), "metadatas": [{"scope": "s"} for _ in VECTORS]}
    database.writes["upsert"](header, memoryview(values.tobytes()))
    return database


def survey(database: WorkerDatabase) -> dict[str, float]:
    probe = memoryview(array("f", VECTORS["a"]).tobytes())
    header, distances = database.reads["survey"]({"collection": "all"}, probe)
    return dict(zip(header["ids"], memoryview(distances).cast("B").cast("f"), strict=True))


def test_a_survey_has_the_distance_of_every_vector(database: WorkerDatabase) -> None:
    assert survey(database) == pytest.approx({"a": 0.0, "b": 0.2, "c": 1.0, "d": 2.0}, abs=1e-5)


def test_a_survey_names_every_vector_also_when_more_are_written_meanwhile(database: WorkerDatabase) -> None:
    database._chroma = WrittenMeanwhile(database._chroma, 2)
    assert survey(database).keys() == VECTORS.keys()
