"""Words that a line end divides."""

import pytest

from proviso_service.reading.pdf_paragraphs import Vocabulary, join_lines


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("about the termi-", "nation of it", "about the termination of it"),
        ("this Agree-", "ment is", "this Agreement is"),
        ("the TERMI-", "NATION of it", "the TERMINATION of it"),
        ("a non-", "compete clause", "a non-compete clause"),
        ("Third-", "party rights", "Third-party rights"),
        ("the Co-", "Branded Site", "the Co-Branded Site"),
        ("Form 10-", "K of it", "Form 10-K of it"),
        ("a 30-", "day period", "a 30-day period"),
        ("state-of-the-", "art means", "state-of-the-art means"),
        ("pre- and post-", "closing", "pre- and postclosing"),
        ("pre-", "and post-closing", "pre- and post-closing"),
        ("the parties -", "both of them", "the parties - both of them"),
        ("and/", "or others", "and/or others"),
        ("the parties\u2014", "both of them", "the parties\u2014both of them"),
        ("no hyphen", "here", "no hyphen here"),
        ("\u201cTermi-", "nation\u201d", "\u201cTermination\u201d"),
        ("K\u00fcndi-", "gung", "K\u00fcndigung"),
        ("-", "item", "- item"),
        ("end-", "", "end- "),
    ],
)
def test_lines_are_joined(above: str, below: str, joined: str) -> None:
    assert "".join((*join_lines(above, below, Vocabulary([])), below)) == joined


@pytest.mark.parametrize(
    ("elsewhere", "joined"),
    [
        ("The sub-licensee pays.", "sub-licensee"),
        ("The SUB-LICENSEE pays.", "sub-licensee"),
        ("The sublicensee pays.", "sublicensee"),
        ("A co-", "sublicensee"),
    ],
)
def test_the_document_knows_how_a_word_is_written(elsewhere: str, joined: str) -> None:
    text, space = join_lines("sub-", "licensee", Vocabulary([elsewhere, "sub-", "licensee"]))
    assert text + space + "licensee" == joined


def test_a_prefix_is_no_word_of_its_own_where_the_document_has_the_whole_one() -> None:
    text, space = join_lines("co-", "operate", Vocabulary(["They cooperate."]))
    assert text + space + "operate" == "cooperate"


def test_a_line_without_spaces_is_joined_at_once() -> None:
    line = "'a" * 1_000_000 + "-"
    assert join_lines(line, "b", Vocabulary([]))[1] == ""
