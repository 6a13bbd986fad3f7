"""For every catalog, session and conversation: a request context holds all of its session and no item twice, what the
agent chose was not in the session, and the payload rebuilt from what is stored is the one that was sent."""

import asyncio
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from proviso_service.agent.rebuilding import RebuiltRequest
from proviso_service.context.catalog.items import CatalogItem, EffectiveMode, IncludeModeSource
from proviso_service.context.model import (
    DocumentSummary,
    IncludeMode,
    ItemRef,
    ItemType,
    NewSession,
    RequestContext,
    SessionItem,
)
from tests.support.agent_world import CALLER, LOOKUP
from tests.support.request_world import RequestWorld, request_world

SUBJECTS = st.lists(st.sampled_from(["cap", "liability", "court", "notice", "rent", "[CONTEXT]", "\u6cd5"]), max_size=6)
TEXTS = SUBJECTS.map(" ".join)
REFS = st.builds(
    ItemRef, st.sampled_from([ItemType.RULE, ItemType.REFERENCE]), st.sampled_from(["Cap", "Court", "Rent", "\u6cd5"])
) | st.just(ItemRef(ItemType.TOOL, "elsewhere", "another"))


def catalog_item(ref: ItemRef, mode: IncludeMode, described: str, content: str, priority: int, on: bool) -> CatalogItem:
    shown = json.dumps({"name": f"another__{ref.name}", "description": described, "parameters": {}})
    effective = EffectiveMode(mode, IncludeModeSource.ITEM)
    content = shown if ref.type is ItemType.TOOL else content
    return CatalogItem.of(ref, described, content, effective, priority=priority, enabled=on)


ITEMS = st.builds(
    catalog_item,
    REFS,
    st.sampled_from([*IncludeMode, IncludeMode.AGENT]),
    TEXTS,
    TEXTS,
    st.integers(-2, 2),
    st.sampled_from([True, True, True, False]),
)
CATALOGS = st.lists(ITEMS, max_size=9, unique_by=lambda item: item.ref)
SESSION_ITEMS = st.builds(
    SessionItem, REFS | st.just(LOOKUP), st.sampled_from([IncludeMode.ALWAYS, IncludeMode.MANUAL])
)
SESSIONS = st.none() | st.lists(SESSION_ITEMS, max_size=5, unique_by=lambda item: item.ref).map(tuple)
DOCUMENTS = st.lists(st.builds(DocumentSummary, st.sampled_from(["a.md", "b.pdf"]), st.just("md"), TEXTS), max_size=3)
MESSAGES = st.lists(st.tuples(TEXTS.map("Say {}".format), DOCUMENTS.map(tuple)), min_size=1, max_size=3)


@settings(max_examples=25)
@given(CATALOGS, SESSIONS, MESSAGES)
def test_what_is_recorded_is_what_was_sent_and_can_be_sent_again(
    catalog: list[CatalogItem],
    session: tuple[SessionItem, ...] | None,
    messages: list[tuple[str, tuple[DocumentSummary, ...]]],
) -> None:
    asyncio.run(played(catalog, session, messages))


async def played(
    catalog: list[CatalogItem],
    session: tuple[SessionItem, ...] | None,
    messages: list[tuple[str, tuple[DocumentSummary, ...]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with request_world(Path(folder), catalog) as world:
            if session is not None:
                await world.sessions.create(CALLER, "s", NewSession(session))
            for message, documents in messages:
                context = await world.context_of(message, session_id="s", document_context=documents)
                assert_context(context, (await world.sessions.get(CALLER, "s")).items, catalog)
            for call, turn_id in enumerate(world.turn_ids):
                assert_same(await world.rebuilt(turn_id=turn_id), world, call)


def assert_context(context: RequestContext, held: tuple[SessionItem, ...], catalog: list[CatalogItem]) -> None:
    refs = [item.ref for item in context.items]
    in_session = {item.ref: item.include_mode for item in held}
    assert len(set(refs)) == len(refs)
    assert in_session.keys() <= set(refs)
    modes = {item.ref: item.include_mode for item in catalog}
    for item in context.items:
        if item.ref in in_session:
            assert (item.include_mode, item.similarity_score) == (in_session[item.ref], None)
        else:
            assert item.include_mode is modes[item.ref] is IncludeMode.AGENT
            assert item.similarity_score is not None


def assert_same(rebuilt: RebuiltRequest, world: RequestWorld, call: int) -> None:
    assert rebuilt.matches
    assert not rebuilt.differences
    payload, model = json.loads(rebuilt.payload_json), world.agent.model
    assert [payload["system"], *(m["content"] for m in payload["messages"])] == [
        m.content for m in model.payloads[call]
    ]
    assert [tool["name"] for tool in payload["tools"]] == model.tools_seen[call]
