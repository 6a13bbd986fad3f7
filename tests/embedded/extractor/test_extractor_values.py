"""Short answers are found whole, where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.extractor.questions import AnswerKind, values_in

CASES = [
    (AnswerKind.DURATION, "for five (5) years, on thirty (30) days' notice", ["five (5) years", "thirty (30) days"]),
    (AnswerKind.DURATION, "a twenty-four month term and 10 business days", ["twenty-four month", "10 business days"]),
    (AnswerKind.DURATION, "a five (5)-year term", ["five (5)-year"]),
    (AnswerKind.DURATION, "somebody's yearly tenure", []),
    (AnswerKind.DATE, "on the 8th day of May 2014 or May 9, 2015", ["8th day of May 2014", "May 9, 2015"]),
    (AnswerKind.DATE, "by 2024-01-31, 1/31/2024 or 31.1.2024", ["2024-01-31", "1/31/2024", "31.1.2024"]),
    (AnswerKind.DATE, "you may 2 times", []),
    (AnswerKind.PERIOD, "until June 30, 2020 or for one year", ["June 30, 2020", "one year"]),
    (AnswerKind.MONEY, "US$1,000.50, $2 million and 300 euros", ["US$1,000.50", "$2 million", "300 euros"]),
    (AnswerKind.MONEY, "a fee of twelve percent (12%) of sales", ["twelve percent (12%)"]),
    (AnswerKind.PERCENTAGE, "fifty (50)% or 5 per cent, not $5", ["fifty (50)%", "5 per cent"]),
    (AnswerKind.NUMBER, "one hundred (100) units", ["one hundred (100) units"]),
    (AnswerKind.LAW, "under the laws of the State of New York, without", ["the laws of the State of New York"]),
    (AnswerKind.LAW, "THE LAWS OF THE STATE OF OHIO WITHOUT REGARD", ["THE LAWS OF THE STATE OF OHIO"]),
    (AnswerKind.LAW, "the laws of England and Wales apply", ["the laws of England and Wales"]),
    (AnswerKind.LAW, "English law governs", ["English law"]),
    (AnswerKind.LAW, "as the law requires", []),
    (AnswerKind.PARTIES, "by and between Birch & Sons, Inc., a company, and Oak LLC", ["Birch & Sons, Inc", "Oak LLC"]),
    (AnswerKind.PARTIES, "between: (1) J.P. Smith Ltd; and (2) Max van Dam", ["J.P. Smith Ltd", "Max van Dam"]),
    (AnswerKind.PARTIES, "The parties shall meet.", []),
    (AnswerKind.TITLE, "This Master Supply Agreement is made", ["Master Supply Agreement"]),
    (AnswerKind.TITLE, "ENDORSEMENT AND LICENSE AGREEMENT", ["ENDORSEMENT AND LICENSE AGREEMENT"]),
    (AnswerKind.TITLE, "this Agreement is made", []),
    (AnswerKind.STATEMENT, "on May 9, 2015 for one year", []),
]


@pytest.mark.parametrize(("answer_kind", "text", "expected"), CASES)
def test_values_are_found_whole(answer_kind: AnswerKind, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in values_in(text, answer_kind)] == expected


@given(
    answer_kind=st.sampled_from(AnswerKind),
    text=st.lists(st.sampled_from([text for _, text, _ in CASES]) | st.text(max_size=30), max_size=6).map(" ".join),
)
def test_values_of_any_text_lie_in_it_in_order(answer_kind: AnswerKind, text: str) -> None:
    position = 0
    for start, end in values_in(text, answer_kind):
        assert position <= start < end <= len(text)
        position = end
