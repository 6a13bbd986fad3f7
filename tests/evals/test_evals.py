"""What the measure of search counts, on data of its own."""

import json
from pathlib import Path

import pytest

from evals.__main__ import measure
from evals.data import Data, DataProblem, Question, load
from evals.databases import Comparison, compare
from evals.figures import Answer, answer, figure
from evals.floor import measure as measure_floor
from evals.rankings import RANKINGS
from proviso_service.reading.model import Span
from tests.support.postgres_server import PostgresServer

LEASE = "1. Rent\n\nThe rent is due monthly.\n\n2. Law\n\nThe law of Oregon governs this lease.\n"
LAW = LEASE.index("The law")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "contracts").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "contracts" / name).write_text(f"{LEASE}\nSigned for {name}.")
    (tmp_path / "categories.json").write_text(json.dumps({"Law": "Which law governs the contract?", "Rent": "Rent?"}))
    spans = [
        {"contract": name, "category": "Law", "start": LAW, "end": LAW + 17} for name in ("a.txt", "b.txt", "c.txt")
    ]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    return tmp_path


def test_questions_are_those_with_spans_in_the_chosen_contracts(folder: Path) -> None:
    data = load(folder, 2)
    assert [(one.contract, one.text) for one in data.questions] == [
        ("a.txt", "Which law governs the contract?"),
        ("b.txt", "Which law governs the contract?"),
    ]
    assert load(folder, 1).contracts.items() <= data.contracts.items()


def test_a_folder_without_contracts_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match="has no contracts"):
        load(tmp_path, 5)


def test_a_span_is_found_when_one_passage_covers_half_of_it() -> None:
    question = Question("a", "Law", "?", (Span(100, 200), Span(500, 600)))
    passages = [Span(0, 149), Span(150, 260), Span(0, 10), Span(550, 560), Span(551, 700), Span(550, 700)]
    assert answer(question, passages).recall == (0.0, 0.5, 1.0)


def test_an_interval_holds_the_mean_and_is_the_same_every_time() -> None:
    answers = [Answer(Question(str(n % 7), "Law", "?", ()), (n % 2, 1.0, 1.0)) for n in range(50)]
    found = figure(answers)
    assert found == figure(answers)
    assert found.questions == 50
    assert found.low[0] < found.recall[0] == 0.5 < found.high[0]
    assert found.low[1] == found.recall[1] == found.high[1] == 1.0


async def test_every_ranking_answers_every_question(folder: Path, models_dir: Path, tmp_path: Path) -> None:
    data: Data = load(folder, 2)
    for _ in range(2):  # the second time from the cache
        report = await measure(data, tmp_path, models_dir, 900)
        assert {name: len(found) for name, found in report.answers.items()} == {one.name: 2 for one in RANKINGS}
        assert all(one.recall == (1.0, 1.0, 1.0) for found in report.answers.values() for one in found)
    assert "| Proviso, default | 100.0 (100 to 100) | 100.0" in report.text()
    assert json.loads(report.json())["slices"]["all"]["BM25"]["questions"] == 2


async def test_a_floor_is_measured_by_recall_and_by_what_nonsense_finds(
    folder: Path, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.floor.FLOORS", ((0.0, 0.0), (1.0, 1.0)))
    plain = {"Law": ("Which law governs it?", "How is the sky?"), "Rent": ("When is rent due?", "Rent?")}
    monkeypatch.setattr("evals.floor.plain_questions", lambda: plain)
    monkeypatch.setattr("evals.floor.off_topic", lambda: {"letters": ["hjkl", "qqq", "zzqqxx", "xyzzy"]})
    _, _, without, highest = await measure_floor(load(folder, 2), tmp_path, models_dir)
    assert "| 100.0 / 100.0 |" in without
    assert highest.startswith("| 1.0 | 1.0 | 100.0 / 100.0 |")
    assert "| 50.0 / 50.0 |" in highest
    assert highest.endswith("| 0 | 0 |")


async def test_what_both_databases_return_is_compared(
    folder: Path, models_dir: Path, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    with postgres_server.state() as url:
        assert await compare(load(folder, 2), url, tmp_path, models_dir) == Comparison(4, 6, 0, 0)
