"""`proviso evaluate`: labels are read, asked about and counted, on a real service; and small sets of questions to the
samples, and to agreements in other languages, are answered as well as they were."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import proviso_service
from proviso_client import AsyncClient
from proviso_service.cli.evaluate import Label, read_labels
from proviso_service.cli.output import CommandError
from tests.cli.test_real_service import proviso as run
from tests.support.running import running_service

LEASE = (
    "# Lease\n\n## 1. Rent\n\nThe rent is EUR 900 a month.\n\n## 2. Notice\n\nThe notice period is sixty (60) days.\n"
)
EVALS = Path(__file__).parents[2] / "evals"
REGRESSION = EVALS / "regression" / "labels.jsonl"
OTHER_LANGUAGES = EVALS / "other_languages"
NORTHWIND = Path(proviso_service.__path__[0]) / "samples" / "northwind"


def labelled(folder: Path, *labels: dict[str, Any]) -> Path:
    folder.mkdir()
    (folder / "lease.md").write_text(LEASE)
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    return folder


def test_labels_are_questions_and_statements(tmp_path: Path) -> None:
    folder = labelled(
        tmp_path / "f",
        {"document": "lease.md", "question": "How long?", "answers": ["sixty (60) days"]},
        {"document": "lease.md", "statement": "It is void.", "passages": []},
    )
    assert read_labels(folder) == [
        Label("lease.md", "How long?", ("sixty (60) days",), False),
        Label("lease.md", "It is void.", (), True),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("no json", "line 1: it is no JSON"),
        ('{"document": "a", "question": " "}', "line 1: it needs"),
        ('{"document": "a", "question": "b", "answers": [1]}', "line 1: it needs"),
        ('{"question": "b", "answers": []}', "line 1: it needs"),
        ('{"document": "a", "question": "b", "answer": []}', "line 1: it needs"),
        ("[]", "line 1: it needs"),
        ("", "has no labels"),
    ],
)
def test_a_broken_label_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "labels.jsonl").write_text(line)
    with pytest.raises(CommandError, match=problem):
        read_labels(tmp_path)


async def test_a_folder_without_labels_and_a_label_of_another_text_are_one_line(
    tmp_path: Path, models_dir: Path
) -> None:
    folder = labelled(tmp_path / "f", {"document": "lease.md", "question": "How long?", "answers": ["two years"]})
    async with running_service(tmp_path / "data", models_dir) as service:
        at = ("--address", f"127.0.0.1:{service.app.port}")
        told = await run("evaluate", str(folder), *at, cwd=tmp_path)
        assert told.exit_code == 1
        assert told.err == "proviso: lease.md does not hold the labelled text 'two years'\n"
        (folder / "labels.jsonl").unlink()
        told = await run("evaluate", str(folder), *at, cwd=tmp_path)
        assert (told.exit_code, told.err.count("\n")) == (1, 1)
        async with AsyncClient(at[1], insecure=True) as client:
            assert [matter async for matter in client.matters.list()] == []


async def figures_of(folder: Path, tmp_path: Path, models_dir: Path) -> dict[str, dict[str, Any]]:
    """What `proviso evaluate` says of a folder, by the way of asking."""
    async with running_service(tmp_path / "data", models_dir) as service:
        told = await run("evaluate", str(folder), "--json", "--address", f"127.0.0.1:{service.app.port}", cwd=tmp_path)
    assert (told.exit_code, told.err) == (0, "")
    return {one["way"]: one for one in map(json.loads, told.out.splitlines())}


async def test_answers_about_agreements_in_other_languages_are_as_good_as_they_were(
    tmp_path: Path, models_dir: Path
) -> None:
    documents = ("gewerbemietvertrag.md", "contrato-de-licencia.md")
    folder = tmp_path / "agreements"
    folder.mkdir()
    for name in documents:
        shutil.copy(OTHER_LANGUAGES / name, folder)
    lines = (OTHER_LANGUAGES / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = [line for line in lines if json.loads(line)["document"] in documents][::2]
    (folder / "labels.jsonl").write_text("\n".join(chosen), encoding="utf-8")
    figures = await figures_of(folder, tmp_path, models_dir)
    found = {
        "search": figures["search"]["among_three"],
        "extract": figures["extract"]["among_three"],
        "iql": figures["iql"]["average_precision"],
        "chat": figures["chat"]["right"] + figures["chat"]["offered"],
    }
    least = {"search": 0.55, "extract": 0.6, "iql": 0.6, "chat": 0.6}
    assert {way: figure for way, figure in found.items() if figure < least[way]} == {}
    assert figures["chat"]["wrong"] <= 0.25


async def test_answers_to_the_samples_are_as_good_as_they_were(tmp_path: Path, models_dir: Path) -> None:
    folder = tmp_path / "northwind"
    shutil.copytree(NORTHWIND, folder)
    shutil.copy(REGRESSION, folder)
    figures = await figures_of(folder, tmp_path, models_dir)
    assert {way: one["asked"] for way, one in figures.items()} == {
        "search": 48,
        "extract": 62,
        "iql": 12,
        "iql, not true": 12,
        "chat": 62,
    }
    found = {
        "search": figures["search"]["among_three"],
        "extract": figures["extract"]["among_three"],
        "iql": figures["iql"]["average_precision"],
        "chat": figures["chat"]["right"] + figures["chat"]["right_to_find_nothing"] + figures["chat"]["offered"],
    }
    least = {"search": 0.78, "extract": 0.65, "iql": 0.87, "chat": 0.7}
    assert {way: figure for way, figure in found.items() if figure < least[way]} == {}
    assert figures["chat"]["wrong"] <= 0.2
