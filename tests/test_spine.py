"""The main job, over a real channel: upload agreements, ask about them, get grounded answers."""

import asyncio
from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, sessions_pb2, tools_pb2, turns_pb2
from tests.support.running import (
    AGREEMENT,
    RunningService,
    chat_request,
    final_of,
    running_service,
    text_of,
    without_times,
)
from tests.support.scripted_model import Call, Step, calls, text


async def test_a_fact_is_answered_with_a_citation_that_is_the_documents_text(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    events = await service.ask("What is the governing law of the services agreement?", matter_id)
    final = final_of(events)
    assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert final.message == text_of(events)
    citation = final.citations[0]
    assert [e.citation for e in events if e.WhichOneof("event") == "citation"] == list(final.citations)
    assert "State of Oregon" in citation.quote
    assert citation.heading == "9. Governing Law"
    whole = await service.tools.GetDocumentText(
        tools_pb2.GetDocumentTextRequest(matter_id=matter_id, document_id=citation.document_id)
    )
    assert whole.text[citation.start : citation.end] == citation.quote
    assert final.message[citation.answer_start : citation.answer_end].endswith(f"[{citation.number}]")
    items = final.request_context.items
    tools = [i.name for i in items if i.type == context_pb2.CONTEXT_ITEM_TYPE_TOOL and not i.note]
    assert set(tools) == {
        "list_matter_documents", "get_document_text", "isaacus_search", "isaacus_extract", "isaacus_classify",
        "isaacus_iql",
    }  # fmt: skip


OUTSIDE_WORK = (
    "The Executive shall not during the employment, except as a representative of the Company or with the Company's "
    "prior written consent (which the Company may give or withhold as it sees fit, and may withdraw at any time by "
    "notice), whether directly or indirectly, paid or unpaid, be employed, engaged, concerned or interested in any "
    "other actual or prospective business, organisation, occupation or profession."
)
EMPLOYMENT = "\n\n".join(
    (
        "# Service Agreement",
        f"## 1. Outside activities\n\n{OUTSIDE_WORK}",
        *(
            f"## {number}. {title}\n\nThe Executive shall {duty} during the employment, as the Company may direct from "
            "time to time and for no further remuneration, and shall at all times comply with the rules, policies and "
            "procedures of the Company which are in force, in all countries in which the Company or a company of its "
            "group does business, and with what the law of these countries requires of an officer."
            for number, (title, duty) in enumerate(
                (("Duties", "serve the Company"), ("Travel", "travel"), ("Health", "have a medical examination")), 2
            )
        ),
    )
)


async def test_a_long_sentence_that_answers_is_quoted_to_its_end(service: RunningService) -> None:
    matter_id = await service.create_matter(Service_Agreement=EMPLOYMENT)
    final = final_of(await service.ask("May the executive work for another firm while he is with us?", matter_id))
    assert any(citation.quote.endswith(OUTSIDE_WORK) for citation in final.citations)


VENTURE = """# Joint Venture Agreement

## 6. Division of income

All income and all losses shall be shared among the parties as follows:

60% to Brightwater Labs LLC

40% to Tidewell Shipping Inc.

## 7. Accounts

The parties shall keep books of account at the place of business of Brightwater Labs LLC.
"""


async def test_a_sentence_that_opens_a_list_is_quoted_with_it(service: RunningService) -> None:
    matter_id = await service.create_matter(Venture=VENTURE)
    final = final_of(await service.ask("How do the parties share what they earn or lose together?", matter_id))
    assert any("60% to Brightwater" in one.quote and "40% to Tidewell" in one.quote for one in final.citations)


SUBJECTS = ("rent", "deposit", "repairs", "insurance", "access", "notices")
DUTIES = [
    f"The tenant answers for the {subject} of the premises within {10 + number} days after the landlord has asked, "
    f"bears the cost of the {subject} itself, keeps a record of what was done and when, and hands a copy of it "
    f"to the landlord at the end of each quarter of the year in which anything was done about the {subject}."
    for number, subject in enumerate(SUBJECTS)
]
LEASE = "# Lease\n\n" + "\n\n".join(
    f"## {number}. The {subject}\n\n{duty}{' The parties go about this in good faith and without delay.' * 8}"
    for number, (subject, duty) in enumerate(zip(SUBJECTS, DUTIES, strict=True), 1)
)


async def test_a_long_answer_is_below_15_kb_for_a_reader_who_leaves_out_what_it_can(
    tmp_path: Path, models_dir: Path
) -> None:
    about = ("rent and deposit", "repairs and insurance", "access and notices")
    searches = [calls(Call("isaacus_search", f'{{"query": "The tenant answers for the {two}"}}')) for two in about]
    answer = text("\n\n".join(f"“{duty}”" for duty in DUTIES))
    leave_out = chat_pb2.LeaveOut(tool_output=True, repeated_contexts=True, history=True, told=True, context_items=True)
    async with running_service(tmp_path, models_dir, *searches, answer) as service:
        matter_id = await service.create_matter(Lease=LEASE)
        options = chat_pb2.ChatOptions(leave_out=leave_out)
        brief = await service.ask("What does the tenant answer for?", matter_id, options=options)
        turn = chat_pb2.ResumeChatRequest(turn_id=brief[0].turn_id)
        whole = [event async for event in service.chat.ResumeChat(turn)]
        turn.MergeFrom(chat_pb2.ResumeChatRequest(after_sequence=1, leave_out=leave_out))
        resumed = [event async for event in service.chat.ResumeChat(turn)]
    final, kept = final_of(brief), final_of(whole)
    assert len(final.message) > 1_800
    assert sum(event.ByteSize() for event in brief) < 15_000
    assert sum(event.ByteSize() for event in whole) > 40_000
    assert [e.citation for e in brief if e.HasField("citation")] == list(kept.citations)
    assert (len(kept.citations), len(kept.tool_call_records)) == (6, 3)
    # What was told is left out only where the same call has told it.
    assert (len(final.citations), len(final.tool_call_records)) == (0, 0)
    assert resumed[-1].final_state.citations == kept.citations
    assert (len(final.request_context.items), final.request_context.matter_context.matter_id) == (0, matter_id)
    assert final.request_context.fill == kept.request_context.fill


async def test_chat_and_invoke_give_the_same_final_state(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    question = "Which documents mention insurance?"
    uncached = chat_pb2.ChatOptions(disable_cache=True)
    streamed = final_of(await service.ask(question, matter_id, options=uncached))
    invoked = (await service.chat.Invoke(chat_request(question, matter_id, options=uncached))).final_state
    assert without_times(streamed) == without_times(invoked)
    assert "Services Agreement.md" in invoked.message


async def test_what_is_not_in_the_documents_is_not_answered(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    final = final_of(await service.ask("What is the penalty for late delivery of satellites?", matter_id))
    assert final.message.startswith("I found no passage that answers this for certain.")


async def test_a_session_remembers_its_matter_and_its_messages(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    await service.ask("Which documents are there?", matter_id, session_id="s1")
    final = final_of(await service.ask("What is the governing law?", session_id="s1"))
    assert "Oregon" in final.message
    assert final.messages[0].content == "Which documents are there?"
    listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s1"))
    roles = [sessions_pb2.MessageRole.Name(m.role) for m in listed.messages]
    assert roles == ["MESSAGE_ROLE_USER", "MESSAGE_ROLE_ASSISTANT"] * 2
    assert listed.messages[-1].request_context.matter_context.matter_id == matter_id
    session = (await service.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id="s1"))).session
    assert session.matter_context.matter_id == matter_id
    created = await service.sessions.CreateSession(sessions_pb2.CreateSessionRequest(session_id="s2"))
    assert session.items == created.session.items


async def test_a_turn_can_be_resumed_after_every_sequence(tmp_path: Path, models_dir: Path) -> None:
    tokens = [f"Hello {letter}\n" for letter in "abcdefghijklmnopqrstuvwxyz"]
    async with running_service(tmp_path / "data", models_dir, text(*tokens)) as service:
        matter_id = await service.create_matter()
        whole = await service.ask("Hello", matter_id)
        assert final_of(whole).message == "".join(tokens)
        turn_id, last = whole[0].turn_id, whole[-1].sequence
        for after in range(last + 1):
            resumed = [
                event
                async for event in service.chat.ResumeChat(
                    chat_pb2.ResumeChatRequest(turn_id=turn_id, after_sequence=after)
                )
            ]
            assert [e.sequence for e in resumed][-1:] == ([last] if after < last else [])
            rest = "".join(e.token.text for e in resumed)
            # The first event is turn_start: token k has sequence k + 2.
            assert rest == "".join(tokens[max(0, after - 1) :])


async def test_a_cut_stream_goes_on_without_loss_or_repetition(tmp_path: Path, models_dir: Path) -> None:
    go_on = asyncio.Event()
    broken, whole = ["Hello\n", "two "], ["Hello\n", "Hello ", "again."]
    script = [Step(broken, error=ConnectionError()), Step(whole, hold=go_on)]
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        matter_id = await service.create_matter()
        call = service.chat.Chat(chat_request("Hello", matter_id))
        seen = [await anext(aiter(call))]
        while not any(e.WhichOneof("event") == "text_discarded" for e in seen):
            seen.append(await anext(aiter(call)))
        call.cancel()
        go_on.set()
        resume = chat_pb2.ResumeChatRequest(turn_id=seen[0].turn_id, after_sequence=seen[-1].sequence)
        seen += [event async for event in service.chat.ResumeChat(resume)]
        assert final_of(seen).message == text_of(seen) == "".join(whole)


async def test_a_repeated_request_id_attaches_to_the_same_turn(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, text("Hello.")) as service:
        matter_id = await service.create_matter()
        first = await service.ask("Hi", matter_id, request_id="r1")
        second = await service.ask("Hi", matter_id, request_id="r1")
        assert [e.turn_id for e in second] == [first[0].turn_id] * len(second)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await service.ask("Something else", matter_id, request_id="r1")
        assert caught.value.code() == grpc.StatusCode.ALREADY_EXISTS


async def test_a_busy_session_names_its_turn(tmp_path: Path, models_dir: Path) -> None:
    go_on = asyncio.Event()
    async with running_service(tmp_path / "data", models_dir, Step(["Hello."], hold=go_on)) as service:
        matter_id = await service.create_matter()
        running = service.chat.Chat(chat_request("Hi", matter_id, session_id="s"))
        started = await anext(aiter(running))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await service.ask("Again", matter_id, session_id="s")
        assert caught.value.code() == grpc.StatusCode.ABORTED
        assert started.turn_id in (caught.value.details() or "")
        go_on.set()
        assert [e async for e in running][-1].WhichOneof("event") == "final_state"


async def test_a_cancelled_turn_says_so_to_its_readers_and_keeps_the_question(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, Step(["Hi"], hold=asyncio.Event())) as service:
        matter_id = await service.create_matter()
        running = service.chat.Chat(chat_request("Hi", matter_id, session_id="s"))
        events = [await anext(aiter(running))]
        await service.chat.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=events[0].turn_id))
        events += [e async for e in running]
        final = final_of(events)
        assert final.exit_reason == turns_pb2.EXIT_REASON_CANCELLED
        assert (final.message, final.display_message) == ("", False)
        listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s"))
        assert [m.content for m in listed.messages] == ["Hi"]


async def test_running_turns_are_handed_over_by_a_stop_and_go_on_after_it(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, Step(hold=asyncio.Event())) as service:
        matter_id = await service.create_matter()
        running = service.chat.Chat(chat_request("Hi", matter_id))
        events = [await anext(aiter(running))]
        await service.app.stop()
        with pytest.raises(grpc.aio.AioRpcError) as cut:
            events += [e async for e in running]
        assert cut.value.code() is grpc.StatusCode.UNAVAILABLE
    async with running_service(tmp_path / "data", models_dir, Step(["Good day."])) as again:
        resumed = chat_pb2.ResumeChatRequest(turn_id=events[0].turn_id, after_sequence=events[-1].sequence)
        final = final_of(events + [e async for e in again.chat.ResumeChat(resumed)])
        assert (final.exit_reason, final.message) == (turns_pb2.EXIT_REASON_COMPLETED, "Good day.")
        kept = await again.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=events[0].turn_id))
        assert kept.final_state == final


async def test_documents_and_their_answers_survive_a_restart(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    async with running_service(tmp_path / "data", models_dir) as again:
        found = await again.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="governing law"))
        assert "Oregon" in found.results[0].chunk_text


async def test_a_restart_changes_nothing_of_what_is_found(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
        request = tools_pb2.SearchRequest(matter_id=matter_id, query="governing law", semantic_weight=1)
        before = await service.tools.Search(request)
    async with running_service(tmp_path / "data", models_dir) as again:
        after = await again.tools.Search(request)
    assert after.results
    assert after == before


async def test_a_deleted_document_is_not_found_again(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    (document,) = await service.wait_until_ready(matter_id)
    await service.matters.DeleteDocument(
        matters_pb2.DeleteDocumentRequest(matter_id=matter_id, document_id=document.document_id)
    )
    found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query="governing law"))
    assert not found.results
