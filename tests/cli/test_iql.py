"""`proviso iql`: results for people and programs, and a query read without a server."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proviso_service.cli import iql
from proviso_service.cli.server_options import Server
from tests.cli.scripted_server import Finished
from tests.cli.test_real_service import proviso as proviso_process
from tests.support.running import running_service
from tests.support.word_classifier import WordClassifier

Proviso = Callable[..., Finished]

LEASE = """\
# Lease

## 1. Confidentiality

Each party shall keep the Confidential Information secret and shall not disclose it to any third party.

## 2. Rent

The Tenant shall pay the rent on the first day of each month.
"""


def test_a_query_is_drawn_as_it_is_understood(proviso: Proviso) -> None:
    shown = proviso("iql", "--check", '{is late} + {IS Termination Clause} and not {IS clause obligating "Tenant"}')
    assert (shown.exit_code, shown.err) == (0, "")
    assert shown.out.splitlines()[:8] == [
        '{is late} + {IS termination clause} AND NOT {IS clause obligating "Tenant"}',
        "",
        "AND",
        "  +",
        "    is late",
        "    IS termination clause",
        "  NOT",
        '    IS clause obligating "Tenant"',
    ]
    assert "  This clause imposes an obligation or duty on Tenant." in shown.out


def test_a_fault_has_a_caret_under_its_place(proviso: Proviso) -> None:
    shown = proviso("iql", "--check", "{a} AND {IS rent clauses}")
    assert (shown.exit_code, shown.out) == (1, "")
    lines = shown.err.splitlines()
    assert lines[0].startswith("column 13: unknown template")
    at = lines[1].index("rent clauses")
    assert lines[2] == " " * at + "^" * len("rent clauses")


def test_a_check_notes_what_reads_like_a_template(proviso: Proviso) -> None:
    shown = proviso("iql", "--check", "{is payment clause}")
    assert shown.exit_code == 0
    assert shown.err.startswith("Note: ")
    assert "write {IS payment clause}" in shown.err
    (warning,) = json.loads(proviso("iql", "--check", "--json", "{is payment clause}").out)["warnings"]
    assert warning in shown.err


def test_a_check_can_be_read_by_programs(proviso: Proviso) -> None:
    sound = json.loads(proviso("iql", "--check", "--json", "{a} > {b}").out)
    assert (sound["canonical"], sound["statements"], sound["tree"]["type"]) == ("{a} > {b}", ["a", "b"], "comparison")
    broken = proviso("iql", "--check", "--json", "{a")
    assert broken.exit_code == 1
    assert json.loads(broken.out)["errors"][0]["start"] == 0


def test_a_check_knows_the_operators_own_templates(
    proviso: Proviso, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "templates.toml"
    file.write_text('[[template]]\nname = "rent clause"\nstatement = "This is about rent."\nmeaning = "Rent."\n')
    monkeypatch.setenv("PROVISO_IQL__TEMPLATES_FILE", str(file))
    assert proviso("iql", "--check", "{IS rent clause}").exit_code == 0
    file.write_text("[[template]]\n")
    broken = proviso("iql", "--check", "{IS rent clause}")
    assert broken.exit_code == 2
    assert str(file) in broken.err


def test_a_query_needs_a_matter(proviso: Proviso) -> None:
    shown = proviso("iql", "{a}")
    assert shown.exit_code == 2
    assert "Give --matter NAME" in shown.err


async def test_results_are_a_table_and_the_matches(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, classifier=WordClassifier()) as service:
        await service.create_matter("Leases", Lease=LEASE, Other="# Other\n\nNothing of note is said here.\n")
        at = ("--matter", "Leases", "--address", f"127.0.0.1:{service.app.port}")
        shown = await proviso_process("iql", "{confidential secret}", *at, "--explain", cwd=tmp_path)
        one = await proviso_process("iql", "{secret}", *at, "--document", "other.md", "--json", cwd=tmp_path)
        none = await proviso_process("iql", "{secret}", *at, "--min-score", "1", cwd=tmp_path)
        wrong = await proviso_process("iql", "{IS confidentiality claus}", *at, cwd=tmp_path)
        wrong_json = await proviso_process("iql", "{IS confidentiality claus}", *at, "--json", cwd=tmp_path)

    assert (shown.exit_code, shown.err, "\x1b" in shown.out) == (0, "", False)
    lines = [line.rstrip() for line in shown.out.splitlines()]
    assert [line.split() for line in lines[:3]] == [
        ["score", "matches", "document"], ["1.00", "1", "Lease.md"], ["0.00", "0", "Other.md"],
    ]  # fmt: skip
    assert lines[4].startswith("Lease.md, 1. Confidentiality  1.00  cite:")
    assert "Each party shall keep the Confidential Information secret" in shown.out
    assert "  1.00  confidential secret" in lines
    assert lines[-1] == "1 match in 1 of 2 documents, average score 1.00 (word-classifier)"

    document, summary = [json.loads(line) for line in one.out.splitlines()]
    assert (document["document"]["filename"], document["document"]["matches"]) == ("Other.md", [])
    assert summary["summary"]["document_count"] == 1

    assert none.out.splitlines()[-1] == "0 matches in 0 of 2 documents (word-classifier)"
    assert (wrong.exit_code, wrong.out) == (1, "")
    lines = wrong.err.splitlines()
    assert lines[0].startswith("column 5: unknown template")
    assert lines[2] == " " * lines[1].index("confidentiality claus") + "^" * len("confidentiality claus")
    (told,) = json.loads(wrong_json.out)["errors"]
    assert (wrong_json.exit_code, told["start"], told["end"]) == (1, 4, 4 + len("confidentiality claus"))


async def test_all_matches_are_shown_when_they_are_asked_for(
    tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(f"## {n}. Secrets\n\nSecret number {n} is confidential.\n\n" for n in range(1, 31))
    async with running_service(tmp_path / "data", models_dir, classifier=WordClassifier()) as service:
        await service.create_matter("Leases", Lease=f"# Lease\n\n{text}")
        at = ("--matter", "Leases", "--address", f"127.0.0.1:{service.app.port}")
        best = await proviso_process("iql", "{secret}", *at, cwd=tmp_path)
        everything = await proviso_process("iql", "{secret}", *at, "--all", cwd=tmp_path)
        monkeypatch.setattr(iql, "_LARGEST_PAGE", 7)
        await iql.run_query(
            "{secret}", Server(at[3]), "Leases", [], None, explain=False, all_matches=True, as_json=True
        )

    assert "10 more in Lease.md; --all shows them" in best.out.splitlines()
    assert best.out.count("is confidential.") == 20
    assert everything.out.count("is confidential.") == 30
    assert "--all" not in everything.out
    document = json.loads(capsys.readouterr().out.splitlines()[0])["document"]
    starts = [match["start_index"] for match in document["matches"]]
    assert (len(starts), starts) == (30, sorted(starts))
    assert (document["truncated"], document["next_page_token"]) == (False, "")
