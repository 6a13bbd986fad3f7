"""The flow example of the context tracking design, word for word, and the semantics of its functions.

buildRequestContext: test_the_flow_example, test_an_agent_item_that_was_added_by_hand_is_manual_and_has_no_score,
    test_without_results_of_a_search_a_request_is_its_session; selection/test_request_items.py and, for every catalog,
    selection/test_request_properties_of_selection.py.
getAgentModeItems: test_candidates_are_enabled_agent_items_outside_the_session.
getToolEffectiveIncludeMode: catalog/test_effective_modes.py.
initializeAlwaysIncludeTools, and what it does for rules and references:
    test_a_new_session_holds_every_enabled_always_item_marked_always,
    test_tools_come_into_a_new_session_by_their_effective_mode.
addRule, addReference, addTool: test_adding_is_manual_by_default_and_happens_once_whatever_the_mode; that a tool has to
    exist: test_session_changes.py.
"""

from proviso_service.context.catalog.catalog import initial_items, tool_items
from proviso_service.context.catalog.items import ToolDefinition, ToolOverride, ToolPolicy
from proviso_service.context.model import IncludeMode, SessionItem, with_item, without_item
from proviso_service.context.selection.index import agent_candidates
from proviso_service.context.selection.request_items import HeldItems, build_request_items
from tests.support.selection_world import (
    BY_MEANING,
    ToldEmbedder,
    built,
    catalog_item,
    reference,
    rule,
    search_of,
    tool,
)

ALWAYS, MANUAL, AGENT = IncludeMode.ALWAYS, IncludeMode.MANUAL, IncludeMode.AGENT

CATALOG = (
    catalog_item(rule("A"), ALWAYS, description="rule A"),
    catalog_item(rule("B"), MANUAL, description="rule B"),
    catalog_item(rule("C"), AGENT, description="rule C"),
    catalog_item(reference("X"), ALWAYS, description="reference X"),
    catalog_item(reference("Y"), AGENT, description="reference Y"),
)
AUTHENTICATE, ERRORS = "How do I authenticate?", "What's the error handling?"


async def test_the_flow_example() -> None:
    session = initial_items(CATALOG)
    assert session == (SessionItem(rule("A"), ALWAYS), SessionItem(reference("X"), ALWAYS))

    session = with_item(session, rule("B"))
    assert session == (
        SessionItem(rule("A"), ALWAYS),
        SessionItem(reference("X"), ALWAYS),
        SessionItem(rule("B"), MANUAL),
    )

    embedder = ToldEmbedder(
        {}, {AUTHENTICATE: {"rule C": 0.92, "reference Y": 0.2}, ERRORS: {"rule C": 0.1, "reference Y": 0.87}}
    )
    search = search_of(embedder)
    first = await build_request_items(HeldItems.of(session, CATALOG), AUTHENTICATE, search, BY_MEANING)
    second = await build_request_items(HeldItems.of(session, CATALOG), ERRORS, search, BY_MEANING)

    of_session = [(rule("A"), ALWAYS, None), (reference("X"), ALWAYS, None), (rule("B"), MANUAL, None)]
    assert [(item.ref, item.include_mode, _rounded(item.similarity_score)) for item in first.items] == [
        *of_session,
        (rule("C"), AGENT, 0.92),
    ]
    assert [(item.ref, item.include_mode, _rounded(item.similarity_score)) for item in second.items] == [
        *of_session,
        (reference("Y"), AGENT, 0.87),
    ]


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 6)


def test_a_new_session_holds_every_enabled_always_item_marked_always() -> None:
    catalog = (
        catalog_item(rule("first"), ALWAYS),
        catalog_item(rule("off"), ALWAYS, enabled=False),
        catalog_item(tool("files", "read"), ALWAYS),
        catalog_item(tool("files", "write"), MANUAL),
        catalog_item(tool("mail", "read"), ALWAYS),
        catalog_item(reference("found"), AGENT),
    )
    assert initial_items(catalog) == (
        SessionItem(rule("first"), ALWAYS),
        SessionItem(tool("files", "read"), ALWAYS),
        SessionItem(tool("mail", "read"), ALWAYS),
    )


def test_tools_come_into_a_new_session_by_their_effective_mode() -> None:
    policy = ToolPolicy(AGENT, tools={"read": ToolOverride(ALWAYS), "write": ToolOverride(MANUAL)})
    definitions = [ToolDefinition(name, "", "{}") for name in ("read", "search", "write")]
    assert initial_items(tool_items("files", definitions, policy)) == (SessionItem(tool("files", "read"), ALWAYS),)
    by_default = initial_items(tool_items("files", definitions, ToolPolicy()))
    assert [item.ref for item in by_default] == [tool("files", name) for name in ("read", "search", "write")]


def test_adding_is_manual_by_default_and_happens_once_whatever_the_mode() -> None:
    session = with_item((), rule("A"), ALWAYS)
    assert with_item(session, rule("A"), MANUAL) == session
    assert with_item(session, reference("A")) == (*session, SessionItem(reference("A"), MANUAL))
    both = with_item(with_item((), tool("files", "read")), tool("mail", "read"))
    assert [item.ref for item in both] == [tool("files", "read"), tool("mail", "read")]


def test_removing_takes_away_always_items_too_and_nothing_else() -> None:
    session = with_item(with_item((), rule("A"), ALWAYS), reference("A"))
    assert without_item(session, rule("A")) == (SessionItem(reference("A"), MANUAL),)
    assert without_item(session, rule("unknown")) == session


def test_candidates_are_enabled_agent_items_outside_the_session() -> None:
    catalog = (
        catalog_item(rule("held")),
        catalog_item(rule("free")),
        catalog_item(rule("off"), enabled=False),
        catalog_item(rule("always"), ALWAYS),
        catalog_item(rule("manual"), MANUAL),
        catalog_item(tool("files", "read")),
        catalog_item(tool("mail", "read")),
    )
    session = (SessionItem(rule("held"), MANUAL), SessionItem(tool("files", "read"), MANUAL))
    assert [item.ref for item in agent_candidates(catalog, session)] == [rule("free"), tool("mail", "read")]


async def test_an_agent_item_that_was_added_by_hand_is_manual_and_has_no_score() -> None:
    request = await built(
        (SessionItem(rule("C"), MANUAL),), CATALOG, ToldEmbedder({"rule C": 0.99, "reference Y": 0.2})
    )
    assert [(item.ref, item.include_mode, item.similarity_score) for item in request.items] == [
        (rule("C"), MANUAL, None)
    ]


async def test_without_results_of_a_search_a_request_is_its_session() -> None:
    session = with_item(initial_items(CATALOG), rule("B"))
    request = await built(session, CATALOG, ToldEmbedder({}))
    assert [(item.ref, item.include_mode) for item in request.items] == [
        (item.ref, item.include_mode) for item in session
    ]


async def test_always_items_that_were_taken_out_of_the_session_do_not_come_back() -> None:
    request = await built((), CATALOG, ToldEmbedder({"rule A": 1.0, "reference X": 1.0}))
    assert request.items == ()
