"""Marks on what is handed out of sessions and answers."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog
from proviso_service.context.model import (
    ApprovedTool,
    ContextFill,
    IncludeMode,
    ItemRef,
    RequestContext,
    RequestItem,
    SessionItem,
)
from proviso_service.turns import (
    ChatMessage,
    ExitReason,
    FinalState,
    MessageRole,
    Retryable,
    Session,
    mark_in_session,
    mark_missing_in_message,
    mark_missing_in_state,
)
from tests.support.catalogs import a_catalog, an_item
from tests.support.selection_world import rule, tool

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MANUAL = IncludeMode.MANUAL
HERE, GONE, BACK = rule("Here"), rule("Gone"), rule("Back")
CATALOG = a_catalog(an_item(HERE), an_item(BACK))
CONTEXT = RequestContext(
    (
        RequestItem(HERE, MANUAL),
        RequestItem(GONE, IncludeMode.AGENT, 0.9, "hash", cited=True),
        RequestItem(BACK, MANUAL, missing=True, note="it had left the catalog"),
    ),
    (),
    None,
    (),
    ContextFill(1, 2),
    NOW,
)
ANSWER = ChatMessage(MessageRole.ASSISTANT, "Yes.", CONTEXT)


def marks(context: RequestContext | None) -> dict[ItemRef, bool]:
    assert context
    return {item.ref: item.missing for item in context.items}


def test_a_sessions_items_stay_and_those_that_left_are_marked() -> None:
    items = (SessionItem(HERE, MANUAL), SessionItem(GONE, MANUAL), SessionItem(BACK, MANUAL, missing=True))
    session = Session("s", items, None, NOW, NOW, "turn", 4)
    marked = mark_in_session(session, CATALOG)
    assert [item.missing for item in marked.items] == [False, True, False]
    assert replace(marked, items=items) == session


def test_only_approvals_of_tools_that_are_what_was_approved_are_shown() -> None:
    search, gone = tool("mail", "search"), tool("mail", "gone")
    catalog = a_catalog(an_item(search))
    here = ApprovedTool.of(search, catalog.tool_sha256(search))
    others = [replace(here, sha256="another"), replace(here, sha256=""), ApprovedTool.of(gone, "")]
    session = Session("s", (), None, NOW, NOW, approved_tools=(*others, here))
    assert mark_in_session(session, catalog).approved_tools == (here,)


def test_the_items_of_answers_are_marked_and_nothing_else_of_them_changes() -> None:
    expected = {HERE: False, GONE: True, BACK: False}
    message = mark_missing_in_message(ANSWER, CATALOG)
    assert marks(message.request_context) == expected
    assert replace(message, request_context=CONTEXT) == ANSWER
    assert message.request_context
    here, gone, back = message.request_context.items
    assert here.is_given
    assert (gone.similarity_score, gone.content_sha256, gone.cited) == (0.9, "hash", True)
    assert not back.is_given, "the model was not given it then"

    question = ChatMessage(MessageRole.USER, "Is it?")
    final = FinalState(
        ExitReason.COMPLETED,
        Retryable.NOT_APPLICABLE,
        display_message=True,
        message="Yes.",
        messages=(question, ANSWER),
    )
    state = mark_missing_in_state(replace(final, request_context=CONTEXT), CATALOG)
    assert marks(state.request_context) == expected
    assert [message.request_context and marks(message.request_context) for message in state.messages] == [
        None,
        expected,
    ]
    assert mark_missing_in_state(final, CATALOG).request_context is None


@pytest.mark.parametrize(
    ("server", "listed", "missing"),
    [
        ("time", (), False),  # it may be starting
        ("time", ("other",), True),
        ("time", ("wanted",), False),
        ("off", (), True),
        ("unknown", (), True),
        ("proviso", (), True),
    ],
)
def test_a_tool_is_missing_only_where_its_server_has_listed_its_tools(
    server: str, listed: tuple[str, ...], missing: bool
) -> None:
    items = [an_item(tool(server, name)) for name in listed]
    catalog = Catalog(AgentDefinition("Test", ""), items, () if listed else ("time",))
    assert catalog.is_missing(tool(server, "wanted")) is missing
