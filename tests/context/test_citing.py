"""Which items of a request its answer used."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.citing import NormalisedText, with_cited
from proviso_service.context.model import (
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    RequestContext,
    RequestItem,
)

STYLE = ItemRef(ItemType.REFERENCE, "House style")
RULE = ItemRef(ItemType.RULE, "House style")
SEARCH = ItemRef(ItemType.TOOL, "search", "proviso")
FOREIGN_SEARCH = ItemRef(ItemType.TOOL, "search", "registry")
CONTENT = "# Style\n\nWe write *plain* English, and\nsay “shall” **only** of duties, and **T**enant."


def context(*refs: ItemRef, note: str = "") -> RequestContext:
    items = tuple(RequestItem(ref, IncludeMode.ALWAYS, content_sha256=f"hash of {ref.name}", note=note) for ref in refs)
    return RequestContext(items, (), None, (), ContextFill(0, 12_000), datetime(2026, 1, 2, tzinfo=UTC))


def cited(
    given: RequestContext, answer: str, *called: ItemRef, contents: Mapping[str, str] | None = None
) -> list[ItemRef]:
    known = {"hash of House style": CONTENT} if contents is None else contents
    return [item.ref for item in with_cited(given, answer, called, known).items if item.cited]


@pytest.mark.parametrize(("before", "found"), [(99, [STYLE]), (100, [])])
def test_a_hundred_quotations_of_an_answer_are_looked_up(before: int, found: list[ItemRef]) -> None:
    answer = "“is nowhere to be found” " * before + "“plain English, and say”"
    assert cited(context(STYLE), answer) == found


@pytest.mark.parametrize("answer", ["We avoid Latin [House style].", "See [HOUSE STYLE] and [1].", "[house\nstyle]"])
def test_a_reference_is_cited_by_its_name_in_brackets(answer: str) -> None:
    assert cited(context(STYLE), answer) == [STYLE]


@pytest.mark.parametrize(
    "answer",
    [
        "It says “We write plain English, and say”.",
        'It says “say "shall" only of duties”.',
        "It says “We   write\nplain English”.",
        "It says “of duties, and Tenant”.",
    ],
)
def test_a_reference_is_cited_by_a_quotation_however_it_was_retyped(answer: str) -> None:
    assert cited(context(STYLE), answer) == [STYLE]


@pytest.mark.parametrize(
    "answer",
    [
        "House style asks for plain English.",
        "It says “plain”.",
        "It says “We write florid English”.",
        "We write plain English, and say nothing.",
        "",
    ],
)
def test_a_mere_mention_a_short_quotation_or_other_words_cite_nothing(answer: str) -> None:
    assert cited(context(STYLE), answer) == []


def test_a_quotation_needs_the_content_and_a_name_does_not() -> None:
    assert cited(context(STYLE), "“We write plain English”", contents={}) == []
    assert cited(context(STYLE), "Plain [House style].", contents={}) == [STYLE]


def test_a_rule_is_never_cited() -> None:
    assert cited(context(RULE), "“We write plain English” [House style]") == []


def test_a_tool_is_cited_when_it_was_called_on_its_own_server() -> None:
    assert cited(context(SEARCH, FOREIGN_SEARCH), "[search]", SEARCH) == [SEARCH]
    assert cited(context(SEARCH), "[search]") == []


def test_what_the_model_was_not_given_is_not_cited() -> None:
    assert cited(context(STYLE, SEARCH, note="too large"), "[House style]", SEARCH) == []


@given(st.text(), st.text(), st.text(max_size=20))
def test_any_answer_is_read_and_nothing_but_cited_changes(answer: str, content: str, name: str) -> None:
    given_context = context(ItemRef(ItemType.REFERENCE, name), RULE, SEARCH)
    changed = with_cited(given_context, answer, {SEARCH}, {f"hash of {name}": content})
    assert [item.cited for item in changed.items[1:]] == [False, True]
    again = with_cited(changed, "", (), {})
    assert again == given_context


def test_a_long_answer_is_read_in_bounded_work() -> None:
    answer = "“We write plain Englisch” " * 20_000
    assert cited(context(STYLE), answer, contents={"hash of House style": CONTENT * 1_000}) == []


PERSIAN = "\u0645\u06cc\u200c\u062a\u0648\u0627\u0646 \u062a\u0645\u062f\u06cc\u062f \u06a9\u0631\u062f"


@pytest.mark.parametrize("typed", [PERSIAN, PERSIAN.replace("\u200c", "")])
def test_a_quotation_is_found_with_and_without_its_joiners(typed: str) -> None:
    assert NormalisedText(f"\u0622\u200c\u0646 {PERSIAN}.").find(typed) == (4, 4 + len(PERSIAN))
    assert cited(context(STYLE), f"“{typed}”", contents={"hash of House style": PERSIAN}) == [STYLE]
