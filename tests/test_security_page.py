"""SECURITY.md names the test of each risk: they have to be there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_file_that_the_page_names_is_there() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|clients|service)/[^`]*)`|\]\((?!http)([^)#]+)", page)
    paths = {first or second for first, second in named}
    assert len(paths) > 25
    assert not [path for path in sorted(paths) if not (ROOT / path).exists()]


def test_every_risk_has_a_test() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:LLM|API)\d.*) \|$", page, re.MULTILINE)
    risks = {risk for row in rows for risk in re.findall(r"LLM\d\d|API\d+", row.split(" | ")[0])}
    assert risks == {f"LLM{number:02}" for number in range(1, 11)} | {f"API{number}" for number in range(1, 11)}
    assert all("`" in row.split(" | ")[2] for row in rows)
