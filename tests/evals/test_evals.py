"""What the measure of search counts, on data of its own."""

import json
from pathlib import Path

import pytest

from evals.data import DataProblem, Question, load
from evals.databases import Comparison, compare
from evals.figures import answer, macro_average_precision, mean_of
from evals.floor import measure as measure_floor
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
    values = {str(contract): [float(contract < 3)] * 4 for contract in range(6)}
    found = mean_of(values)
    assert found == mean_of(values)
    assert found.low < found.value == 0.5 < found.high
    assert str(mean_of({"a": [1.0], "b": [1.0, 1.0]})) == "1.000 (1.00 to 1.00)"


def test_average_precision_is_a_mean_over_categories_of_the_precisions_at_what_is_right() -> None:
    first = [("a", 0.9, True), ("a", 0.8, False), ("b", 0.7, True)]
    second = [("a", 0.9, True), ("b", 0.8, True)]
    found = macro_average_precision({"Law": [first], "Rent": [second, first]})
    of_first = (1 + 2 / 3) / 2
    assert found.value == pytest.approx((of_first + (1 + of_first) / 2) / 2)
    assert found.low <= found.value <= found.high
    # Of equal scores the wrong one counts as the better.
    assert macro_average_precision({"Law": [[("a", 0.5, True), ("a", 0.5, False)]]}).value == 0.5


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
