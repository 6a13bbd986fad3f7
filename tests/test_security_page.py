"""SECURITY.md names the test of each risk: they have to be there."""

import re
from pathlib import Path

from tests.owasp import named_tests

ROOT = Path(__file__).parents[1]


def test_every_file_that_the_page_names_is_there() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|clients|service)/[^`]*)`|\]\((?!http)([^)#]+)", page)
    paths = {first or second for first, second in named}
    assert len(paths) > 25
    assert not [path for path in sorted(paths) if not (ROOT / path).exists()]


def test_every_risk_has_tests_of_its_own_and_all_of_them_run() -> None:
    named = named_tests()
    assert set(named) == {f"LLM{number:02}" for number in range(1, 11)} | {f"API{number}" for number in range(1, 11)}
    assert all(named.values())
    for test in {test for tests in named.values() for test in tests}:
        found = test.rglob("test_*.py") if test.is_dir() else [test]
        assert [file for file in found if re.fullmatch(r"test_\w+\.py|.*\.test\.tsx?", file.name)], test
