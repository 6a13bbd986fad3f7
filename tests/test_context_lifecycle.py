"""The lifecycle table of the agent context contract, row by row, over the messages of a session: what the service knows
of the matter and the document on view, and where the agent looks."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, context_pb2, sessions_pb2, turns_pb2
from proviso_service.context.marker import render_marker
from proviso_service.context.model import MatterContext
from tests.support.running import RunningService, final_of, input_of, new_id, running_service

QUESTION = "Which law governs the agreement?"
LEASE = "# Lease\n\n## 1. Governing Law\n\nThis Agreement is governed by the laws of the State of Oregon.\n"
LOAN = "# Loan\n\n## 1. Governing Law\n\nThis Agreement is governed by the laws of the State of Ohio.\n"
UNCACHED = chat_pb2.ChatOptions(disable_cache=True)


class Form(StrEnum):
    """How a message says what is on view."""

    TYPED = "typed"
    MARKER = "marker"


@dataclass(frozen=True)
class Page:
    """What a person looks at: a matter, and maybe a document of it."""

    matter_id: str
    matter_name: str
    document_id: str = ""
    document_name: str = ""

    @property
    def typed(self) -> context_pb2.MatterContext:
        return context_pb2.MatterContext(
            matter_id=self.matter_id,
            matter_name=self.matter_name,
            document_id=self.document_id,
            document_name=self.document_name,
        )

    @property
    def marker(self) -> str:
        return render_marker(MatterContext(self.matter_id, self.matter_name, self.document_id, self.document_name))

    def said(self, form: Form) -> dict[str, Any]:
        """The fields of a message that is written on this page."""
        if form is Form.TYPED:
            return {"message": QUESTION, "matter_context": self.typed}
        return {"message": f"{self.marker}\n{QUESTION}"}


@dataclass(frozen=True)
class Matter:
    """The pages of a matter with two documents."""

    overview: Page
    lease: Page
    loan: Page


async def new_matter(service: RunningService, name: str) -> Matter:
    matter_id = await service.create_matter(name, Lease=LEASE, Loan=LOAN)
    ids = {document.filename: document.document_id for document in await service.wait_until_ready(matter_id)}
    lease, loan = (Page(matter_id, name, ids[filename], filename) for filename in ("Lease.md", "Loan.md"))
    return Matter(Page(matter_id, name), lease, loan)


@dataclass(frozen=True)
class Conversation:
    """A session's messages, and what comes of them."""

    service: RunningService
    session_id: str

    async def ask(self, expected: Page, **message: Any) -> None:
        """Sends a message; the turn, the session and the agent's search are about the expected page."""
        request = chat_pb2.ChatRequest(session_id=self.session_id, options=UNCACHED, **message)
        events = [event async for event in self.service.chat.Chat(request)]
        final = final_of(events)
        assert final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
        assert final.request_context.matter_context == expected.typed
        assert final.messages[-2].content == QUESTION, "what is kept of the message is what was typed"
        found = await self.service.sessions.GetSession(sessions_pb2.GetSessionRequest(session_id=self.session_id))
        assert found.session.matter_context == expected.typed
        looked = [input_of(event).get("document_ids") for event in events if event.WhichOneof("event") == "tool_start"]
        assert looked == [[expected.document_id] if expected.document_id else None] * len(looked) != []
        names = {citation.filename for citation in final.citations}
        assert names == ({expected.document_name} if expected.document_id else {"Lease.md", "Loan.md"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    async with running_service(tmp_path_factory.mktemp("lifecycle") / "data", models_dir) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matter(service: RunningService) -> Matter:
    return await new_matter(service, 'Smith v. "Jones"')


@pytest.fixture(params=list(Form))
def form(request: pytest.FixtureRequest) -> Form:
    return Form(request.param)


module_loop = pytest.mark.asyncio(loop_scope="module")


@module_loop
async def test_opens_matter_overview(service: RunningService, matter: Matter, form: Form) -> None:
    await Conversation(service, new_id()).ask(matter.overview, **matter.overview.said(form))


@module_loop
async def test_opens_document_viewer(service: RunningService, matter: Matter, form: Form) -> None:
    chat = Conversation(service, new_id())
    await chat.ask(matter.overview, **matter.overview.said(form))
    await chat.ask(matter.lease, **matter.lease.said(form))


@module_loop
async def test_switches_to_different_document(service: RunningService, matter: Matter, form: Form) -> None:
    chat = Conversation(service, new_id())
    await chat.ask(matter.lease, **matter.lease.said(form))
    await chat.ask(matter.loan, **matter.loan.said(form))


@module_loop
async def test_returns_to_matter_overview(service: RunningService, matter: Matter, form: Form) -> None:
    chat = Conversation(service, new_id())
    await chat.ask(matter.lease, **matter.lease.said(form))
    await chat.ask(matter.overview, **matter.overview.said(form))
    await chat.ask(matter.overview, message=QUESTION)


@module_loop
async def test_new_chat_message_on_the_same_page(service: RunningService, matter: Matter, form: Form) -> None:
    chat = Conversation(service, new_id())
    for page in (matter.overview, matter.lease, matter.loan):
        await chat.ask(page, **page.said(form))
        await chat.ask(page, message=QUESTION)


@module_loop
async def test_another_matter_takes_the_place_of_matter_and_document(service: RunningService, matter: Matter) -> None:
    other = await new_matter(service, "Northwind")
    chat = Conversation(service, new_id())
    await chat.ask(matter.lease, **matter.lease.said(Form.TYPED))
    await chat.ask(other.overview, **other.overview.said(Form.MARKER))
    await chat.ask(other.overview, message=QUESTION)


@module_loop
async def test_sessions_know_nothing_of_each_others_pages(service: RunningService, matter: Matter) -> None:
    one, other = Conversation(service, new_id()), Conversation(service, new_id())
    await one.ask(matter.lease, **matter.lease.said(Form.TYPED))
    await other.ask(matter.loan, **matter.loan.said(Form.MARKER))
    await one.ask(matter.lease, message=QUESTION)
    await other.ask(matter.loan, message=QUESTION)


async def test_the_last_known_page_outlives_the_service(tmp_path: Path, models_dir: Path, form: Form) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter = await new_matter(service, "Smith v. Jones")
        await Conversation(service, "reads").ask(matter.loan, **matter.loan.said(form))
        await Conversation(service, "returned").ask(matter.lease, **matter.lease.said(form))
        await Conversation(service, "returned").ask(matter.overview, **matter.overview.said(form))
    async with running_service(tmp_path / "data", models_dir) as service:
        await Conversation(service, "reads").ask(matter.loan, message=QUESTION)
        await Conversation(service, "returned").ask(matter.overview, message=QUESTION)
        await Conversation(service, "reads").ask(matter.lease, **matter.lease.said(form))
        await Conversation(service, "reads").ask(matter.lease, message=QUESTION)
