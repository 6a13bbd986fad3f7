"""The table of docs/behavioural-contract.md names every test of a statement, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"^\| (\d+\.\d+) \| [^|]+ \| `(test_(\d+)_(\d+)_\w+)` \|$", re.MULTILINE)
_TEST = re.compile(r"^async def (test_\w+)\(", re.MULTILINE)
_SECTION = re.compile(r"^## (\d+)\. [^\n]+\n\n\[(\w+\.py)\]", re.MULTILINE)
_DOCUMENT = (_ROOT / "docs/behavioural-contract.md").read_text(encoding="utf-8")


def in_section(section: int) -> Iterator[str]:
    for file in Path(__file__).parent.glob(f"test_section_{section:02}_*.py"):
        yield from _TEST.findall(file.read_text(encoding="utf-8"))


def test_every_statement_of_the_table_has_its_test_and_every_test_its_statement() -> None:
    named = [row[1] for row in _ROW.findall(_DOCUMENT)]
    existing = [name for section in range(2, 13) for name in in_section(section)]
    assert sorted(named) == sorted(existing)
    assert len(set(named)) == len(named)


def test_every_test_begins_with_the_number_of_its_statement() -> None:
    for statement, _name, section, number in _ROW.findall(_DOCUMENT):
        assert statement == f"{section}.{number}"
    for section in range(2, 13):
        assert {name.split("_")[1] for name in in_section(section)} == {str(section)}


def test_every_section_of_the_contract_has_its_file() -> None:
    found = {int(number): file for number, file in _SECTION.findall(_DOCUMENT)}
    assert list(found) == list(range(2, 13))
    assert all(file.startswith(f"test_section_{number:02}_") for number, file in found.items())


def test_what_is_read_otherwise_is_a_statement_of_the_tables() -> None:
    statements = {row[0] for row in _ROW.findall(_DOCUMENT)}
    otherwise = _DOCUMENT.split("## Where the service adds to a statement or departs from it")[1]
    mentioned = {
        number
        for row in re.findall(r"^\| ([\d., to]+) \|", otherwise, re.MULTILINE)
        for number in re.findall(r"\d+\.\d+", row)
    }
    assert mentioned
    assert mentioned <= statements
