"""Request contexts as people read them; layouts of the context tracking design."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_client.display import (
    NO_CONTEXT,
    NO_ITEMS,
    citation_text,
    context_text,
    details_text,
    enum_name,
    summary_line,
)
from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_client.v1 import context_pb2 as pb

RULE, REFERENCE, TOOL = pb.CONTEXT_ITEM_TYPE_RULE, pb.CONTEXT_ITEM_TYPE_REFERENCE, pb.CONTEXT_ITEM_TYPE_TOOL
ALWAYS, MANUAL, AGENT = pb.INCLUDE_MODE_ALWAYS, pb.INCLUDE_MODE_MANUAL, pb.INCLUDE_MODE_AGENT


def item(
    kind: "pb.ContextItemType", name: str, mode: "pb.IncludeMode", score: float | None = None, **more: Any
) -> pb.RequestContextItem:
    return pb.RequestContextItem(type=kind, name=name, include_mode=mode, similarity_score=score, **more)


DESIGN = pb.RequestContext(
    items=[
        item(RULE, "Authentication Rules", ALWAYS),
        item(REFERENCE, "API Documentation", ALWAYS),
        item(TOOL, "read_file", MANUAL, server_name="filesystem"),
        item(RULE, "Error Handling", MANUAL),
        item(RULE, "File Operations", AGENT, 0.87),
        item(REFERENCE, "Database Schema", AGENT, 0.92),
        item(TOOL, "query", AGENT, 0.85, server_name="database"),
    ]
)


def test_the_message_details_are_those_of_the_design() -> None:
    assert (
        context_text(DESIGN)
        == """\
Context Used:
Rules (3):
  • Authentication Rules [Always]
  • Error Handling [Manual]
  • File Operations [Agent - 0.87]

References (2):
  • API Documentation [Always]
  • Database Schema [Agent - 0.92]

Tools (2):
  • filesystem:read_file [Manual]
  • database:query [Agent - 0.85]"""
    )


def several(kind: "pb.ContextItemType", *modes: "pb.IncludeMode") -> list[pb.RequestContextItem]:
    return [item(kind, str(number), mode) for number, mode in enumerate(modes)]


def test_the_selection_summary_is_that_of_the_design() -> None:
    items = [
        *several(TOOL, MANUAL, MANUAL, MANUAL),
        *several(REFERENCE, MANUAL, AGENT),
        *several(RULE, ALWAYS, AGENT, AGENT, ALWAYS, AGENT),
    ]
    assert (
        summary_line(pb.RequestContext(items=items))
        == "5 rules (3 agent, 2 always), 2 references (1 agent, 1 manual), 3 tools (all manual)"
    )


@pytest.mark.parametrize(
    ("items", "line"),
    [
        (several(RULE, ALWAYS), "1 rule (always)"),
        (several(TOOL, AGENT, AGENT), "2 tools (all agent)"),
        (several(REFERENCE, MANUAL, ALWAYS, AGENT), "3 references (1 agent, 1 always, 1 manual)"),
        ([], NO_ITEMS),
    ],
)
def test_the_summary_of_few_items(items: list[pb.RequestContextItem], line: str) -> None:
    assert summary_line(pb.RequestContext(items=items)) == line


def test_a_message_without_a_context_says_so() -> None:
    assert context_text(None) == summary_line(None) == NO_CONTEXT == "No context data available"
    assert details_text(None) == ""


def test_a_context_without_items_is_another_thing() -> None:
    assert context_text(pb.RequestContext()) == "Context Used:\nNo context items"
    assert details_text(pb.RequestContext()) == ""


def test_groups_without_items_are_left_out() -> None:
    assert context_text(pb.RequestContext(items=several(TOOL, ALWAYS))).count("(") == 1


def test_items_that_the_model_was_not_given_say_why() -> None:
    context = pb.RequestContext(
        items=[
            item(REFERENCE, "Old", MANUAL, missing=True),
            item(REFERENCE, "Long", AGENT, 0.5, note="over the\nbudget"),
        ]
    )
    assert context_text(context).splitlines()[2:] == [
        "  • Old [Manual] (no longer in the catalog)",
        "  • Long [Agent - 0.50] (not given: over the budget)",
    ]


def test_details_tell_the_rest() -> None:
    context = pb.RequestContext(
        items=[item(TOOL, "isaacus_search", ALWAYS, server_name="proviso", cited=True), item(RULE, "Plain", ALWAYS)],
        omitted=[
            pb.OmittedContextItem(
                item=pb.ContextItemRef(type=RULE, name="Court filings"),
                reason=pb.OMISSION_REASON_BELOW_THRESHOLD,
                score=0.309,
            ),
            pb.OmittedContextItem(
                item=pb.ContextItemRef(type=TOOL, name="now", server_name="time"), reason=pb.OMISSION_REASON_DISABLED
            ),
        ],
        assets=[
            pb.AssetUse(kind=pb.ASSET_KIND_DOCUMENT, name="api.md", included=True),
            pb.AssetUse(kind=pb.ASSET_KIND_IMAGE, name="https://a.test/b.png", note="its server does not have it"),
        ],
        matter_context=pb.MatterContext(matter_id="m", matter_name="Smith v. Jones", document_id="d"),
        fill=pb.ContextFill(
            characters_used=1234,
            characters_limit=12_000,
            tokens_used=400,
            item_characters=3000,
            item_characters_limit=20_000,
            item_tokens=750,
            item_tokens_limit=6_000,
            near_limit=True,
        ),
    )
    assert (
        details_text(context)
        == """\
Used by the answer (1):
  • proviso:isaacus_search

Left out (2):
  • Court filings [Rule - 0.31] not similar enough to the message
  • time:now [Tool] disabled in the catalog

Documents and images (2):
  • api.md [Document]
  • https://a.test/b.png [Image] not given: its server does not have it

Matter:
  • Smith v. Jones
  • d

Room:
  • Conversation: 1,234 of 12,000 characters
  • Conversation: 400 tokens
  • Items: 3,000 of 20,000 characters
  • Items: 750 of 6,000 tokens, estimated
  • Nearly all of it is taken"""
    )


def test_every_value_of_the_contract_has_words() -> None:
    reasons = pb.OmissionReason.keys()[1:]
    context = pb.RequestContext(omitted=[pb.OmittedContextItem(reason=reason) for reason in reasons])
    lines = details_text(context).splitlines()[1:]
    assert len({line for line in lines if not line.endswith("left out")}) == len(reasons)


DOCUMENT, TOOL_CALL = chat_pb2.CITATION_KIND_DOCUMENT, chat_pb2.CITATION_KIND_TOOL_CALL


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"number": 1, "filename": "lease.md", "heading": "4. Rent", "page": 2}, "[1] lease.md, 4. Rent, page 2"),
        ({"number": 1, "kind": DOCUMENT, "filename": "lease\n.md"}, "[1] lease .md"),
        ({"number": 2, "kind": TOOL_CALL, "name": "get_time", "server_name": "time"}, "[2] time:get_time"),
        ({"number": 2, "kind": TOOL_CALL, "name": "time__get_time", "server_name": "time"}, "[2] time:get_time"),
        ({"number": 3, "kind": TOOL_CALL, "name": "list_matter_documents"}, "[3] list_matter_documents"),
        ({"kind": chat_pb2.CITATION_KIND_REFERENCE, "name": "House style"}, "• Reference House style"),
        (
            {"kind": chat_pb2.CITATION_KIND_ASSET, "filename": "https://a.example/plan.png"},
            "• https://a.example/plan.png",
        ),
        ({"number": 4, "kind": 99, "filename": "later.md"}, "[4] later.md"),
    ],
)
def test_a_citation_names_its_source_whatever_that_is(fields: dict[str, Any], text: str) -> None:
    assert citation_text(chat_pb2.Citation(**fields)) == text


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
items_of_any_kind = st.builds(
    pb.RequestContextItem,
    type=st.sampled_from([RULE, REFERENCE, TOOL]),
    name=words,
    server_name=words,
    include_mode=st.sampled_from(pb.IncludeMode.values()),
    similarity_score=st.none() | st.floats(0, 1),
    missing=st.booleans(),
    note=words,
)


@given(st.lists(items_of_any_kind, max_size=8))
def test_each_item_is_one_line_whatever_its_name(items: list[pb.RequestContextItem]) -> None:
    context = pb.RequestContext(items=items)
    groups = len({one.type for one in items})
    lines = context_text(context).splitlines()
    assert len(lines) == 1 + max(1, len(items) + groups + max(0, groups - 1))
    assert "\n" not in summary_line(context)


def test_a_value_of_an_enum_is_told_by_its_name() -> None:
    assert enum_name(chat_pb2.FinalState(exit_reason=turns_pb2.EXIT_REASON_COMPLETED), "exit_reason") == "COMPLETED"
    assert enum_name(chat_pb2.FinalState(), "exit_reason") == "UNSPECIFIED"
    newer = chat_pb2.FinalState.FromString(b"\x08\x89\x06")
    assert enum_name(newer, "exit_reason") == "777"
    for other in ("message", "messages", "nothing"):
        with pytest.raises(ValueError, match=f"FinalState has no enum '{other}'"):
            enum_name(chat_pb2.FinalState(), other)
