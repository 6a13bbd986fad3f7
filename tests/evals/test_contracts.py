"""What is measured on contracts that nothing was tuned on, asked of a real service."""

import json
from pathlib import Path

import pytest

from evals.contracts import report
from evals.data import is_measured
from proviso_client import AsyncClient
from tests.support.running import running_service

LAW = "This lease is governed by the laws of Oregon."
INSURANCE = "Tenant shall maintain liability insurance and name Landlord as an additional insured."
CONTRACTS = [name for name in (f"lease-{number}.txt" for number in range(60)) if is_measured(name)][:4]
MARKED = {"Governing Law": LAW, "Insurance": INSURANCE}
CHOICES = {"law": "Entailment", "insurance": "Contradiction", "boats": "NotMentioned"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cuad" / "contracts").mkdir(parents=True)
    spans = []
    for name in (*CONTRACTS, "lease-1.txt"):
        text = f"Lease of {name}\n\n1. Rent\n\nThe rent is due.\n\n2. Insurance\n\n{INSURANCE}\n\n3. Law\n\n{LAW}\n"
        (tmp_path / "cuad" / "contracts" / name).write_text(text)
        for category, marked in MARKED.items():
            start = text.index(marked)
            spans.append({"contract": name, "category": category, "start": start, "end": start + len(marked)})
    questions = {
        "Governing Law": "Which law governs the contract?",
        "Insurance": "Must a party keep insurance?",
        "Non-Disparagement": "May a party say bad things about the other?",
    }
    (tmp_path / "cuad" / "categories.json").write_text(json.dumps(questions))
    (tmp_path / "cuad" / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    annotations = {
        key: {"choice": choice, "spans": [0] if key == "law" else [1] if key == "insurance" else []}
        for key, choice in CHOICES.items()
    }
    content = {
        "labels": {
            "law": {"hypothesis": "The laws of Oregon govern this lease."},
            "insurance": {"hypothesis": "The tenant may choose whether to insure itself."},
            "boats": {"hypothesis": "All boats are painted red."},
        },
        "documents": [
            {
                "file_name": "nda-0",
                "text": f"{LAW} {INSURANCE}",
                "spans": [[0, len(LAW)], [len(LAW) + 1, len(LAW) + 1 + len(INSURANCE)]],
                "annotation_sets": [{"annotations": annotations}],
            }
        ],
    }
    (tmp_path / "contract_nli").mkdir()
    (tmp_path / "contract_nli" / "dev.json").write_text(json.dumps(content))
    return tmp_path


async def test_every_way_is_asked_about_contracts_that_nothing_was_fitted_on(
    folder: Path, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.contracts._UNANSWERED_SHARE", 1.0)
    (tmp_path / "scratch").mkdir()
    async with (
        running_service(tmp_path / "data", models_dir) as service,
        AsyncClient(f"127.0.0.1:{service.app.port}", insecure=True) as client,
    ):
        lines = list(await report(client, folder, tmp_path / "scratch"))
    assert lines[0] == "4 contracts."
    figures = {name.strip(): value.strip() for name, value in (line.split("|")[1:3] for line in lines[4:])}
    for kind in ("category questions", "plain questions"):
        assert figures[f"Search, {kind}: among three"] == "1.000 (1.00 to 1.00)"
        assert figures[f"Extract, {kind}: among three"] == "1.000 (1.00 to 1.00)"
        wrong = figures[f"Extract, {kind}: stated where nothing is marked, or wrong"]
        found = figures[f"Extract, {kind}: found and right"]
        # A third of the questions have no answer, and all others find theirs or nothing.
        assert float(wrong.split()[0]) <= (1 + 2 * (1 - float(found.split()[0]))) / 3
    assert figures["IQL, category questions: macro average precision, 2 left out at first"] == "1.000 (1.00 to 1.00)"
    assert "IQL, everyday words: macro average precision, 2 left out at first" in figures
    assert {f"ContractNLI, {choice}: answered yes" for choice in CHOICES.values()} <= figures.keys()
    assert figures["ContractNLI, Entailment: answered yes"] == "1.000 (1.00 to 1.00)"
    assert figures["ContractNLI, NotMentioned: answered yes"] == "0.000 (0.00 to 0.00)"
