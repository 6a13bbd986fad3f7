"""What keeps a text from being YAML is told in words of ours, on the line where it ceases to be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.catalog.yaml_text import OTHERWISE, SENTENCES, read_yaml

BROKEN = [
    ("a: b\n\tc: d", 2, "it begins with a tab; use spaces"),
    ("a: @x", 1, "it has a value that begins with one of @ ` %; put it between quotation marks"),
    ("a: b: c", 1, "it has a colon too many, or is indented too far; put text with a colon between quotation marks"),
    (
        "a: b\n  c: d",
        2,
        "it has a colon too many, or is indented too far; put text with a colon between quotation marks",
    ),
    ("a: b\nc", 2, "it lacks the colon after the name of a field"),
    ("a: - x", 1, "it has a list that begins behind a colon; put each entry on a line of its own"),
    ("a:\n  - b\n c: d", 3, "it is not indented like the lines above it, or goes on after a closed value"),
    ("a: 'b' c", 1, "it is not indented like the lines above it, or goes on after a closed value"),
    ("a: [1, 2\nb: c", 2, "it has a bracket that is not closed, or lacks a comma before this line"),
    ("a: {b: c\nd: e", 2, "it has a bracket that is not closed, or lacks a comma before this line"),
    ("a: 'x", 1, "it has a quotation mark that is not closed"),
    ("a: 'x\n---\n", 2, "it has a quotation mark that is not closed"),
    ('a: "\\q"', 1, "it has a backslash in double quotation marks; use single ones"),
    ('a: "\\xq1"', 1, "it has a backslash in double quotation marks; use single ones"),
    ("a: *x", 1, "it has a value that begins with *; put it between quotation marks"),
    ("a: b\n---\nc: d", 2, "it begins a second document; a file holds one"),
    ("{a: b}}", 1, "look for a wrong indentation, colon, bracket or quotation mark, here or above"),
]


@pytest.mark.parametrize(("text", "line", "words"), BROKEN)
def test_a_text_that_is_no_yaml_says_what_to_mend(text: str, line: int, words: str) -> None:
    (fault,) = read_yaml(text).faults
    assert (fault.line, fault.path, fault.description) == (line, (), f"is not YAML: {words}")


def test_every_sentence_is_said_of_some_text() -> None:
    assert {words for _, _, words in BROKEN} == {*SENTENCES.values(), OTHERWISE}


@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#\n\t .<1\\"), max_size=40))
def test_no_text_brings_out_the_words_of_the_parser(text: str) -> None:
    ours = {f"is not YAML: {words}" for words in (*SENTENCES.values(), OTHERWISE)}
    assert {fault.description for fault in read_yaml(text).faults if "is not YAML" in fault.description} <= ours
