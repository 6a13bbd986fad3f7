"""Characters that cannot be seen, in messages and in documents."""

from pathlib import Path

import pytest

from proviso_client.v1 import sessions_pb2, tools_pb2, turns_pb2
from tests.support.running import AGREEMENT, RunningService, chat_request, final_of, running_service

REVERSED = AGREEMENT.replace("State of Oregon", "\u202eState\u202c of \u2067Ore\u200bgon\u2069")


@pytest.mark.parametrize("message", ["\u200b", "\u200b\u200d\ufeff", " \u2060\n\u202e", "\U000e0041\U000e0042"])
async def test_a_message_of_them_alone_is_empty_and_makes_no_session(service: RunningService, message: str) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    final = (await service.chat.Invoke(chat_request(message, matter_id, session_id="unseen"))).final_state
    assert final.exit_reason == turns_pb2.EXIT_REASON_EMPTY_INPUT
    assert not final.messages
    listed = await service.sessions.ListSessions(sessions_pb2.ListSessionsRequest())
    assert "unseen" not in [session.session_id for session in listed.sessions]


@pytest.mark.parametrize("filename", ["agreement.txt", "agreement.md", "agreement.html"])
async def test_a_quotation_is_shown_in_the_order_that_it_is_stored_in(
    tmp_path: Path, models_dir: Path, filename: str
) -> None:
    content = f"<pre>{REVERSED}</pre>" if filename.endswith("html") else REVERSED
    async with running_service(tmp_path, models_dir) as service:
        matter_id = await service.create_matter()
        await service.upload(matter_id, filename, content.encode())
        await service.wait_until_ready(matter_id)
        final = final_of(await service.ask("What is the governing law?", matter_id))
        assert "State of Oregon" in final.message
        (citation, *_) = final.citations
        request = tools_pb2.GetDocumentTextRequest(matter_id=matter_id, document_id=citation.document_id)
        whole = (await service.tools.GetDocumentText(request)).text
        assert whole[citation.start : citation.end] == citation.quote
        assert not {"\u202e", "\u202c", "\u2067", "\u2069", "\u200b"} & set(whole)


PERSIAN = (
    "\u0627\u06cc\u0646 \u0642\u0631\u0627\u0631\u062f\u0627\u062f \u0631\u0627"
    " \u0645\u06cc\u200c\u062a\u0648\u0627\u0646 \u062a\u0645\u062f\u06cc\u062f \u06a9\u0631\u062f"
)


@pytest.mark.parametrize("filename", ["agreement.txt", "agreement.md", "agreement.html"])
async def test_a_persian_word_keeps_its_joiner_and_is_found_without_it(service: RunningService, filename: str) -> None:
    """This contract can be renewed, with the word for `can` as it is written."""
    matter_id = await service.create_matter()
    content = f"<p>{PERSIAN}.</p>" if filename.endswith("html") else PERSIAN
    await service.upload(matter_id, filename, content.encode())
    await service.wait_until_ready(matter_id)
    for typed in (PERSIAN, PERSIAN.replace("\u200c", "")):
        for query in (f'"{typed}"', typed.split()[3]):
            request = tools_pb2.SearchRequest(matter_id=matter_id, query=query)
            (hit,) = (await service.tools.Search(request)).results
            assert PERSIAN in hit.chunk_text
