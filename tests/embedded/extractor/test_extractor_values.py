"""Short answers are found whole, where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.extractor.questions import Sought, values_in

CASES = [
    (Sought.DURATION, "for five (5) years, on thirty (30) days' notice", ["five (5) years", "thirty (30) days"]),
    (Sought.DURATION, "a twenty-four month term and 10 business days", ["twenty-four month", "10 business days"]),
    (Sought.DURATION, "a five (5)-year term", ["five (5)-year"]),
    (Sought.DURATION, "somebody's yearly tenure", []),
    (Sought.DATE, "on the 8th day of May 2014 or May 9, 2015", ["8th day of May 2014", "May 9, 2015"]),
    (Sought.DATE, "by 2024-01-31, 1/31/2024 or 31.1.2024", ["2024-01-31", "1/31/2024", "31.1.2024"]),
    (Sought.DATE, "you may 2 times", []),
    (Sought.PERIOD, "until June 30, 2020 or for one year", ["June 30, 2020", "one year"]),
    (Sought.MONEY, "US$1,000.50, $2 million and 300 euros", ["US$1,000.50", "$2 million", "300 euros"]),
    (Sought.MONEY, "a fee of twelve percent (12%) of sales", ["twelve percent (12%)"]),
    (Sought.PERCENTAGE, "fifty (50)% or 5 per cent, not $5", ["fifty (50)%", "5 per cent"]),
    (Sought.NUMBER, "one hundred (100) units", ["one hundred (100) units"]),
    (Sought.LAW, "under the laws of the State of New York, without", ["the laws of the State of New York"]),
    (Sought.LAW, "THE LAWS OF THE STATE OF OHIO WITHOUT REGARD", ["THE LAWS OF THE STATE OF OHIO"]),
    (Sought.LAW, "the laws of England and Wales apply", ["the laws of England and Wales"]),
    (Sought.LAW, "English law governs", ["English law"]),
    (Sought.LAW, "as the law requires", []),
    (Sought.PARTIES, "by and between Birch & Sons, Inc., a company, and Oak LLC", ["Birch & Sons, Inc", "Oak LLC"]),
    (Sought.PARTIES, "between: (1) J.P. Smith Ltd; and (2) Max van Dam", ["J.P. Smith Ltd", "Max van Dam"]),
    (Sought.PARTIES, "The parties shall meet.", []),
    (Sought.TITLE, "This Master Supply Agreement is made", ["Master Supply Agreement"]),
    (Sought.TITLE, "ENDORSEMENT AND LICENSE AGREEMENT", ["ENDORSEMENT AND LICENSE AGREEMENT"]),
    (Sought.TITLE, "this Agreement is made", []),
    (Sought.STATEMENT, "on May 9, 2015 for one year", []),
]


@pytest.mark.parametrize(("sought", "text", "expected"), CASES)
def test_values_are_found_whole(sought: Sought, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in values_in(text, sought)] == expected


@given(
    sought=st.sampled_from(Sought),
    text=st.lists(st.sampled_from([text for _, text, _ in CASES]) | st.text(max_size=30), max_size=6).map(" ".join),
)
def test_values_of_any_text_lie_in_it_in_order(sought: Sought, text: str) -> None:
    position = 0
    for start, end in values_in(text, sought):
        assert position <= start < end <= len(text)
        position = end
