"""Items that a session could do without."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.model import (
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    RequestContext,
    RequestItem,
    SessionItem,
)
from proviso_service.turns import removal_suggestions

STYLE = ItemRef(ItemType.REFERENCE, "House style")
GLOSSARY = ItemRef(ItemType.REFERENCE, "Glossary")
SEARCH = ItemRef(ItemType.TOOL, "search", "proviso")
RULE = ItemRef(ItemType.RULE, "Plain English")
SESSION = tuple(SessionItem(ref, IncludeMode.MANUAL) for ref in (SEARCH, RULE, GLOSSARY, STYLE))


def answer(*items: RequestItem) -> RequestContext:
    return RequestContext(items, (), None, (), ContextFill(0, 12_000), datetime(2026, 1, 2, tzinfo=UTC))


def used(ref: ItemRef) -> RequestItem:
    return RequestItem(ref, IncludeMode.MANUAL, cited=True)


def idle(ref: ItemRef) -> RequestItem:
    return RequestItem(ref, IncludeMode.MANUAL)


def suggested(*contexts: RequestContext, after: int = 2) -> list[tuple[str, int]]:
    return [(one.item.ref.name, one.answers) for one in removal_suggestions(SESSION, contexts, after)]


def test_references_and_tools_that_were_never_used_are_named_in_the_sessions_order() -> None:
    context = answer(idle(STYLE), idle(GLOSSARY), idle(SEARCH))
    assert suggested(context, context) == [("search", 2), ("Glossary", 2), ("House style", 2)]


def test_one_use_is_enough_to_stay() -> None:
    assert suggested(answer(idle(STYLE)), answer(used(STYLE)), answer(idle(STYLE))) == []


def test_a_rule_is_never_named() -> None:
    assert suggested(*[answer(idle(RULE))] * 5) == []


def test_too_few_answers_say_nothing() -> None:
    assert suggested(answer(idle(STYLE)), after=2) == []
    assert suggested(answer(idle(STYLE)), answer(idle(STYLE)), after=3) == []


def test_answers_whose_model_was_not_given_the_item_do_not_count() -> None:
    too_large, gone = replace(idle(STYLE), note="too large"), replace(idle(STYLE), missing=True, note="gone")
    assert suggested(answer(too_large), answer(gone), answer(idle(STYLE))) == []


def test_what_is_not_in_the_session_is_not_named() -> None:
    other = ItemRef(ItemType.REFERENCE, "Another")
    assert suggested(*[answer(idle(other))] * 3) == []


refs = st.sampled_from([STYLE, GLOSSARY, SEARCH, RULE])
requests = st.lists(st.dictionaries(refs, st.booleans()), max_size=12)


@given(requests, st.integers(1, 4))
def test_the_suggestions_are_what_counting_by_hand_gives(asked: list[dict[ItemRef, bool]], after: int) -> None:
    contexts = [answer(*(RequestItem(r, IncludeMode.AGENT, cited=c) for r, c in one.items())) for one in asked]
    named = {one.item.ref: one.answers for one in removal_suggestions(SESSION, contexts, after)}
    for ref in (STYLE, GLOSSARY, SEARCH, RULE):
        seen = [one[ref] for one in asked if ref in one]
        expected = ref is not RULE and len(seen) >= after and not any(seen)
        assert (ref in named) == expected
        assert named.get(ref, len(seen)) == len(seen)
