"""Which matter a turn is about, over every path: what was known before, what the message brings, and how it is sent.
Each case asserts the turn itself, and those that follow, whose messages bring nothing."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, sessions_pb2, turns_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.context.marker import render_marker
from proviso_service.context.model import MatterContext
from proviso_service.turns import ContextProblem
from tests.support.running import AGREEMENT, RunningService, final_of, new_id, running_service
from tests.support.scripted_model import ScriptedChatModel, text

QUESTION = "Which law governs it?"
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
UNCACHED = chat_pb2.ChatOptions(disable_cache=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")


class State(StrEnum):
    """What the conversation knew before."""

    NOTHING = "nothing"
    MATTER = "matter"
    DOCUMENT = "document"
    AFTER_A_PROBLEM = "after_a_problem"


class Brought(StrEnum):
    """The context that the message brings."""

    NONE = "none"
    MATTER = "matter"
    DOCUMENT = "document"
    UNKNOWN_MATTER = "unknown_matter"
    MALFORMED_MATTER = "malformed_matter"
    UNKNOWN_DOCUMENT = "unknown_document"
    PROCESSING = "processing"
    FAILED = "failed"
    UNREADABLE = "unreadable"


class Way(StrEnum):
    """How contexts are sent, and who keeps the conversation."""

    TYPED = "typed"
    MARKER = "marker"
    HISTORY = "history"


@dataclass(frozen=True)
class World:
    """Two matters: that of the conversation so far, and another that messages bring. `status` has the documents of the
    other one by what became of them."""

    service: RunningService
    data_dir: Path
    model: ScriptedChatModel
    old: MatterContext
    old_document: MatterContext
    new: MatterContext
    status: dict[Brought, MatterContext]

    def brought(self, what: Brought) -> MatterContext:
        return {
            Brought.MATTER: self.new,
            Brought.UNKNOWN_MATTER: MatterContext(UNKNOWN_ID, "Unknown"),
            Brought.MALFORMED_MATTER: MatterContext("matter 7", "Malformed"),
            Brought.UNKNOWN_DOCUMENT: replace(self.new, document_id=UNKNOWN_ID, document_name="Unknown.md"),
            Brought.UNREADABLE: MatterContext("", "Northwind"),  # of a typed context, what cannot be read is its id
            **self.status,
        }[what]

    def set_status(self, document_id: str, status: str) -> None:
        """Sets it as it is while a document is read for a long time, or has been."""
        with closing(sqlite3.connect(self.data_dir / "state.sqlite3")) as connection, connection:
            connection.execute("UPDATE documents SET status = ? WHERE document_id = ?", (status, document_id))


@dataclass
class Conversation:
    """A conversation that a session keeps, or the caller, who sends it along."""

    world: World
    way: Way
    session_id: str = field(default_factory=new_id)
    history: list[chat_pb2.HistoryMessage] = field(default_factory=list)

    async def say(
        self, context: MatterContext | None, marker: str = "", message: str = QUESTION
    ) -> chat_pb2.FinalState:
        typed = None
        if context is not None and self.way is Way.TYPED:
            typed = context_pb2.MatterContext(
                matter_id=context.matter_id,
                matter_name=context.matter_name,
                document_id=context.document_id,
                document_name=context.document_name,
            )
        elif context is not None or marker:
            message = f"{marker or (render_marker(context) if context else '')}\n{message}"
        request = chat_pb2.ChatRequest(message=message, matter_context=typed, options=UNCACHED)
        if self.way is Way.HISTORY:
            request.history.messages.extend(self.history)
        else:
            request.session_id = self.session_id
        final = final_of([event async for event in self.world.service.chat.Chat(request)])
        assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        self.history += [
            chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_USER, content=message),
            chat_pb2.HistoryMessage(role=sessions_pb2.MESSAGE_ROLE_ASSISTANT, content=final.message),
        ]
        return final

    def is_about(self, final: chat_pb2.FinalState, expected: MatterContext | None, calls_before: int) -> None:
        """The turn was about `expected`: so say its request context and what the model was sent, if it was called."""
        assert context_of(final.request_context) == expected
        payloads = self.world.model.payloads[calls_before:]
        assert bool(payloads) == (expected is not None and not final.context_problem)
        for payload in payloads:
            assert expected is not None
            assert str(payload[-1].content) == f"{render_marker(expected)}\n\n{QUESTION}"


def context_of(holder: context_pb2.RequestContext | sessions_pb2.Session) -> MatterContext | None:
    if not holder.HasField("matter_context"):
        return None
    found = holder.matter_context
    return MatterContext(found.matter_id, found.matter_name, found.document_id, found.document_name)


def problem_of(final: chat_pb2.FinalState) -> ContextProblem | None:
    name = chat_pb2.ContextProblem.Name(final.context_problem).removeprefix("CONTEXT_PROBLEM_")
    return None if name == "UNSPECIFIED" else ContextProblem[name]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[World]:
    data_dir = tmp_path_factory.mktemp("matters") / "data"
    model = ScriptedChatModel(script=[text("Which agreement do you mean?")] * 2_000)
    models = ChatModels(NamedChatModel("scripted", model))
    async with running_service(data_dir, models_dir, chat_models=models) as service:
        old_id = await service.create_matter("Old", Lease=AGREEMENT)
        [lease] = await service.wait_until_ready(old_id)
        new_id = await service.create_matter("New", Loan=AGREEMENT, Slow=f"{AGREEMENT} It is long.")
        ready = {document.filename: document.document_id for document in await service.wait_until_ready(new_id)}
        broken = (await service.upload(new_id, "Broken.pdf", b"no PDF")).document_id
        with pytest.raises(AssertionError):
            await service.wait_until_ready(new_id)  # the broken one has failed
        old, new = MatterContext(old_id, "Old"), MatterContext(new_id, "New")
        status = {
            Brought.DOCUMENT: replace(new, document_id=ready["Loan.md"], document_name="Loan.md"),
            Brought.PROCESSING: replace(new, document_id=ready["Slow.md"], document_name="Slow.md"),
            Brought.FAILED: replace(new, document_id=broken, document_name="Broken.pdf"),
        }
        viewed = replace(old, document_id=lease.document_id, document_name="Lease.md")
        world = World(service, data_dir, model, old, viewed, new, status)
        world.set_status(ready["Slow.md"], "processing")
        yield world


async def reach(chat: Conversation, state: State) -> MatterContext | None:
    """Brings the conversation into a state; returns what it then knows."""
    world = chat.world
    if state is State.NOTHING:
        return None
    if state is State.MATTER:
        await chat.say(world.old)
        return world.old
    await chat.say(world.old_document)
    if state is State.DOCUMENT:
        return world.old_document
    final = await chat.say(replace(world.old, document_id=UNKNOWN_ID, document_name="Gone.md"))
    assert problem_of(final) is ContextProblem.DOCUMENT_NOT_FOUND
    return world.old


@pytest.mark.parametrize(("state", "what", "way"), list(product(State, Brought, Way)))
async def test_a_turn_and_the_next_are_about_what_the_message_brings_never_about_what_was_known_before(
    world: World, state: State, what: Brought, way: Way
) -> None:
    chat = Conversation(world, way)
    known = await reach(chat, state)
    problem, about = {
        Brought.NONE: (None if known else ContextProblem.MATTER_REQUIRED, known),
        Brought.MATTER: (None, world.new),
        Brought.DOCUMENT: (None, world.status[Brought.DOCUMENT]),
        Brought.UNKNOWN_MATTER: (ContextProblem.MATTER_NOT_FOUND, None),
        Brought.MALFORMED_MATTER: (ContextProblem.MATTER_NOT_FOUND, None),
        Brought.UNKNOWN_DOCUMENT: (ContextProblem.DOCUMENT_NOT_FOUND, world.new),
        Brought.PROCESSING: (ContextProblem.DOCUMENT_PROCESSING, world.status[Brought.PROCESSING]),
        Brought.FAILED: (ContextProblem.DOCUMENT_FAILED, world.status[Brought.FAILED]),
        Brought.UNREADABLE: (
            ContextProblem.MATTER_NOT_FOUND if way is Way.TYPED else ContextProblem.CONTEXT_UNCLEAR,
            None,
        ),
    }[what]
    calls = len(world.model.payloads)
    if what is Brought.NONE:
        final = await chat.say(None)
    elif what is Brought.UNREADABLE and way is not Way.TYPED:
        final = await chat.say(None, marker=f'[CONTEXT] The user has selected matter "{world.new.matter_name}".')
    else:
        final = await chat.say(world.brought(what))
    assert problem_of(final) is problem
    chat.is_about(final, about, calls)

    for _ in range(2):  # the next turn, and the one after it
        calls = len(world.model.payloads)
        final = await chat.say(None)
        unready = {ContextProblem.DOCUMENT_PROCESSING, ContextProblem.DOCUMENT_FAILED}
        still = problem if problem in unready else None
        assert problem_of(final) is (still if about else ContextProblem.MATTER_REQUIRED)
        chat.is_about(final, about, calls)
    if way is not Way.HISTORY:
        request = sessions_pb2.GetSessionRequest(session_id=chat.session_id)
        assert context_of((await world.service.sessions.GetSession(request)).session) == about


@pytest.mark.parametrize("what", Brought)
@pytest.mark.parametrize("way", [Way.TYPED, Way.MARKER])
async def test_invoke_and_preview_are_about_the_same_as_chat(world: World, what: Brought, way: Way) -> None:
    told = Conversation(world, way)
    await reach(told, State.DOCUMENT)
    message, typed = QUESTION, None
    if what is not Brought.NONE:
        context = world.brought(what)
        if way is Way.TYPED:
            typed = context_pb2.MatterContext(matter_id=context.matter_id, document_id=context.document_id)
            typed.matter_name = context.matter_name
        else:
            message = f"{render_marker(context)}\n{QUESTION}"
    shown = await world.service.sessions.PreviewRequestContext(
        sessions_pb2.PreviewRequestContextRequest(session_id=told.session_id, message=message, matter_context=typed)
    )
    before = await world.service.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id=told.session_id))
    assert context_of(before.session) == world.old_document, "a preview stores nothing"
    request = chat_pb2.ChatRequest(message=message, matter_context=typed, session_id=told.session_id, options=UNCACHED)
    invoked = (await world.service.chat.Invoke(request)).final_state
    other = Conversation(world, way)
    await reach(other, State.DOCUMENT)
    request.session_id = other.session_id
    chatted = final_of([event async for event in world.service.chat.Chat(request)])
    assert (problem_of(invoked), invoked.message) == (problem_of(chatted), chatted.message)
    expected = context_of(chatted.request_context)
    assert context_of(invoked.request_context) == context_of(shown.request_context) == expected


@pytest.mark.parametrize("way", [Way.MARKER, Way.HISTORY])
@pytest.mark.parametrize("what", [what for what in Brought if what is not Brought.NONE])
async def test_a_message_that_is_only_a_marker_counts_as_much(world: World, what: Brought, way: Way) -> None:
    chat = Conversation(world, way)
    await reach(chat, State.DOCUMENT)
    noted = await chat.say(world.brought(what), message="")
    assert bool(problem_of(noted)) == (what not in {Brought.MATTER, Brought.DOCUMENT})
    assert problem_of(noted) or noted.message.startswith("Noted: ")
    expected = context_of(noted.request_context)
    assert expected != world.old_document
    assert context_of((await chat.say(None)).request_context) == expected


def forms(context: MatterContext) -> list[str]:
    """The marker of a context in forms that have one reading; what is said follows each at once."""
    canonical = render_marker(context)
    return [
        f"{canonical} ",
        f"{canonical}\r\n\r\n",
        f" \n{canonical}\n",
        canonical.replace("[CONTEXT]", "[Context]") + "\n",
        canonical.replace("\n", " ") + "\n",
        canonical.replace("\n", "\n  ") + "\n",
        canonical.replace(context.matter_name, context.matter_name.replace("", "\n")) + "\n",
    ]


@pytest.mark.parametrize("form", range(7))
@pytest.mark.parametrize("way", [Way.MARKER, Way.HISTORY])
async def test_a_marker_in_another_form_counts_as_much_and_no_part_of_it_is_taken_for_the_question(
    world: World, form: int, way: Way
) -> None:
    for context in (world.new, world.status[Brought.DOCUMENT]):
        chat = Conversation(world, way)
        await reach(chat, State.DOCUMENT)
        for message in (forms(context)[form] + QUESTION, QUESTION):
            calls = len(world.model.payloads)
            chat.is_about(await chat.say(None, message=message), context, calls)


async def test_the_question_about_an_unreadable_marker_says_what_is_wrong_and_shows_the_form(world: World) -> None:
    for marker, said in {
        "[context] please": "I can read no matter_id in it",
        f"{render_marker(world.new)}\n{render_marker(world.old)}": "it names more than one matter_id",
        f"{render_marker(world.new)}\nThe user is currently viewing document Loan": "I cannot read which document",
    }.items():
        final = await Conversation(world, Way.MARKER).say(None, marker=marker)
        assert problem_of(final) is ContextProblem.CONTEXT_UNCLEAR
        assert final.display_message
        assert said in final.message
        assert (
            '[CONTEXT] The user has selected matter "name of the matter" (matter_id: id of the matter).'
            in final.message
        )
        assert final.messages[-2].content == f"{marker}\n{QUESTION}", "what was typed is kept"


@pytest.mark.parametrize("way", [Way.MARKER, Way.HISTORY])
async def test_a_marker_in_disguise_never_leaves_the_question_to_the_old_context(world: World, way: Way) -> None:
    canonical = render_marker(world.new)
    for marker in (
        *(canonical.replace("[CONTEXT]", tag) for tag in ("**[CONTEXT]**", "［CONTEXT］", "[ Context ]", "[KONTEXT]")),
        *(canonical.replace("[CONTEXT]", tag) for tag in ("", "[CONTXT]", "&#91;CONTEXT&#93;", "User: [CONTEXT]")),
        "> [CONTEXT] Akte: New",
        f'<context matter_id="{world.new.matter_id}"/>',
    ):
        chat = Conversation(world, way)
        await reach(chat, State.DOCUMENT)
        calls = len(world.model.payloads)
        final = await chat.say(None, marker=marker)
        assert problem_of(final) is ContextProblem.CONTEXT_UNCLEAR
        chat.is_about(final, None, calls)
        chat.is_about(await chat.say(None), None, calls)


async def test_a_typed_context_stands_whatever_the_marker_beside_it(world: World) -> None:
    chat = Conversation(world, Way.TYPED)
    final = await chat.say(world.new, message=f"[CONTEXT] {QUESTION}")
    assert (problem_of(final), context_of(final.request_context)) == (None, world.new)
    final = await chat.say(world.status[Brought.DOCUMENT], message=f"{render_marker(world.old)}\n{QUESTION}")
    assert context_of(final.request_context) == world.status[Brought.DOCUMENT]


async def test_an_empty_message_makes_no_session_and_leaves_its_context_in_one_that_exists(world: World) -> None:
    chat = Conversation(world, Way.TYPED)
    blank = chat_pb2.ChatRequest(message=" \n", session_id=chat.session_id, matter_context=typed_matter(world.new))
    assert (await world.service.chat.Invoke(blank)).final_state.exit_reason == turns_pb2.EXIT_REASON_EMPTY_INPUT
    listed = await world.service.sessions.ListSessions(sessions_pb2.ListSessionsRequest(page_size=1000))
    assert chat.session_id not in [session.session_id for session in listed.sessions]
    await reach(chat, State.DOCUMENT)
    assert (await world.service.chat.Invoke(blank)).final_state.exit_reason == turns_pb2.EXIT_REASON_EMPTY_INPUT
    assert context_of((await chat.say(None)).request_context) == world.new
    blank.matter_context.matter_id = UNKNOWN_ID
    await world.service.chat.Invoke(blank)
    assert problem_of(await chat.say(None)) is ContextProblem.MATTER_REQUIRED


def typed_matter(context: MatterContext) -> context_pb2.MatterContext:
    return context_pb2.MatterContext(matter_id=context.matter_id, matter_name=context.matter_name)


@pytest.fixture(params=list(Way))
def way(request: pytest.FixtureRequest) -> Way:
    return Way(request.param)


async def viewing(world: World, way: Way) -> tuple[Conversation, MatterContext]:
    """A conversation about a document of a matter of its own, which nothing has been asked about yet."""
    matter_id = await world.service.create_matter("Own", Lease=AGREEMENT)
    [lease] = await world.service.wait_until_ready(matter_id)
    return Conversation(world, way), MatterContext(matter_id, "Own", lease.document_id, "Lease.md")


async def test_a_document_that_was_being_processed_is_looked_into_once_it_is_ready(world: World, way: Way) -> None:
    chat, viewed = await viewing(world, way)
    world.set_status(viewed.document_id, "processing")
    assert problem_of(await chat.say(viewed)) is ContextProblem.DOCUMENT_PROCESSING
    world.set_status(viewed.document_id, "ready")
    final = await chat.say(None)
    assert (problem_of(final), context_of(final.request_context)) == (None, viewed)


@pytest.mark.parametrize("deleted", ["document", "matter"])
async def test_what_has_been_deleted_since_is_told_once_and_then_gone_on_without(
    world: World, way: Way, deleted: str
) -> None:
    chat, viewed = await viewing(world, way)
    said = await chat.say(viewed, message=QUESTION if way is Way.TYPED else "")
    assert context_of(said.request_context) == viewed
    if deleted == "document":
        request = matters_pb2.DeleteDocumentRequest(matter_id=viewed.matter_id, document_id=viewed.document_id)
        await world.service.matters.DeleteDocument(request)
        problem, following, left = (
            ContextProblem.DOCUMENT_NOT_FOUND,
            None,
            replace(viewed, document_id="", document_name=""),
        )
    else:
        await world.service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=viewed.matter_id))
        problem, following, left = ContextProblem.MATTER_NOT_FOUND, ContextProblem.MATTER_REQUIRED, None
    final = await chat.say(None)
    assert (problem_of(final), context_of(final.request_context)) == (problem, left)
    for _ in range(2):
        final = await chat.say(None)
        assert (problem_of(final), context_of(final.request_context)) == (following, left)


async def test_another_context_after_a_problem_is_taken_at_once(world: World, way: Way) -> None:
    chat = Conversation(world, way)
    for what in (Brought.UNKNOWN_MATTER, Brought.UNKNOWN_DOCUMENT, Brought.FAILED, Brought.UNREADABLE):
        assert problem_of(await chat.say(world.brought(what)))
        assert context_of((await chat.say(world.old)).request_context) == world.old
        assert context_of((await chat.say(None)).request_context) == world.old
