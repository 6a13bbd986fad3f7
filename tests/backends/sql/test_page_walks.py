import base64
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proviso_service.backends.sql.matters import SqlMatterStore
from proviso_service.backends.sql.sessions import SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.model import NewSession
from proviso_service.errors import InvalidRequest
from proviso_service.identity import Caller
from proviso_service.matters.model import Document, Matter
from proviso_service.paging import Page, PageRequest, page_token
from proviso_service.turns import ChatMessage, Rating, TurnRequest
from tests.support.stored import Clock, a_document, an_outcome

ANNA = Caller("acme", "anna")
WALK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MINUTES = st.lists(st.integers(0, 3), max_size=9)
"""When each item was made: few minutes, so that many are equal."""


@WALK
@given(minutes=MINUTES, size=st.integers(1, 4), deleted=st.sets(st.integers(0, 8)))
async def test_a_walk_through_matters_meets_each_once_in_order_while_others_go_and_come(
    matters: SqlMatterStore, clock: Clock, minutes: list[int], size: int, deleted: set[int]
) -> None:
    tenant, start = uuid4().hex, clock.time
    made: list[Matter] = []
    for minute in minutes:
        clock.time = start + timedelta(minutes=minute)
        made.append(await matters.create_matter(tenant, "Walk"))
    clock.time = start + timedelta(hours=1)
    seen: list[Matter] = []
    page = await matters.list_matters(tenant, PageRequest(size))
    seen.extend(page.items)
    for i in deleted & set(range(len(made))):
        await matters.delete_matter(tenant, made[i].matter_id)
    await matters.create_matter(tenant, "Newer than all")
    while page.next_token:
        page = await matters.list_matters(tenant, PageRequest(size, page.next_token))
        assert 0 < len(page.items) <= size or not page.next_token
        seen.extend(page.items)
    wanted = sorted(made, key=lambda matter: (matter.create_time, matter.matter_id), reverse=True)
    gone = {made[i].matter_id for i in deleted if i < len(made)}
    assert seen == wanted[:size] + [matter for matter in wanted[size:] if matter.matter_id not in gone]


@WALK
@given(minutes=MINUTES, size=st.integers(1, 4))
async def test_a_walk_through_documents_meets_each_once_in_order(
    matters: SqlMatterStore, matter: Matter, clock: Clock, minutes: list[int], size: int
) -> None:
    matter = await matters.create_matter("acme", "Walk")
    for minute in minutes:
        await matters.add_document(a_document(matter, uploaded=clock.time + timedelta(minutes=minute)))
    seen: list[Document] = []
    token = ""
    while True:
        page = await matters.list_documents("acme", matter.matter_id, PageRequest(size, token))
        seen.extend(page.items)
        token = page.next_token
        if not token:
            break
    assert seen == await matters.all_documents("acme", matter.matter_id)
    assert len(seen) == len(minutes)


async def test_a_walk_through_sessions_goes_on_when_its_last_session_is_deleted(
    sessions: SqlSessionStore, clock: Clock
) -> None:
    for i in range(5):
        await sessions.create(ANNA, f"s-{i}", NewSession())
        clock.advance(1)
    first = await sessions.list(ANNA, PageRequest(2))
    await sessions.delete(ANNA, first.items[-1].session_id)
    rest = await sessions.list(ANNA, PageRequest(10, first.next_token))
    assert [session.session_id for session in [*first.items, *rest.items]] == ["s-4", "s-3", "s-2", "s-1", "s-0"]


async def test_a_walk_through_messages_meets_those_that_come_meanwhile(
    sessions: SqlSessionStore, turns: SqlTurnStore
) -> None:
    seen: list[ChatMessage] = []
    token = ""
    for i in range(4):
        await turns.begin(ANNA, f"t-{i}", TurnRequest("?", session_id="s"), "hash", "me", 60)
        await turns.finish(ANNA, f"t-{i}", "s", 1, an_outcome("Done.", f"question {i}", f"answer {i}"), "me")
        page = await sessions.messages(ANNA, "s", PageRequest(1, token))
        token = page.next_token
        seen += page.items
    page = await sessions.messages(ANNA, "s", PageRequest(100, token))
    assert page.next_token == ""
    contents = [message.content for message in [*seen, *page.items]]
    assert contents == [text for i in range(4) for text in (f"question {i}", f"answer {i}")]


async def test_a_token_fits_its_field_whatever_the_ids_are(sessions: SqlSessionStore, turns: SqlTurnStore) -> None:
    caller, session_id = Caller("😀" * 128, "😀" * 128), "😀" * 128
    await sessions.create(caller, "another", NewSession())
    await turns.begin(caller, "t", TurnRequest("?", session_id=session_id), "hash", "me", 60)
    await turns.finish(caller, "t", session_id, 1, an_outcome("Done.", "Hello", "Good day"), "me")
    for page in (
        await sessions.list(caller, PageRequest(1)),
        await sessions.messages(caller, session_id, PageRequest(1)),
    ):
        assert 0 < len(page.next_token) <= 512


Lister = Callable[[PageRequest], Awaitable[Page[Any]]]


@pytest.fixture
async def lists(matters: SqlMatterStore, sessions: SqlSessionStore, matter: Matter) -> dict[str, Lister]:
    """Every list that has pages, and for each some lists of the same kind with another scope."""
    await sessions.create(ANNA, "s", NewSession())
    await sessions.create(ANNA, "t", NewSession())
    other = await matters.create_matter("acme", "Another")
    return {
        "matters": lambda page: matters.list_matters("acme", page),
        "matters of a name": lambda page: matters.list_matters("acme", page, "Another"),
        "matters of a tenant": lambda page: matters.list_matters("other", page),
        "documents": lambda page: matters.list_documents("acme", matter.matter_id, page),
        "documents of another matter": lambda page: matters.list_documents("acme", other.matter_id, page),
        "sessions": lambda page: sessions.list(ANNA, page),
        "sessions of a user": lambda page: sessions.list(Caller("acme", "ben"), page),
        "messages": lambda page: sessions.messages(ANNA, "s", page),
        "messages of another session": lambda page: sessions.messages(ANNA, "t", page),
        "ratings": lambda page: sessions.ratings("acme", page),
        "ratings of a kind": lambda page: sessions.ratings("acme", page, Rating.UP),
    }


async def test_the_token_of_another_list_is_refused(lists: dict[str, Lister]) -> None:
    token = (await lists["matters"](PageRequest(1))).next_token
    assert token
    await lists["matters"](PageRequest(1, token))
    for name, listed in lists.items():
        if name != "matters":
            with pytest.raises(InvalidRequest):
                await listed(PageRequest(1, token))


SCOPE = ("matters", "acme", "")


@pytest.mark.parametrize(
    "token",
    [
        "not a token",
        "e30=",
        page_token(["one"]),
        page_token(["a"], "b", "c"),
        page_token(SCOPE, "2026-01-01T00:00:00+00:00"),
        page_token(SCOPE, "yesterday", "id"),
        page_token(SCOPE, "0001-01-01T00:00:00+23:59", "id"),
        page_token(SCOPE, "2026-01-01T00:00:00+00:00", "\ud800"),
        page_token(SCOPE, "2026-01-01T00:00:00+00:00", "id", "more"),
        page_token(("messages", "acme", ""), "1"),
    ],
)
async def test_a_token_nobody_returned_is_refused(lists: dict[str, Lister], token: str) -> None:
    for listed in lists.values():
        with pytest.raises(InvalidRequest, match="page_token"):
            await listed(PageRequest(10, token))


@pytest.mark.parametrize("position", ["-1", "1.5", "²", "9" * 30, "", "one"])
async def test_a_forged_position_is_refused(sessions: SqlSessionStore, turns: SqlTurnStore, position: str) -> None:
    await turns.begin(ANNA, "t", TurnRequest("?", session_id="s"), "hash", "me", 60)
    await turns.finish(ANNA, "t", "s", 1, an_outcome("Done.", "Hello", "Good day"), "me")
    honest = (await sessions.messages(ANNA, "s", PageRequest(1))).next_token
    tag, _ = json.loads(base64.urlsafe_b64decode(honest))
    forged = base64.urlsafe_b64encode(json.dumps([tag, position]).encode()).decode()
    with pytest.raises(InvalidRequest, match="page_token"):
        await sessions.messages(ANNA, "s", PageRequest(1, forged))
