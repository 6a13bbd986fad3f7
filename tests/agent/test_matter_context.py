"""Which matter a turn is about, and the problems that are answered in words."""

from dataclasses import replace

import pytest

from proviso_service.context.marker import render_marker
from proviso_service.context.model import AssetKind, DocumentSummary, MatterContext
from proviso_service.matters.model import DocumentStatus
from proviso_service.turns import (
    ChatMessage,
    ContextProblem,
    ExitCause,
    ExitReason,
    HistoryMessage,
    MessageRole,
    TurnRequest,
    TurnStart,
)
from tests.support.agent_world import (
    DOCUMENT_ID,
    MATTER_ID,
    NEW_SESSION,
    Lookup,
    MemorySessions,
    OneMatter,
    agent_world,
    document,
)
from tests.support.scripted_model import Call, calls, text

OTHER_ID = "00000000-0000-4000-8000-000000000000"
ANSWER = text("Is it a question?")


async def test_without_a_matter_the_person_is_asked_for_one() -> None:
    world = agent_world()
    final = (await world.run("Which law?", matter_context=None)).final_state
    assert (final.exit_reason, final.context_problem) == (ExitReason.COMPLETED, ContextProblem.MATTER_REQUIRED)
    assert "Which matter are you working with?" in final.message
    assert not world.model.payloads


async def test_assets_alone_reach_the_model_until_it_asks_for_a_matter_tool() -> None:
    lookup = Lookup()
    world = agent_world(calls(Call("lookup", '{"query": "law"}')), tools=[lookup])
    notes = (DocumentSummary("notes.md", "md", "Notes."),)
    final = (await world.run("Which law?", matter_context=None, document_context=notes)).final_state
    assert (final.exit_reason, final.context_problem) == (ExitReason.COMPLETED, ContextProblem.MATTER_REQUIRED)
    assert not lookup.scopes


@pytest.mark.parametrize("matter_id", ["nonsense", OTHER_ID, "", "25e70284"])
async def test_a_malformed_or_foreign_matter_is_not_found(matter_id: str) -> None:
    world = agent_world()
    outcome = await world.run("Which law?", matter_context=MatterContext(matter_id, "Secret"))
    assert outcome.final_state.context_problem is ContextProblem.MATTER_NOT_FOUND
    assert (outcome.update_matter_context, outcome.matter_context) == (True, None)
    assert not world.model.payloads


@pytest.mark.parametrize("document_id", ["nonsense", OTHER_ID])
async def test_an_unknown_document_lists_those_that_there_are(document_id: str) -> None:
    outcome = await agent_world().run("?", matter_context=MatterContext(MATTER_ID, "", document_id))
    assert outcome.final_state.context_problem is ContextProblem.DOCUMENT_NOT_FOUND
    assert "- Services Agreement.md" in outcome.final_state.message
    assert (outcome.update_matter_context, outcome.matter_context) == (True, MatterContext(MATTER_ID, "Smith v. Jones"))


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (DocumentStatus.PENDING, ContextProblem.DOCUMENT_PROCESSING),
        (DocumentStatus.PROCESSING, ContextProblem.DOCUMENT_PROCESSING),
        (DocumentStatus.FAILED, ContextProblem.DOCUMENT_FAILED),
    ],
)
async def test_a_document_that_is_not_ready_says_so(status: DocumentStatus, problem: ContextProblem) -> None:
    matters = OneMatter([document(status, failure_reason="It is empty.")])
    context = MatterContext(MATTER_ID, "", DOCUMENT_ID)
    outcome = await agent_world(matters=matters).run("?", matter_context=context)
    assert outcome.final_state.context_problem is problem
    assert outcome.update_matter_context


async def test_the_marker_of_a_message_gives_the_matter_and_is_not_stored() -> None:
    world = agent_world(ANSWER)
    marker = render_marker(MatterContext(MATTER_ID, "Smith v. Jones", DOCUMENT_ID, "Services Agreement.md"))
    outcome = await world.run(f"{marker}\nWhat is it?", matter_context=None)
    assert outcome.matter_context == MatterContext(MATTER_ID, "Smith v. Jones", DOCUMENT_ID, "Services Agreement.md")
    assert outcome.new_messages[0].content == "What is it?"
    assert str(world.model.payloads[0][-1].content) == f"{marker}\n\nWhat is it?"


async def test_typed_context_wins_over_the_marker_as_a_whole() -> None:
    world = agent_world(ANSWER)
    marker = render_marker(MatterContext(OTHER_ID, "Other", DOCUMENT_ID, "x"))
    outcome = await world.run(f"{marker}\nWhat is it?", matter_context=MatterContext(MATTER_ID))
    assert outcome.matter_context == MatterContext(MATTER_ID, "Smith v. Jones")


async def test_a_message_that_is_only_a_marker_is_acknowledged_and_remembered() -> None:
    world = agent_world()
    outcome = await world.run(render_marker(MatterContext(MATTER_ID, "x")), matter_context=None)
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert outcome.final_state.message == 'Noted: we are looking at the matter "Smith v. Jones".'
    assert outcome.update_matter_context
    assert not world.model.payloads


async def test_a_session_keeps_its_last_known_context() -> None:
    world = agent_world(ANSWER, sessions=MemorySessions(MatterContext(MATTER_ID, "Smith v. Jones", DOCUMENT_ID, "x")))
    outcome = await world.run("What is it?", matter_context=None, session_id="s")
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert outcome.matter_context is not None
    assert outcome.matter_context.document_id == DOCUMENT_ID
    assert not outcome.update_matter_context


async def test_a_matter_without_a_document_clears_the_document() -> None:
    sessions = MemorySessions(MatterContext(MATTER_ID, "Smith v. Jones", DOCUMENT_ID, "x"))
    outcome = await agent_world(ANSWER, sessions=sessions).run(
        "What is it?", matter_context=MatterContext(MATTER_ID), session_id="s"
    )
    assert outcome.matter_context == MatterContext(MATTER_ID, "Smith v. Jones")
    assert outcome.update_matter_context


async def test_the_last_marker_of_a_callers_own_history_counts() -> None:
    world = agent_world(ANSWER)
    history = (
        HistoryMessage(MessageRole.USER, render_marker(MatterContext(OTHER_ID, "Old")) + "\nHello"),
        HistoryMessage(MessageRole.ASSISTANT, f"[CONTEXT] not read here (matter_id: {OTHER_ID})."),
        HistoryMessage(MessageRole.USER, render_marker(MatterContext(MATTER_ID, "New")) + "\nAnd this?"),
    )
    final = (await world.run("What is it?", matter_context=None, history=history)).final_state
    assert final.context_problem is None
    sent = [str(m.content) for m in world.model.payloads[0][1:4]]
    assert sent == ["Hello", f"[CONTEXT] not read here (matter_id: {OTHER_ID}).", "And this?"]


GONE = render_marker(MatterContext(MATTER_ID, "Smith v. Jones", OTHER_ID, "Old.md")) + "\nWhat is it?"
NOT_THERE = 'That document is not in the matter "Smith v. Jones". Which of these do you mean?\n- Lease [1].md'


@pytest.mark.parametrize(
    ("marked", "answers", "problem"),
    [
        (GONE, [], None),
        (GONE, ["Which one?"], None),
        (GONE, [NOT_THERE], None),
        (GONE, ["It says “thirty days” [1]."], ContextProblem.DOCUMENT_NOT_FOUND),
        (GONE, ["It says “thirty days” [1].", NOT_THERE, "“Sixty days” [2]."], None),
        (GONE, ['Noted: we are looking at "Old.md" in the matter "X".'], ContextProblem.DOCUMENT_NOT_FOUND),
        (GONE.replace(MATTER_ID, OTHER_ID), ["Which one?"], ContextProblem.MATTER_REQUIRED),
        (GONE.replace(MATTER_ID, OTHER_ID), ["“Sixty days” [2]."], ContextProblem.MATTER_NOT_FOUND),
        ("[CONTEXT] What is it?", [], ContextProblem.MATTER_REQUIRED),
    ],
)
async def test_what_a_callers_own_history_tells_of_a_problem_is_not_told_again(
    marked: str, answers: list[str], problem: ContextProblem | None
) -> None:
    """An answer that cites a source shows that what is gone now was there when the marker was sent."""
    old = render_marker(MatterContext(MATTER_ID, "Smith v. Jones", DOCUMENT_ID, "x"))
    history = [HistoryMessage(MessageRole.USER, old), HistoryMessage(MessageRole.ASSISTANT, "“Old” [1].")]
    history.append(HistoryMessage(MessageRole.USER, marked))
    for answer in answers:
        history += [HistoryMessage(MessageRole.ASSISTANT, answer), HistoryMessage(MessageRole.USER, "And now?")]
    outcome = await agent_world(ANSWER).run("What is it?", matter_context=None, history=tuple(history))
    assert outcome.final_state.context_problem is problem
    is_gone = problem in {ContextProblem.MATTER_REQUIRED, ContextProblem.MATTER_NOT_FOUND}
    assert outcome.matter_context == (None if is_gone else MatterContext(MATTER_ID, "Smith v. Jones"))


@pytest.mark.parametrize("message", ["[CONTEXT] What is it?", render_marker(MatterContext(MATTER_ID)) + "\nHm?"])
async def test_a_turn_that_is_cut_before_its_context_is_checked_leaves_none(message: str) -> None:
    turn = TurnRequest(message, session_id="s")
    world = agent_world(sessions=MemorySessions(MatterContext(OTHER_ID)))
    outcome = world.agent.start(world.turn(turn)).interrupted(ExitReason.CANCELLED, ExitCause.STOPPING)
    assert (outcome.update_matter_context, outcome.matter_context) == (True, None)
    plain = world.agent.start(world.turn(replace(turn, message="What is it?")))
    assert not plain.interrupted(ExitReason.CANCELLED, ExitCause.STOPPING).update_matter_context


async def test_a_session_that_a_message_makes_has_the_items_of_every_new_session() -> None:
    sessions = MemorySessions()
    outcome = await agent_world(ANSWER, sessions=sessions).run("What is it?", session_id="s")
    assert sessions.made_with == [NEW_SESSION]
    assert outcome.new_session == NEW_SESSION


async def test_an_empty_message_makes_no_session() -> None:
    sessions = MemorySessions()
    outcome = await agent_world(sessions=sessions).run(" ", session_id="s")
    assert not sessions.made_with
    assert not outcome.update_matter_context


async def test_a_session_sends_earlier_messages_without_errors() -> None:
    sessions = MemorySessions(
        MatterContext(MATTER_ID),
        [
            ChatMessage(MessageRole.USER, "First"),
            ChatMessage(MessageRole.ERROR, "It broke."),
            ChatMessage(MessageRole.USER, "Second"),
            ChatMessage(MessageRole.ASSISTANT, "Answer"),
        ],
    )
    world = agent_world(ANSWER, sessions=sessions)
    await world.run("Third", matter_context=None, session_id="s")
    assert [str(m.content) for m in world.model.payloads[0][1:4]] == ["First", "Second", "Answer"]


async def test_a_long_message_that_failed_can_be_sent_again() -> None:
    long = "x" * 4_000
    stored = [
        ChatMessage(MessageRole.USER, "First"),
        ChatMessage(MessageRole.ASSISTANT, "Answer"),
        *[ChatMessage(MessageRole.USER, long), ChatMessage(MessageRole.ERROR, "It broke.")] * 3,
    ]
    world = agent_world(ANSWER, sessions=MemorySessions(MatterContext(MATTER_ID), stored))
    final = (await world.run(long, matter_context=None, session_id="s")).final_state
    assert final.exit_reason is ExitReason.COMPLETED
    assert [str(m.content) for m in world.model.payloads[0][1:-1]] == ["First", "Answer"]


async def test_sending_a_long_message_again_does_not_hide_that_the_conversation_is_too_long() -> None:
    long = "x" * 4_000
    stored = [
        *[ChatMessage(MessageRole.USER, "y" * 3_000), ChatMessage(MessageRole.ASSISTANT, "z" * 1_000)] * 3,
        *[ChatMessage(MessageRole.USER, long)] * 3,
    ]
    world = agent_world(sessions=MemorySessions(MatterContext(MATTER_ID), stored))
    final = (await world.run(long, matter_context=None, session_id="s")).final_state
    assert final.exit_reason is ExitReason.MAX_CONTEXT_REACHED


async def test_document_summaries_stand_before_the_message_as_in_the_examples() -> None:
    world = agent_world(ANSWER)
    notes = (DocumentSummary("auth.js", "js", "JWT middleware"), DocumentSummary("long.md", "md", "x" * 201))
    await world.run("What patterns?", document_context=notes)
    content = str(world.model.payloads[0][-1].content)
    assert content.endswith(
        "\n\n[Uploaded Documents Context]\n- auth.js (js): JWT middleware\n"
        f"- long.md (md): {'x' * 200}...\n\nWhat patterns?"
    )


async def test_a_model_that_cannot_see_is_told_of_the_images_by_their_urls() -> None:
    world = agent_world(ANSWER)
    await world.run("Look", image_urls=("https://a.example/1.png", "https://a.example/2.png"))
    parts = world.model.payloads[0][-1].content
    assert [part["image_url"]["url"] for part in parts[1:]] == ["https://a.example/1.png", "https://a.example/2.png"]  # type: ignore[index]
    start = world.events[0]
    assert isinstance(start, TurnStart)
    assert [(a.kind, a.included) for a in start.request_context.assets] == [(AssetKind.IMAGE, False)] * 2
