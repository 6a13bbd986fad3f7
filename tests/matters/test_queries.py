"""What a query asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.matters.wording import parse_query
from proviso_service.reading.words import words_of


@pytest.mark.parametrize(
    ("query", "phrases", "text"),
    [
        ('"Governing  Law"', ("governing law",), "Governing  Law"),
        ("“governing law” or „best efforts“", ("governing law", "best efforts"), "governing law  or  best efforts"),
        ('the "tenant’s  ﬁxtures" here', ("tenant's fixtures",), "the  tenant’s  ﬁxtures  here"),
        ('"law" and "LAW"', ("law",), "law  and  LAW"),
        ('an unbalanced " quote', (), 'an unbalanced " quote'),
        ('one "phrase" and 5" pipes', ("phrase",), 'one  phrase  and 5" pipes'),
        ('"" and "§ -" are none', (), '"" and "§ -" are none'),
        ("the tenant's 'fixtures'", (), "the tenant's 'fixtures'"),
    ],
)
def test_what_stands_in_double_quotes_is_a_phrase(query: str, phrases: tuple[str, ...], text: str) -> None:
    parsed = parse_query(query)
    assert (parsed.phrases, parsed.text) == (phrases, text)


@pytest.mark.parametrize(
    ("query", "is_reference", "subject"),
    [
        ("clause 12.3", True, ()),
        ("What does clause 12.3 say?", True, ("say",)),
        ("12.3", True, ()),
        ("liability cap in clause 12.3", False, ("liability", "cap")),
        ('"fees" in clause 12.3', False, ()),
        ('"clause 12.3"', False, ()),
        ("liability cap", False, ("liability", "cap")),
    ],
)
def test_the_subject_is_what_stands_beside_phrases_and_references(
    query: str, is_reference: bool, subject: tuple[str, ...]
) -> None:
    parsed = parse_query(query)
    assert (parsed.is_reference, parsed.subject) == (is_reference, subject)


@given(st.text(st.sampled_from("clause section 12.3(a) IV \"“”„§'\n,-and to\0é𝟙"), max_size=80) | st.text(max_size=80))
def test_any_text_is_a_query(query: str) -> None:
    parsed = parse_query(query)
    assert words_of(parsed.text) == words_of(query)
    assert all(words_of(phrase) for phrase in parsed.phrases)
    assert all(reference.levels and all(reference.levels) for reference in parsed.references)
