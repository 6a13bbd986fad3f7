"""Questions asked again, over a real channel: what a client sees of the caches, and when they do not serve it."""

import asyncio
from pathlib import Path

from structlog.testing import capture_logs

from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from tests.support.running import (
    AGREEMENT,
    RunningService,
    chat_request,
    final_of,
    running_service,
    text_of,
    without_times,
)
from tests.support.scripted_model import Call, Step, text

QUESTION = "What is the governing law of the services agreement?"
LEASE = "# Lease\n\n## 5. Governing Law\n\nThis Lease is governed by the laws of the State of Maine.\n"


def kinds(events: list[chat_pb2.AgentEvent]) -> list[str]:
    return [str(event.WhichOneof("event")) for event in events]


def plain(final: chat_pb2.FinalState) -> chat_pb2.FinalState:
    """Without times, and without what tells a hit from a call."""
    bare = without_times(final)
    bare.ClearField("usage")
    bare.ClearField("from_cache")
    for record in bare.tool_call_records:
        record.ClearField("from_cache")
    return bare


async def test_a_question_asked_again_is_answered_alike_without_tokens(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    first = await service.ask(QUESTION, matter_id)
    second = await service.ask(QUESTION, matter_id)
    assert "token" in kinds(first)
    assert kinds(second) == [kind for kind in kinds(first) if kind not in {"token", "text_discarded"}]
    assert (final_of(first).from_cache, final_of(second).from_cache) == (False, True)
    assert plain(final_of(first)) == plain(final_of(second))
    ends = [e.tool_end for e in second if e.WhichOneof("event") == "tool_end"]
    assert [(end.tool, end.from_cache) for end in ends] == [
        ("list_matter_documents", False),
        ("isaacus_search", True),
        ("isaacus_extract", True),
    ]
    usage = final_of(second).usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls, usage.cached_input_tokens) == (0, 0, 0, 0)
    calls = len(final_of(first).usage.calls)
    assert [call.from_cache for call in usage.calls] == [True] * calls
    assert final_of(second).request_context.fill.tokens_used == final_of(first).request_context.fill.tokens_used > 0
    caches = service.app.caches
    assert caches is not None
    assert (caches.replies.hits, caches.replies.misses, caches.results.hits, caches.results.misses) == (
        calls,
        calls,
        2,
        2,
    )


async def test_chat_and_invoke_use_the_same_cache(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    invoked = (await service.chat.Invoke(chat_request(QUESTION, matter_id))).final_state
    streamed = final_of(await service.ask(QUESTION, matter_id))
    again = (await service.chat.Invoke(chat_request(QUESTION, matter_id))).final_state
    assert [state.from_cache for state in (invoked, streamed, again)] == [False, True, True]
    assert plain(invoked) == plain(streamed) == plain(again)


async def test_with_the_cache_disabled_tokens_are_sent_and_nothing_is_kept(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    off = chat_pb2.ChatOptions(disable_cache=True)
    for _ in range(2):
        events = await service.ask(QUESTION, matter_id, options=off)
        assert not final_of(events).from_cache
        assert text_of(events) == final_of(events).message
    assert not final_of(await service.ask(QUESTION, matter_id)).from_cache
    assert final_of(await service.ask(QUESTION, matter_id)).from_cache
    assert not final_of(await service.ask(QUESTION, matter_id, options=off)).from_cache


async def test_a_deleted_document_is_not_quoted_any_more(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT, Lease=LEASE)
    assert "Oregon" in final_of(await service.ask(QUESTION, matter_id)).message
    (agreement,) = [d for d in await service.wait_until_ready(matter_id) if d.filename == "Services Agreement.md"]
    await service.matters.DeleteDocument(
        matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=agreement.document_id)
    )
    events = await service.ask(QUESTION, matter_id)
    assert not final_of(events).from_cache
    assert "Oregon" not in str(events)


async def test_a_new_document_is_found_once_it_is_ready(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    question = "Which documents mention governing law?"
    assert "Lease.md" not in final_of(await service.ask(question, matter_id)).message
    await service.upload(matter_id, "Lease.md", LEASE.encode())
    await service.wait_until_ready(matter_id)
    final = final_of(await service.ask(question, matter_id))
    assert not final.from_cache
    assert "Lease.md" in final.message


async def test_another_matter_with_the_same_documents_is_a_miss(service: RunningService) -> None:
    matters = [await service.create_matter(Services_Agreement=AGREEMENT) for _ in range(2)]
    finals = [final_of(await service.ask(QUESTION, matter_id)) for matter_id in matters]
    assert [final.from_cache for final in finals] == [False, False]
    assert finals[0].citations[0].document_id != finals[1].citations[0].document_id


async def test_ten_identical_questions_at_once_are_one_conversation_with_the_model(
    tmp_path: Path, models_dir: Path
) -> None:
    """The script has no further steps: another call would fail."""
    quote = "It says “governed by the laws of the State of Oregon” [1]."
    hold = asyncio.Event()
    script = Step(calls=[Call("isaacus_search", '{"query": "governing law"}')], hold=hold), text(quote)
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
        asking = [asyncio.create_task(service.ask(QUESTION, matter_id)) for _ in range(9)]
        hold.set()
        finals = [final_of(events) for events in await asyncio.gather(*asking)]
        assert [final.message for final in finals] == [quote] * 9
        assert sum(final.usage.model_calls for final in finals) == 2
        assert sorted(final.from_cache for final in finals) == [False] + [True] * 8


async def test_a_turn_that_waits_for_another_ends_at_its_own_time_limit(tmp_path: Path, models_dir: Path) -> None:
    script = [Step(hold=asyncio.Event())] * 2
    async with running_service(tmp_path / "data", models_dir, *script, turns={"time_limit_s": 1.0}) as service:
        matter_id = await service.create_matter()
        finals = [final_of(e) for e in await asyncio.gather(*(service.ask("Hi", matter_id) for _ in range(2)))]
    assert [f.exit_reason for f in finals] == [turns_pb2.EXIT_REASON_DEADLINE_EXCEEDED] * 2
    cut_short = [call for final in finals for call in final.usage.calls]
    # The second may have begun just before its own end.
    assert [call.failed for call in cut_short] in ([True], [True, True])
    assert all(final.duration.ToMilliseconds() >= 900 for final in finals)


async def test_without_entries_nothing_is_kept(tmp_path: Path, models_dir: Path) -> None:
    script = text("Hello, one."), text("Hello, two.")
    async with running_service(tmp_path / "data", models_dir, *script, turns={"cache_ttl_s": 0}) as service:
        matter_id = await service.create_matter()
        answers = [final_of(await service.ask("Hi", matter_id)).message for _ in range(2)]
        assert answers == ["Hello, one.", "Hello, two."]
        assert service.app.caches is None


async def test_how_often_the_caches_served_is_logged_at_the_end(tmp_path: Path, models_dir: Path) -> None:
    with capture_logs() as logs:
        async with running_service(tmp_path / "data", models_dir, text("Hello.")) as service:
            matter_id = await service.create_matter()
            for _ in range(3):
                await service.ask("Hi", matter_id)
    used = [(log["cache"], log["hits"], log["misses"]) for log in logs if log["event"] == "cache_used"]
    assert used == [("replies", 2, 1), ("retrieval", 0, 0)]
