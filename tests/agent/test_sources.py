"""Quotes are found in sources however their markup and white space were retyped."""

import pytest

from proviso_service.agent.sources import Sources
from proviso_service.tools.base import Passage

TEXT = '## 1. Fees\n\n*Sample.* The "**Customer**" pays <span class="x">the Fee</span> of\nUSD 5; see [*] below.'


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("“Customer” pays the Fee of USD 5", '"**Customer**" pays <span class="x">the Fee</span> of\nUSD 5'),
        ('"**Customer**" pays', '"**Customer**" pays'),
        ("1. Fees Sample.", "1. Fees\n\n*Sample."),
        ("see [*] below.", "see [*] below."),
    ],
)
def test_a_quote_is_located_without_the_markup_of_its_source(quote: str, found: str) -> None:
    sources = Sources()
    sources.number(Passage("d", "a.md", 100, TEXT))
    located = sources.locate(1, quote)
    assert located is not None
    assert located.quote == found
    assert TEXT[located.start - 100 : located.end - 100] == found


def test_other_words_are_not_found() -> None:
    sources = Sources()
    sources.number(Passage("d", "a.md", 0, TEXT))
    assert sources.locate(1, "pays the fee of USD 6") is None
