"""What people add to a session and remove from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.catalog.catalog import with_added, with_removed
from proviso_service.context.model import IncludeMode, ItemRef, SessionItem
from proviso_service.errors import ContextItemDisabled, ContextItemNotFound
from tests.support.catalogs import a_catalog, an_item
from tests.support.selection_world import reference, rule, tool

ALWAYS, MANUAL, AGENT = IncludeMode.ALWAYS, IncludeMode.MANUAL, IncludeMode.AGENT
OFF = rule("Switched off")
CATALOG = a_catalog(
    an_item(rule("Quoting"), ALWAYS),
    an_item(rule("Caps"), MANUAL),
    an_item(reference("Fees"), AGENT),
    an_item(tool("files", "read"), AGENT),
    an_item(OFF, MANUAL, enabled=False),
)
GONE = SessionItem(rule("Gone"), ALWAYS)


@pytest.mark.parametrize("ref", [item.ref for item in CATALOG if item.enabled], ids=lambda ref: ref.name)
def test_any_item_can_be_added_and_is_manual(ref: ItemRef) -> None:
    once = with_added((GONE,), ref, CATALOG)
    assert once == (GONE, SessionItem(ref, MANUAL))
    assert with_added(once, ref, CATALOG) == once


@pytest.mark.parametrize("ref", [rule("Quoting"), GONE.ref, OFF], ids=lambda ref: ref.name)
def test_adding_what_is_there_changes_nothing_whatever_has_become_of_it(ref: ItemRef) -> None:
    items = (SessionItem(rule("Caps"), MANUAL), SessionItem(ref, ALWAYS))
    assert with_added(items, ref, CATALOG) == items


def test_an_always_item_that_was_removed_comes_back_as_manual() -> None:
    items = with_removed((SessionItem(rule("Quoting"), ALWAYS),), rule("Quoting"), CATALOG)
    assert items == ()
    assert with_added(items, rule("Quoting"), CATALOG) == (SessionItem(rule("Quoting"), MANUAL),)


def test_a_disabled_item_is_refused_with_the_reason_and_can_be_removed() -> None:
    with pytest.raises(ContextItemDisabled) as refused:
        with_added((), OFF, CATALOG)
    assert refused.value.message.startswith("The rule 'Switched off' is disabled in the agent's catalog; ")
    assert with_removed((SessionItem(OFF, MANUAL),), OFF, CATALOG) == ()


def test_an_unknown_item_is_refused_with_near_matches() -> None:
    for change in (with_added, with_removed):
        with pytest.raises(ContextItemNotFound) as refused:
            change((GONE,), rule("Quotation"), CATALOG)
        assert refused.value.near_matches == ("rule 'Quoting'",)


def test_what_has_left_the_catalog_can_be_removed_and_not_be_added_back() -> None:
    assert with_removed((GONE,), GONE.ref, CATALOG) == ()
    with pytest.raises(ContextItemNotFound):
        with_added((), GONE.ref, CATALOG)


def test_removing_what_is_not_there_changes_nothing() -> None:
    assert with_removed((GONE,), rule("Caps"), CATALOG) == (GONE,)


def test_tools_of_one_name_on_two_servers_are_two_items() -> None:
    with pytest.raises(ContextItemNotFound):
        with_added((SessionItem(tool("files", "read"), MANUAL),), tool("mail", "read"), CATALOG)


CHANGES = st.lists(
    st.tuples(st.sampled_from(["add", "remove"]), st.sampled_from([*(item.ref for item in CATALOG), GONE.ref])),
    max_size=20,
)


@given(CHANGES)
def test_whatever_is_added_and_removed_a_session_holds_each_item_once_as_it_first_came(
    changes: list[tuple[str, ItemRef]],
) -> None:
    items: tuple[SessionItem, ...] = (SessionItem(rule("Quoting"), ALWAYS), GONE)
    expected = {item.ref: item.include_mode for item in items}
    for change, ref in changes:
        try:
            items = (with_added if change == "add" else with_removed)(items, ref, CATALOG)
        except ContextItemNotFound:
            assert ref not in expected
            assert ref in {OFF, GONE.ref}
            continue
        if change == "add":
            expected.setdefault(ref, MANUAL)
        else:
            expected.pop(ref, None)
        assert [(item.ref, item.include_mode) for item in items] == list(expected.items())
