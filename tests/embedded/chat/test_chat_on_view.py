"""The embedded chat model does not leave the document on view silently: over the whole service, on the samples."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_service.cli.demo import SAMPLES
from tests.support.running import RunningService, final_of, input_of, running_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOT_ENOUGH = "enough information"
NAMES = sorted(path.name for path in SAMPLES.iterdir())
LOOKS_IN_DOCUMENTS = frozenset({"isaacus_search", "isaacus_iql", "isaacus_extract", "isaacus_classify"})
# Nine questions for clauses: as yes/no questions, as searches for passages, and in the forms that IQL answers.
FOR_CLAUSES = (
    "Is there an exclusivity clause?",
    "Does this agreement have a most favoured nation clause?",
    "Is there a right of first refusal here?",
    "Has it got an arbitration clause?",
    "Find the change of control clause.",
    "Find passages about escrow",
    "Find clauses obligating the Landlord",
    "Find unilateral clauses that limit liability",
    "What types of clauses are there?",
)


@dataclass(frozen=True)
class Asked:
    """A turn with a document on view."""

    viewed: str
    viewed_id: str
    events: Sequence[chat_pb2.AgentEvent]

    @property
    def final(self) -> chat_pb2.FinalState:
        return final_of(list(self.events))

    @property
    def first_sentence(self) -> str:
        """With DOCUMENT for the name of the document on view, whose full stops end no sentence."""
        return re.split(r"(?<=[.?!])\s", self.final.message.replace(self.viewed, "DOCUMENT"))[0]

    @property
    def looked_elsewhere(self) -> bool:
        started = [event for event in self.events if event.WhichOneof("event") == "tool_start"]
        searches = [input_of(event) for event in started if event.tool_start.tool in LOOKS_IN_DOCUMENTS]
        return any(given.get("document_ids") != [self.viewed_id] for given in searches)

    @property
    def quoted(self) -> set[str]:
        return {citation.document_id for citation in self.final.citations}

    @property
    def is_complete(self) -> bool:
        """Whether the turn was answered; a search that finds no passage at all ends it otherwise."""
        found_nothing = turns_pb2.EXIT_CAUSE_NOTHING_FOUND
        return self.final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED or self.final.exit_cause == found_nothing

    @property
    def is_absence(self) -> bool:
        """Whether it says that the document on view has none, and quotes nothing."""
        return (
            bool(re.match(r"I found no(?:thing)? .*DOCUMENT, the document on view\b", self.first_sentence))
            and not self.quoted
        )


class Matter:
    def __init__(self, service: RunningService, matter_id: str, ids: dict[str, str]) -> None:
        self.service = service
        self.matter_id = matter_id
        self.ids = ids

    async def ask(self, question: str, viewed: str, session_id: str = "") -> Asked:
        context = context_pb2.MatterContext(matter_id=self.matter_id, document_id=self.ids[viewed])
        request = chat_pb2.ChatRequest(message=question, matter_context=context, session_id=session_id)
        return Asked(viewed, self.ids[viewed], [event async for event in self.service.chat.Chat(request)])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matter(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[Matter]:
    async with running_service(tmp_path_factory.mktemp("data"), models_dir) as service:
        matter_id = await service.create_matter()
        for path in sorted(SAMPLES.iterdir()):
            await service.upload(matter_id, path.name, path.read_bytes())
        documents = await service.wait_until_ready(matter_id)
        yield Matter(service, matter_id, {one.filename: one.document_id for one in documents})


@pytest.mark.parametrize("question", FOR_CLAUSES)
@pytest.mark.parametrize("viewed", NAMES)
async def test_a_question_for_a_clause_stays_in_the_document_on_view(
    matter: Matter, viewed: str, question: str
) -> None:
    asked = await matter.ask(question, viewed)
    assert not asked.looked_elsewhere
    assert asked.is_complete
    assert asked.quoted == {asked.viewed_id} or asked.is_absence, asked.final.message
    assert NOT_ENOUGH not in asked.final.message


@pytest.mark.parametrize(
    ("question", "viewed"),
    [
        ("What is the royalty under this agreement?", "commercial-lease.md"),
        ("How much is the security deposit in this contract?", "mutual-nda.md"),
        ("What does it say about escrow?", "commercial-lease.md"),
        ("Who may sublet the premises under this agreement?", "supply-agreement.md"),
        ("How many times does this document mention royalties?", "mutual-nda.md"),
        ("Show me section 99", "commercial-lease.md"),
        ("Which is longer, the probation period or the royalty period in this document?", "mutual-nda.md"),
    ],
)
async def test_what_this_document_does_not_have_is_said_so(matter: Matter, question: str, viewed: str) -> None:
    asked = await matter.ask(question, viewed)
    assert not asked.looked_elsewhere
    assert asked.is_absence, asked.final.message
    assert asked.is_complete


@pytest.mark.parametrize(
    ("question", "viewed"),
    [
        ("How much is the security deposit?", "mutual-nda.md"),
        ("Who is the landlord?", "supply-agreement.md"),
        ("What is the probation period?", "commercial-lease.md"),
        ("What is the notice period for resignation?", "commercial-lease.md"),
        ("Which insurance must be maintained?", "mutual-nda.md"),
    ],
)
async def test_an_open_question_is_asked_of_the_others_once_it_is_said_that_this_one_has_none(
    matter: Matter, question: str, viewed: str
) -> None:
    asked = await matter.ask(question, viewed)
    if asked.quoted == {asked.viewed_id}:
        return
    assert asked.looked_elsewhere
    assert re.fullmatch(
        r"I found no(?:thing)? .*DOCUMENT, the document on view(; what follows comes from other documents"
        r"|, and none in the other documents of the matter)\.",
        asked.first_sentence,
    ), asked.final.message


ABSENT = (
    "What is the demurrage?",
    "Is there a demurrage?",
    "How much is the demurrage under this agreement?",
    "Find the demurrage clause.",
    "List all demurrage clauses",
    "How many demurrage clauses are there?",
    "Compare the demurrage clauses",
    "{This is a franchise clause.}",
    "Run the IQL query {This is a most favored nation clause.}",
)


@pytest.mark.parametrize("question", ABSENT)
async def test_what_no_document_has_is_said_of_the_one_on_view_and_is_no_failure(matter: Matter, question: str) -> None:
    asked = await matter.ask(question, "mutual-nda.md")
    assert asked.is_absence, asked.final.message
    assert asked.final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED
    assert not asked.final.exit_cause


@pytest.mark.parametrize("question", ABSENT)
async def test_in_a_matter_of_one_document_nothing_else_is_spoken_of(matter: Matter, question: str) -> None:
    path = SAMPLES / "mutual-nda.md"
    matter_id = await matter.service.create_matter("Alone")
    uploaded = await matter.service.upload(matter_id, path.name, path.read_bytes())
    await matter.service.wait_until_ready(matter_id)
    asked = await Matter(matter.service, matter_id, {path.name: uploaded.document_id}).ask(question, path.name)
    assert asked.is_absence, asked.final.message
    assert "other documents" not in asked.final.message
    assert asked.final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED


@pytest.mark.parametrize("answer", ["Yes, please.", "yes", "Look in the other documents", "And in the others?"])
async def test_the_offer_to_look_in_the_others_can_be_taken(matter: Matter, answer: str) -> None:
    session = f"offer {answer}"
    asked = await matter.ask("Is there a security deposit in this document?", "mutual-nda.md", session)
    assert asked.final.message.endswith("Shall I look in the other documents?")
    widened = await matter.ask(answer, "mutual-nda.md", session)
    assert matter.ids["commercial-lease.md"] in widened.quoted, widened.final.message


@pytest.mark.parametrize(
    "question",
    [
        "What happens in the case of late payment?",
        "Which documents must the Seller deliver?",
        "What documents must be handed over at the end?",
        "List all deliverables",
        "And the audit right?",
        "Escrow?",
        "notice period",
        "Could you tell me whether there is a break clause?",
        "Is there an insurance policy requirement?",
        "Is any prior agreement superseded?",
        "Does it supersede any other agreement?",
        "Which provisions mention subprocessors?",
        "How often does the word escrow appear?",
        "Compare the royalties in this agreement with the other agreements",
        "How do the probation periods differ?",
        "Find escrow clauses in all documents",
        "Gibt es ein Wettbewerbsverbot?",
        "Y a-t-il une clause d'exclusivit\u00e9 ?",
        "I'd like to know the royalty",
    ],
)
@pytest.mark.parametrize("viewed", ["commercial-lease.md", "statement-of-work-3.txt"])
async def test_no_wording_makes_the_answer_leave_the_document_on_view_silently(
    matter: Matter, viewed: str, question: str
) -> None:
    asked = await matter.ask(question, viewed)
    if asked.looked_elsewhere and asked.quoted and asked.viewed_id not in asked.quoted:
        assert re.match(r"I found no(?:thing)? .*DOCUMENT, the document on view\b", asked.first_sentence), (
            asked.final.message
        )
    assert "The matter has" not in asked.final.message


async def test_a_comparison_with_another_document_keeps_the_one_on_view(matter: Matter) -> None:
    asked = await matter.ask("Compare the governing law with the lease", "mutual-nda.md")
    assert asked.quoted == {matter.ids["mutual-nda.md"], matter.ids["commercial-lease.md"]}


@pytest.mark.parametrize(
    "question",
    [
        "license grant?",
        "List all license grant clauses",
        "How many license clauses are there?",
        "Does the contract limit the ability of a party to transfer the license being granted to a third party?",
    ],
)
async def test_a_subject_that_stands_in_the_name_of_another_document_does_not_lead_there(
    matter: Matter, question: str
) -> None:
    texts = {"Content_License": "The Licensor grants a license.", "Secrets": "The Recipient keeps the secrets."}
    matter_id = await matter.service.create_matter("Names", **texts)
    documents = await matter.service.wait_until_ready(matter_id)
    there = Matter(matter.service, matter_id, {one.filename: one.document_id for one in documents})
    asked = await there.ask(question, "Secrets.md")
    assert not asked.looked_elsewhere
    assert asked.quoted <= {asked.viewed_id}, asked.final.message
