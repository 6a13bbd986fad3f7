"""Always items of servers that list their tools after a session was made."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.model import IncludeMode, ItemRef, ItemType, NewSession, SessionItem
from proviso_service.turns import Session, with_late_items

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULE = SessionItem(ItemRef(ItemType.RULE, "Quoting"), IncludeMode.ALWAYS)


def a_tool(server: str, name: str = "find", mode: IncludeMode = IncludeMode.ALWAYS) -> SessionItem:
    return SessionItem(ItemRef(ItemType.TOOL, name, server), mode)


def a_session(*items: SessionItem, pending: tuple[str, ...] = ()) -> Session:
    return Session("s", items, None, NOW, NOW, pending_servers=pending)


def test_items_of_a_server_that_has_listed_them_join_and_its_name_is_taken_off() -> None:
    session = a_session(RULE, pending=("files", "time"))
    new = NewSession((RULE, a_tool("files"), a_tool("other")), ("time",))
    assert with_late_items(session, new) == a_session(RULE, a_tool("files"), pending=("time",))


def test_a_server_that_never_comes_up_stays_pending() -> None:
    session = a_session(RULE, pending=("files",))
    assert with_late_items(session, NewSession((RULE,), ("files",))) is session


def test_what_was_removed_or_is_new_in_the_catalog_does_not_come_back_with_them() -> None:
    session = a_session(pending=("files",))
    new = NewSession((RULE, a_tool("files"), a_tool("time")))
    assert with_late_items(session, new).items == (a_tool("files"),)


def test_an_item_that_a_person_has_added_meanwhile_keeps_its_mode() -> None:
    added = a_tool("files", mode=IncludeMode.MANUAL)
    session = a_session(added, pending=("files",))
    assert with_late_items(session, NewSession((a_tool("files"),))) == a_session(added)


def test_a_server_that_has_left_the_catalog_is_waited_for_no_more() -> None:
    assert with_late_items(a_session(RULE, pending=("gone",)), NewSession((RULE,))) == a_session(RULE)


_SERVERS = st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True).map(tuple)
_ITEMS = st.lists(st.builds(a_tool, st.sampled_from(["a", "b", "c", "d"]), st.sampled_from("xy")), unique=True)


@given(_ITEMS, _SERVERS, _ITEMS, _SERVERS)
def test_items_join_once_and_nothing_is_lost(
    held: list[SessionItem], pending: tuple[str, ...], always: list[SessionItem], still: tuple[str, ...]
) -> None:
    new = NewSession(tuple(item for item in always if item.ref.server_name not in still), still)
    session = a_session(*held, pending=pending)
    joined = with_late_items(session, new)
    assert joined.items[: len(held)] == tuple(held)
    assert len({item.ref for item in joined.items}) == len(joined.items)
    assert set(joined.pending_servers) == set(pending) & set(still)
    late = {item for item in new.items if item.ref.server_name in set(pending) - set(still)}
    assert set(joined.items) == set(held) | late
    assert with_late_items(joined, new) is joined
    assert replace(joined, items=session.items, pending_servers=pending) == session
