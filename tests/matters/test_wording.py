"""Texts as they are searched."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proviso_service.matters.wording import fold, holds_phrase, phrase_spans, searchable
from proviso_service.reading.model import Span
from tests.support.counting import calls_of

SET_TEXTS = st.text(st.sampled_from('ab \n\t-\u2010\u00ad\u2019"\u201cﬁfi.É\u0301e\u200b'), max_size=40)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("governed  by\nthe LAWS of", "Governed by the laws"),
        ("the tenant\u2019s \u201cPermitted Use\u201d", 'tenant\'s "permitted use"'),
        ("a non\u2011compete \u2013 clause", "non-compete - clause"),
        ("the of\ufb01ce of the licens\u00adee", "office of the licensee"),
        ("early termi-\n  nation fee", "early termination fee"),
        ("a non-\ncompete clause", "non-compete clause"),
        ("a re\u0301sume\u0301", "résumé"),
        ("12.3(b) applies", "12.3(b)"),
        ("fees (if any)", "(if any)"),
    ],
)
def test_how_a_text_is_set_does_not_matter(text: str, phrase: str) -> None:
    assert holds_phrase(text, fold(phrase))
    [span] = phrase_spans(text, fold(phrase))
    assert fold(text[span.start : span.end].replace("-\n  ", "").replace("-\n", "-")) == fold(phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("termination for cause", "terminate for cause"),
        ("governing laws", "governing law"),
        ("sublicensee", "licensee"),
        ("clause 112.3", "12.3"),
        ("a resumé", "resume"),
        ("law governing", "governing law"),
        ("non compete", "non-compete"),
    ],
)
def test_other_words_are_another_phrase(text: str, phrase: str) -> None:
    assert not holds_phrase(text, fold(phrase))
    assert phrase_spans(text, fold(phrase)) == []


def test_every_place_of_a_phrase_is_found() -> None:
    assert phrase_spans("Rent, more rent; RENT", "rent") == [Span(0, 4), Span(11, 15), Span(17, 21)]


@given(text=SET_TEXTS, phrase=SET_TEXTS)
@example(text="ﬁa", phrase="i")
@example(text="a\u00ad\nb", phrase="ab")
@example(text="a\u00ad-\nb", phrase="ab")
def test_a_phrase_has_a_place_exactly_where_it_is_held(text: str, phrase: str) -> None:
    folded = fold(phrase)
    if not folded:
        return
    spans = phrase_spans(text, folded)
    assert bool(spans) == holds_phrase(text, folded)
    for before, after in pairwise(spans):
        assert before.end <= after.start
    for span in spans:
        assert 0 <= span.start < span.end <= len(text)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
@example("a\x00b c-\x1fd")
@example("Re-\nquired\t\x0b x")
def test_a_text_as_it_is_typed_is_folded_as_any_other(text: str) -> None:
    assert fold(text) == fold(f"{text} \u00e9").removesuffix("e\u0301").strip()


def test_a_phrase_is_looked_for_in_plain_texts_without_folding_each() -> None:
    texts = [f"The tenant is required to pay rent number {number}. " * 12 for number in range(50)]
    assert calls_of(lambda: [holds_phrase(text, "requirements") for text in texts]) < 50 * 12


def test_a_text_that_holds_the_words_of_a_phrase_apart_is_folded_once() -> None:
    text = "Notice may be given in person. What is in writing counts from that notice on. " * 8
    assert calls_of(lambda: [holds_phrase(text, "notice in writing") for _ in range(50)]) < 50 * 16


@given(st.text(max_size=200))
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_word_broken_at_a_line_end_is_indexed_in_both_forms() -> None:
    assert searchable("termi-\nnation of non-\ncompetes") == (
        "termi-\nnation of non-\ncompetes\ntermination of noncompetes"
    )
    assert searchable("2019-\n2020 and - \n dashes") == "2019-\n2020 and - \n dashes"


def test_what_the_index_reads_has_not_changed() -> None:
    """Entries are found again by what was read: if this fails, the schema needs a step that builds the index anew."""
    characters = "".join(f"a{chr(code)} " for code in (*range(0x3000), *range(0xFB00, 0xFB07), 0xFEFF))
    read = searchable(characters + " termi-\nnation, non\u2010\r\n\tcompete, ten\u02bcs")
    assert (
        hashlib.sha256(read.encode()).hexdigest() == "27e53c71339b0e4925bf54ba69b7b9d8d982c5837897ca1ad9485cc8b3e9dba5"
    )
