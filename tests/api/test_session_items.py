"""Adding items to sessions and removing them, over a real channel, with the SQL store."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import catalog_pb2, chat_pb2, context_pb2
from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from proviso_service.context.catalog.catalog import Catalog, CatalogHolder
from proviso_service.context.model import ContextFill, IncludeMode, ItemRef, RequestContext, RequestItem
from proviso_service.turns import ChatMessage, MessageRole, TurnOutcome
from tests.api.serving import conversations, refusal, served
from tests.support.catalogs import a_catalog, an_item, holding
from tests.support.selection_world import reference, rule, tool
from tests.turns.scripted import Gated, Program, ScriptedExecution, completed

RULE, REFERENCE, TOOL = (
    context_pb2.CONTEXT_ITEM_TYPE_RULE,
    context_pb2.CONTEXT_ITEM_TYPE_REFERENCE,
    context_pb2.CONTEXT_ITEM_TYPE_TOOL,
)
ALWAYS, MANUAL = context_pb2.INCLUDE_MODE_ALWAYS, context_pb2.INCLUDE_MODE_MANUAL
QUOTING, FEES, SEARCH = rule("Quoting"), reference("Fees"), tool("proviso", "isaacus_search")
ITEMS = (
    an_item(QUOTING),
    an_item(FEES, IncludeMode.AGENT),
    an_item(SEARCH, IncludeMode.MANUAL),
    an_item(rule("Off"), enabled=False),
)
TYPES = {QUOTING.type: RULE, FEES.type: REFERENCE, SEARCH.type: TOOL}


def named(ref: ItemRef) -> context_pb2.ContextItemRef:
    return context_pb2.ContextItemRef(type=TYPES[ref.type], name=ref.name, server_name=ref.server_name)


def item_request(ref: ItemRef) -> catalog_pb2.GetContextItemRequest:
    return catalog_pb2.GetContextItemRequest(item=named(ref))


def add(ref: ItemRef, session_id: str = "s1", user_id: str = "") -> pb.AddContextItemRequest:
    return pb.AddContextItemRequest(session_id=session_id, user_id=user_id, item=named(ref))


def remove(ref: ItemRef, session_id: str = "s1", user_id: str = "") -> pb.RemoveContextItemRequest:
    return pb.RemoveContextItemRequest(session_id=session_id, user_id=user_id, item=named(ref))


def held(session: pb.Session) -> dict[str, int]:
    """Include modes by name, in order."""
    return {item.item.name: item.include_mode for item in session.items}


def missing(items: object) -> list[str]:
    return [getattr(item, "name", "") or item.item.name for item in items if item.missing]  # type: ignore[attr-defined]


def shrinking(*kept: ItemRef) -> CatalogHolder:
    """A catalog of all items; a reload leaves these."""

    async def load() -> Catalog:
        return a_catalog(*(item for item in ITEMS if item.ref in kept))

    return CatalogHolder(load, a_catalog(*ITEMS))


async def test_items_are_added_and_removed_whatever_their_mode(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(*ITEMS)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        made = await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        assert held(made.session) == {"Quoting": ALWAYS}
        for _ in range(2):
            await sessions.AddContextItem(add(FEES))
            added = await sessions.AddContextItem(add(SEARCH))
            assert held(added.session) == {"Quoting": ALWAYS, "Fees": MANUAL, "isaacus_search": MANUAL}
        kept = await sessions.AddContextItem(add(QUOTING))
        assert held(kept.session)["Quoting"] == ALWAYS
        for _ in range(2):
            removed = await sessions.RemoveContextItem(remove(QUOTING))
            assert held(removed.session) == {"Fees": MANUAL, "isaacus_search": MANUAL}
        back = await sessions.AddContextItem(add(QUOTING))
        assert held(back.session) == {"Fees": MANUAL, "isaacus_search": MANUAL, "Quoting": MANUAL}
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1"))
    assert found.session == back.session
    assert found.session.update_time.ToDatetime() > made.session.update_time.ToDatetime()


async def test_a_locked_item_is_in_every_session_and_cannot_be_removed(tmp_path: Path) -> None:
    is_locked = False

    async def load() -> Catalog:
        return a_catalog(*(replace(item, locked=is_locked and item.ref == QUOTING) for item in ITEMS))

    catalog = CatalogHolder(load, await load())
    async with conversations(tmp_path, catalog=catalog) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        await sessions.RemoveContextItem(remove(QUOTING))
        is_locked = True
        await CatalogServiceStub(server.channel).ReloadCatalog(catalog_pb2.ReloadCatalogRequest())
        found = (await sessions.GetSession(pb.GetSessionRequest(session_id="s1"))).session
        assert [(item.item.name, item.locked) for item in found.items] == [("Quoting", True)]
        kept = await refusal(sessions.RemoveContextItem(remove(QUOTING)))
        item = (await CatalogServiceStub(server.channel).GetContextItem(item_request(QUOTING))).item
    assert (kept.code, kept.message) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "The rule 'Quoting' is locked: it is in every session",
    )
    assert (item.locked, item.include_mode) == (True, ALWAYS)


async def test_unknown_items_are_named_with_near_matches_and_disabled_ones_say_so(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(*ITEMS)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        unknown = [
            await refusal(sessions.AddContextItem(add(rule("Quotation")))),
            await refusal(sessions.RemoveContextItem(remove(rule("Quotation")))),
        ]
        disabled = await refusal(sessions.AddContextItem(add(rule("Off"))))
    for refused in unknown:
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "CONTEXT_ITEM_NOT_FOUND")
        assert refused.message == "The catalog has no rule 'Quotation'; did you mean rule 'Quoting'?"
        assert refused.details["ErrorInfo"].metadata["near_matches"] == "rule 'Quoting'"
    assert (disabled.code, disabled.reason) == (grpc.StatusCode.NOT_FOUND, "CONTEXT_ITEM_NOT_FOUND")
    assert disabled.message == (
        "The rule 'Off' is disabled in the agent's catalog; it can be added once it is enabled there"
    )


async def test_unknown_sessions_and_those_of_others_are_not_changed(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(*ITEMS)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1", user_id="ann"))
        calls = (
            sessions.AddContextItem(add(FEES, "unknown", "ann")),
            sessions.RemoveContextItem(remove(QUOTING, "unknown", "ann")),
            sessions.AddContextItem(add(FEES, "s1", "ben")),
            sessions.RemoveContextItem(remove(QUOTING, "s1", "ben")),
        )
        refused = [await refusal(call) for call in calls]
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1", user_id="ann"))
    assert {(r.code, r.reason) for r in refused} == {(grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND")}
    assert held(found.session) == {"Quoting": ALWAYS}


OF_TOOLS_ONLY = "must be empty: only tools have a server"
NO_SERVER = "must name the tool's server, proviso for the service's own tools"


@pytest.mark.parametrize(
    ("item", "violations"),
    [
        (context_pb2.ContextItemRef(type=RULE, name="Quoting", server_name="proviso"), {"server_name": OF_TOOLS_ONLY}),
        (context_pb2.ContextItemRef(type=REFERENCE, name="Fees", server_name="x"), {"server_name": OF_TOOLS_ONLY}),
        (context_pb2.ContextItemRef(type=TOOL, name="isaacus_search"), {"server_name": NO_SERVER}),
        (
            context_pb2.ContextItemRef(name="", server_name="s" * 129),
            {
                "type": "is not a known value",
                "name": "must not be empty",
                "server_name": "must have at most 128 characters",
            },
        ),
    ],
)
async def test_malformed_items_are_refused_with_the_fields_path(
    tmp_path: Path, item: context_pb2.ContextItemRef, violations: dict[str, str]
) -> None:
    async with conversations(tmp_path, catalog=holding(*ITEMS)) as domain, served(domain) as server:
        sessions, catalog = SessionServiceStub(server.channel), CatalogServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        refused = [
            await refusal(sessions.AddContextItem(pb.AddContextItemRequest(session_id="s1", item=item))),
            await refusal(sessions.RemoveContextItem(pb.RemoveContextItemRequest(session_id="s1", item=item))),
            await refusal(catalog.GetContextItem(catalog_pb2.GetContextItemRequest(item=item))),
        ]
        absent = await refusal(sessions.AddContextItem(pb.AddContextItemRequest(session_id="s1")))
    for one in refused:
        assert one.code is grpc.StatusCode.INVALID_ARGUMENT
        assert one.violations == {f"item.{field}": description for field, description in violations.items()}
    assert absent.violations == {"item": "must be set"}


async def test_of_changes_that_are_made_at_once_none_is_lost(tmp_path: Path) -> None:
    many = [an_item(rule(f"Rule {number}"), IncludeMode.MANUAL) for number in range(40)]
    async with conversations(tmp_path, catalog=holding(*ITEMS, *many)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        await asyncio.gather(*(sessions.AddContextItem(add(item.ref)) for item in many[:20]))
        await asyncio.gather(
            *(sessions.AddContextItem(add(item.ref)) for item in many[20:]),
            *(sessions.RemoveContextItem(remove(item.ref)) for item in many[:20]),
        )
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1"))
    assert held(found.session).keys() == {"Quoting", *(item.ref.name for item in many[20:])}


async def test_items_can_be_changed_while_a_turn_runs_and_its_end_keeps_them(tmp_path: Path) -> None:
    program = Gated()
    async with conversations(tmp_path, program, catalog=holding(*ITEMS)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        call = ChatServiceStub(server.channel).Chat(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        first = await anext(aiter(call))
        added = await sessions.AddContextItem(add(FEES))
        await sessions.RemoveContextItem(remove(QUOTING))
        program.gate.set()
        async for _ in call:
            pass
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1"))
    assert added.session.running_turn_id == first.turn_id
    assert held(found.session) == {"Fees": MANUAL}


async def test_what_left_the_catalog_stays_is_marked_and_can_be_removed(tmp_path: Path) -> None:
    holder = shrinking(FEES)
    async with conversations(tmp_path, catalog=holder) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        made = await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        before = await sessions.AddContextItem(add(SEARCH))
        assert (missing(made.session.items), missing(before.session.items)) == ([], [])
        await holder.reload()
        found = await sessions.GetSession(pb.GetSessionRequest(session_id="s1"))
        listed = await sessions.ListSessions(pb.ListSessionsRequest())
        added = await sessions.AddContextItem(add(FEES))
        removed = await sessions.RemoveContextItem(remove(QUOTING))
        again = await refusal(sessions.RemoveContextItem(remove(QUOTING)))
    assert missing(found.session.items) == ["Quoting", "isaacus_search"]
    assert listed.sessions[0] == found.session
    assert (held(added.session)["Fees"], missing(added.session.items)) == (MANUAL, ["Quoting", "isaacus_search"])
    assert (list(held(removed.session)), missing(removed.session.items)) == (
        ["isaacus_search", "Fees"],
        ["isaacus_search"],
    )
    assert again.reason == "CONTEXT_ITEM_NOT_FOUND", "neither the session nor the catalog has it"


async def test_items_outlive_the_service_and_the_catalog_that_they_came_from(tmp_path: Path) -> None:
    async with conversations(tmp_path, catalog=holding(*ITEMS)) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(pb.CreateSessionRequest(session_id="s1"))
        await sessions.AddContextItem(add(FEES))
    async with conversations(tmp_path, catalog=holding(ITEMS[1])) as domain, served(domain) as server:
        found = await SessionServiceStub(server.channel).GetSession(pb.GetSessionRequest(session_id="s1"))
    assert held(found.session) == {"Quoting": ALWAYS, "Fees": MANUAL}
    assert missing(found.session.items) == ["Quoting"]


async def test_the_items_of_earlier_answers_are_marked_wherever_they_are_read_later(tmp_path: Path) -> None:
    used = tuple(RequestItem(item.ref, IncludeMode.ALWAYS, content_sha256=item.content_sha256) for item in ITEMS[:2])
    context = RequestContext(used, (), None, (), ContextFill(0, 1), datetime(2026, 1, 2, tzinfo=UTC))

    async def script(execution: ScriptedExecution) -> TurnOutcome:
        answer = ChatMessage(MessageRole.ASSISTANT, "Yes.", context)
        final = replace(completed().final_state, request_context=context, messages=(answer,))
        return TurnOutcome(final, new_messages=(answer,))

    holder = shrinking(FEES)
    async with conversations(tmp_path, Program(script), catalog=holder) as domain, served(domain) as server:
        sessions, chat = SessionServiceStub(server.channel), ChatServiceStub(server.channel)
        turn = await chat.Invoke(chat_pb2.ChatRequest(message="Hello", session_id="s1"))
        assert missing(turn.final_state.request_context.items) == []
        await holder.reload()
        listed = await sessions.ListMessages(pb.ListMessagesRequest(session_id="s1"))
        found = await chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn.turn_id))
    (message,) = listed.messages
    contexts = (
        message.request_context,
        found.final_state.request_context,
        found.final_state.messages[0].request_context,
    )
    assert [missing(one.items) for one in contexts] == [["Quoting"]] * 3
    assert [item.content_sha256 for item in message.request_context.items] == [item.content_sha256 for item in used]
