"""Quotes are found in sources however their markup and white space were retyped."""

from unittest.mock import patch

import pytest

from proviso_service.agent.grounding import Sources
from proviso_service.context import citing
from proviso_service.tools.base import SourcePassage

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
    sources.number(SourcePassage("d", "a.md", 100, TEXT))
    located = sources.locate(1, quote)
    assert located is not None
    assert located.quote == found
    assert TEXT[located.start - 100 : located.end - 100] == found


def test_other_words_are_not_found() -> None:
    sources = Sources()
    sources.number(SourcePassage("d", "a.md", 0, TEXT))
    assert sources.locate(1, "pays the fee of USD 6") is None


def test_a_long_reference_is_made_ready_once_however_many_quotations_are_looked_up() -> None:
    reference = "The **Tenant** pays the rent on the first day.\n" * 1_000
    with patch.object(citing, "normalise", wraps=citing.normalise) as normalise:
        sources = Sources(references={"Lease": reference})
        assert not any(sources.holds(f"The Tenant pays the rent on day {day}") for day in range(100))
        assert sources.holds("The Tenant pays the rent")
        assert not sources.holds("The Landlord pays the rent")
    looked_through = [call.args[0] for call in normalise.call_args_list]
    assert looked_through.count(reference) == 1
