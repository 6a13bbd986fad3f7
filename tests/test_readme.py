"""The README says what is so."""

from pathlib import Path

import pytest

from tests.support.readme_tables import exit_reason_table, settings_table

_ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("table", [settings_table(), exit_reason_table()], ids=["settings", "exit reasons"])
def test_the_tables_of_the_readme_are_those_of_the_code(table: list[str]) -> None:
    assert "\n".join(table) in (_ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_that_the_documents_link_to_is_there() -> None:
    documents = [_ROOT / "README.md", _ROOT / "CONTRIBUTING.md", *(_ROOT / "docs").glob("*.md")]
    for document in documents:
        text = document.read_text(encoding="utf-8")
        targets = [part.split(")")[0].split("#")[0] for part in text.split("](")[1:]]
        for target in targets:
            if target and "://" not in target:
                assert (document.parent / target).exists(), f"{document.name} links to {target}"
