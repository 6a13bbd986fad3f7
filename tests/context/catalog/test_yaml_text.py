"""YAML with the line of every value."""

from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.context.catalog.yaml_text import read_yaml

TEXT = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40)
@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_what_was_written_is_read(value: dict[str, Any]) -> None:
    read = read_yaml(yaml.safe_dump(value, allow_unicode=True))
    assert read.faults == ()
    assert read.value == value


@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#\n\t .<1\x07\u2028"), max_size=60))
def test_any_text_is_read_or_at_fault_on_one_of_its_lines(text: str) -> None:
    read = read_yaml(text, first_line=10)
    # YAML counts more characters as ends of lines than the newline.
    last = 10 + len((text + "-").splitlines())
    assert all(10 <= fault.line <= last for fault in read.faults)
    assert all(10 <= line <= last for line in read.lines.values())


def test_every_value_has_its_line() -> None:
    read = read_yaml("a: 1\nb:\n  - x\n  - c: |\n      long\n    d: {e: f}\n", first_line=5)
    assert read.value == {"a": 1, "b": ["x", {"c": "long\n", "d": {"e": "f"}}]}
    assert [read.line_of(path) for path in [(), ("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "d", "e")]] == [
        5,
        5,
        6,
        7,
        8,
        10,
    ]
    assert read.line_of(("b", 1, "nowhere", 3)) == 8


def test_numbers_and_dates_are_what_they_look_like() -> None:
    read = read_yaml("whole: 12\npart: 1.5\nday: 2026-01-31\nnothing: ~\nyes: no\n")
    assert read.value == {"whole": 12, "part": 1.5, "day": "2026-01-31", "nothing": None, "yes": False}


def test_a_text_that_repeats_itself_does_not_grow() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 30))]
    assert len(read_yaml("\n".join(lines)).faults) == 58


def test_halves_of_characters_are_faults() -> None:
    faults = read_yaml('a: "\\ud800"\n"\\udfff": b\nc: "\\U0001F600"\n').faults
    assert [(fault.line, fault.path) for fault in faults] == [(1, ("a",)), (2, ())]
