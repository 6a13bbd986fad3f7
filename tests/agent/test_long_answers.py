"""Answers that are long or rest on long sources: they reach every reader while they are being written, and one that
does not end is cut at a limit and says so."""

import asyncio
import re
import time
from pathlib import Path

import pytest

from proviso_client.v1 import chat_pb2, sessions_pb2, turns_pb2
from proviso_service.agent.grounding import AnswerCheck, Sources
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import MAX_ANSWER_CHARS, REST_LEFT_OUT, ExitCause
from tests.support.catalogs import write
from tests.support.running import AGREEMENT, cause_of, chat_request, final_of, running_service, text_of
from tests.support.scripted_model import Call, Step, calls, text

QUESTION = "💼 Could you tell me a little more about your question? "
THREE_MEGABYTES = 3_000_000 // len(QUESTION.encode())


@pytest.mark.parametrize("step", [text(*[QUESTION] * THREE_MEGABYTES), text(QUESTION * THREE_MEGABYTES)])
async def test_an_answer_of_three_megabytes_is_cut_and_says_so(tmp_path: Path, models_dir: Path, step: Step) -> None:
    async with running_service(tmp_path, models_dir, step) as service:
        matter_id = await service.create_matter(Notes="# Notes\n\nThe fee is due.")
        events = await service.ask("Tell me all.", matter_id, session_id="s1")
        final = final_of(events)
        assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        assert (final.message_truncated, final.message) == (True, text_of(events))
        kept = final.message.removesuffix(REST_LEFT_OUT["en"])
        assert len(kept) == MAX_ANSWER_CHARS
        assert (QUESTION * THREE_MEGABYTES).startswith(kept)
        assert max(event.ByteSize() for event in events) < 3_000_000
        turn_id = events[0].turn_id
        again = service.chat.ResumeChat(chat_pb2.ResumeChatRequest(turn_id=turn_id))
        assert [event async for event in again][-1].final_state == final
        assert (await service.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn_id))).final_state.message_truncated
        listed = await service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s1"))
        assert listed.messages[-1].content == final.message


async def test_an_answer_up_to_the_limit_is_whole_and_invoke_returns_it(tmp_path: Path, models_dir: Path) -> None:
    whole = (QUESTION * THREE_MEGABYTES)[: MAX_ANSWER_CHARS - 1] + "?"
    async with running_service(tmp_path, models_dir, text(whole), text(whole + "?")) as service:
        matter_id = await service.create_matter(Notes="# Notes\n\nThe fee is due.")
        for asked, expected, truncated in (
            ("All?", whole, False),
            ("Was steht noch in dem Vertrag?", whole + REST_LEFT_OUT["de"], True),
        ):
            final = (await service.chat.Invoke(chat_request(asked, matter_id))).final_state
            assert (final.message_truncated, final.message) == (truncated, expected)


CITED = """\
The agreement says this:

- The Customer “shall pay USD 12,000 per month within thirty (30) days of each invoice” [3].
- The Provider maintains professional liability insurance of at least USD 1,000,000 (i.e. one million dollars) [2].

“This Agreement is governed by the laws of the State of Oregon.” [1] Which clause would you like to read, e.g. No. 2? \
"""


async def test_each_sentence_is_there_once_the_model_has_begun_the_next(tmp_path: Path, models_dir: Path) -> None:
    search = calls(Call("isaacus_search", '{"query": "fees, insurance and governing law", "threshold": 0}'))
    answer = Step([*re.findall(r"\S+\s*", CITED), "Or "], hold_after=(go_on := asyncio.Event()))
    async with running_service(tmp_path, models_dir, search, answer) as service:
        matter_id = await service.create_matter(Services=AGREEMENT)
        events = []
        async for event in service.chat.Chat(chat_request("What is agreed?", matter_id)):
            events.append(event)
            if "Which clause would you like to read, e.g. No. 2?" in text_of(events):
                go_on.set()  # the model has not ended, and all that it has said before is here
        assert final_of(events).exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        assert final_of(events).omitted_sentences == 0


CLAUSE = (
    "The Customer shall pay each invoice within thirty (30) days after its receipt, and USD 12,000 are due on "
    "1 January 2025 in Oregon; interest of 2 % a month applies to any amount that is overdue.\n"
)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(CLAUSE.replace("\n", " and ").replace(";", ","), id="facts"),
        pytest.param("Acme Widgets Beta Gamma Delta ", id="names"),
        pytest.param("“interest of 2 % a month applies to any amount that is overdue” and ", id="quotations"),
        pytest.param("„" + CLAUSE.replace("\n", " "), id="open quotation"),
        pytest.param("[1] (see [2 ", id="brackets"),
    ],
)
def test_a_sentence_of_five_thousand_characters_is_checked_within_300_ms(written: str) -> None:
    sources = Sources(references={"Handbook": CLAUSE * 150})
    for number in range(12):
        sources.number(SourcePassage(f"d{number}", f"{number}.md", 0, f"{number}. {CLAUSE * 5}"))
    check = AnswerCheck(sources, "What is due?", "en", is_last_try=True)
    longest_s = 0.0
    for token in [*re.findall(r"\s*\S+", (written * 5_000)[:5_000]), ". ", "So", None]:
        begun = time.process_time()
        check.finish() if token is None else check.feed(token)
        longest_s = max(longest_s, time.process_time() - begun)
    assert longest_s < 0.3


async def test_a_statement_of_which_a_long_reference_has_no_word_is_refused(tmp_path: Path, models_dir: Path) -> None:
    long = f"---\nname: Handbook\ndescription: Our house.\ninclude: always\n---\n{CLAUSE * 250}"
    agent = write(tmp_path / "agent", references__handbook_md=long)
    claim = text("Zebras gallop majestically everywhere.")
    async with running_service(tmp_path / "data", models_dir, claim, claim, agent_dir=agent) as service:
        final = final_of(await service.ask("What of them?", await service.create_matter()))
        assert cause_of(final) is ExitCause.UNGROUNDED
