"""What the embedded chat model does for questions as people ask them: over the whole service, on the samples."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, context_pb2, turns_pb2
from proviso_service.cli.demo import SAMPLES
from tests.support.running import RunningService, final_of, input_of, running_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOST_CALLS = 3


@dataclass(frozen=True)
class Asked:
    events: Sequence[chat_pb2.AgentEvent]

    @property
    def final(self) -> chat_pb2.FinalState:
        return final_of(list(self.events))

    @property
    def quoted(self) -> set[str]:
        return {citation.filename for citation in self.final.citations}

    def calls(self, tool: str) -> list[dict[str, object]]:
        started = [event for event in self.events if event.WhichOneof("event") == "tool_start"]
        assert len(started) <= MOST_CALLS
        return [input_of(event) for event in started if event.tool_start.tool == tool]


@dataclass(frozen=True)
class Matter:
    service: RunningService
    matter_id: str

    async def ask(self, question: str, session_id: str = "") -> Asked:
        context = context_pb2.MatterContext(matter_id=self.matter_id)
        request = chat_pb2.ChatRequest(message=question, matter_context=context, session_id=session_id)
        asked = Asked([event async for event in self.service.chat.Chat(request)])
        assert asked.final.exit_reason == turns_pb2.EXIT_REASON_COMPLETED, asked.final
        assert not asked.final.omitted_sentences, asked.final.message
        return asked


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matter(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[Matter]:
    async with running_service(tmp_path_factory.mktemp("data"), models_dir) as service:
        matter_id = await service.create_matter()
        for number, path in enumerate(sorted(SAMPLES.iterdir())):
            # As scans are named: nothing of the name tells what a document is.
            await service.upload(matter_id, f"scan-{number}{path.suffix}", path.read_bytes())
        await service.wait_until_ready(matter_id)
        yield Matter(service, matter_id)


SCANS = {path.stem: f"scan-{number}{path.suffix}" for number, path in enumerate(sorted(SAMPLES.iterdir()))}


@pytest.mark.parametrize(
    ("question", "document", "said"),
    [
        ("Which law applies to our deal with Halcyon?", "mutual-nda", "law"),
        ("How much notice must Ingrid Solheim give?", "employment-agreement", "notice"),
        ("How long does Sumire have to acknowledge an order?", "supply-agreement", "five business days"),
    ],
)
async def test_a_document_is_known_by_its_parties(matter: Matter, question: str, document: str, said: str) -> None:
    asked = await matter.ask(question)
    assert asked.quoted == {SCANS[document]}
    assert said in asked.final.message


async def test_two_documents_that_are_named_are_both_asked(matter: Matter) -> None:
    asked = await matter.ask("How do the Halcyon and the Sumire agreements differ on the governing law?")
    assert asked.quoted == {SCANS["mutual-nda"], SCANS["supply-agreement"]}
    [call] = asked.calls("isaacus_extract")
    assert call["each_document"] is True


async def test_all_places_of_a_document_are_listed(matter: Matter) -> None:
    asked = await matter.ask("On what grounds can the supply agreement with Sumire be terminated? All of them, please.")
    [call] = asked.calls("isaacus_extract")
    assert call["each_document"] is True
    head, *places = asked.final.message.splitlines()
    assert head.startswith("These are the places that I found")
    assert len(places) >= 3
    assert asked.quoted == {SCANS["supply-agreement"]}


async def test_which_documents_is_answered_by_one_call_for_all(matter: Matter) -> None:
    asked = await matter.ask("Which of our contracts are governed by the laws of England?")
    [call] = asked.calls("isaacus_extract")
    assert call["each_document"] is True
    assert "document_ids" not in call
    head = asked.final.message.splitlines()[0]
    assert re.fullmatch(r"(?:At least )?\d of 8 documents:|I found no document that says so for certain.*", head)
    assert SCANS["commercial-lease"] in asked.quoted
    assert SCANS["supply-agreement"] not in asked.quoted, "it is governed by the laws of Singapore"


async def test_which_documents_is_counted_in_the_language_of_the_question(matter: Matter) -> None:
    asked = await matter.ask("Welche unserer Verträge unterliegen dem Recht von England?")
    head = asked.final.message.splitlines()[0]
    assert re.fullmatch(r"(?:Mindestens )?\d von 8 Dokumenten:|Ich habe kein Dokument gefunden, .*:", head)


async def test_which_documents_have_none_is_answered_by_their_names(matter: Matter) -> None:
    asked = await matter.ask("Which of our contracts do not say which law governs them?")
    first, _, others = asked.final.message.partition("\n\n")
    assert not asked.calls("list_matter_documents")
    assert re.match(r"I found nothing certain on it in \d of 8 documents: |Each of the 8 documents", first)
    assert SCANS["supply-agreement"] not in first or not others


async def test_the_longest_period_is_found_among_the_documents(matter: Matter) -> None:
    asked = await matter.ask("Which contract has the longest notice period for termination?")
    first, _, others = asked.final.message.partition("\n\n")
    assert re.match(r"scan-\d\.\w+ ", first)
    assert others.startswith("Others that state one:")


async def test_what_is_asked_of_each_agreement_is_asked_of_each(matter: Matter) -> None:
    asked = await matter.ask("What notice must be given to terminate each agreement?")
    [call] = asked.calls("isaacus_extract")
    assert call["each_document"] is True
    assert re.match(r"(?:At least )?[4-8] of 8 documents:", asked.final.message)
    assert {SCANS["supply-agreement"], SCANS["services-agreement"]} <= asked.quoted


@pytest.mark.parametrize("question", ["What is due in each contract year?", "Who pays in every lease period?"])
async def test_each_year_of_a_contract_is_no_question_to_each(matter: Matter, question: str) -> None:
    asked = await matter.ask(question)
    assert not any("each_document" in call for call in asked.calls("isaacus_extract"))


async def test_what_is_not_certain_is_said_to_be_not_certain(matter: Matter) -> None:
    asked = await matter.ask("Are we allowed to bring our pets to the premises of the landlord?")
    assert asked.final.message.startswith("I found no")


@pytest.mark.parametrize("question", ['What is an "Epidemic Failure"?', 'What do they mean by "Epidemic Failure"?'])
async def test_a_defined_term_is_answered_by_its_definition(matter: Matter, question: str) -> None:
    asked = await matter.ask(question)
    assert "means the failure of three per cent or more" in asked.final.message
    assert asked.quoted == {SCANS["supply-agreement"]}


@pytest.mark.parametrize("message", ["{IS termination clause}", "Please run the IQL query: `{IS termination clause}`"])
async def test_a_query_that_is_typed_is_run(matter: Matter, message: str) -> None:
    asked = await matter.ask(message)
    assert asked.calls("isaacus_iql") == [{"query": "{IS termination clause}"}]
    assert "satisf" in asked.final.message


@pytest.mark.parametrize("document", SCANS)
async def test_each_sample_is_shown_from_its_beginning(matter: Matter, document: str) -> None:
    asked = await matter.ask(f"Show me {SCANS[document]}.")
    assert asked.quoted == {SCANS[document]}
    assert "I quote only its beginning." in asked.final.message


async def test_a_faulty_query_shows_its_fault_under_the_caret_with_remedies(matter: Matter) -> None:
    asked = await matter.ask("{IS terminaton clause}")
    assert "{IS terminaton clause}\n    ^\n" in asked.final.message
    assert "Use the template {IS termination clause}" in asked.final.message
    assert not asked.quoted


async def test_what_is_left_out_can_be_asked_for(matter: Matter) -> None:
    seen: list[set[tuple[str, int]]] = []
    left = 1
    message = "Find all termination clauses"
    while left:
        asked = await matter.ask(message, "s-more")
        seen.append({(one.document_id, one.start) for one in asked.final.citations})
        more = re.search(r'(\d+) more passages? not quoted here; say "show more"', asked.final.message)
        left, message = int(more[1]) if more else 0, "show more"
        assert len(seen) < 20
    assert len(seen) > 1
    assert all(not first & second for first, second in pairwise(seen))


async def test_a_follow_up_keeps_the_document(matter: Matter) -> None:
    await matter.ask("Which law applies to our deal with Halcyon?", "s-follow")
    asked = await matter.ask("And how long is the term?", "s-follow")
    assert asked.quoted == {SCANS["mutual-nda"]}


async def test_a_follow_up_about_another_document_keeps_what_was_asked(matter: Matter) -> None:
    await matter.ask("Which law applies to our deal with Halcyon?", "s-other")
    asked = await matter.ask("and the one with Sumire?", "s-other")
    assert asked.quoted == {SCANS["supply-agreement"]}
    assert "Singapore" in asked.final.message


async def test_what_was_asked_is_compared_with_another_document(matter: Matter) -> None:
    await matter.ask("Which law applies to our deal with Halcyon?", "s-compare")
    asked = await matter.ask("And how does that compare with the Sumire contract?", "s-compare")
    assert asked.quoted == {SCANS["mutual-nda"], SCANS["supply-agreement"]}
    assert "Singapore" in asked.final.message


async def test_the_larger_of_two_figures_is_named_with_its_quote(matter: Matter) -> None:
    asked = await matter.ask("Which has the later date, our deal with Halcyon or the contract with Sumire?")
    assert asked.quoted == {SCANS["mutual-nda"], SCANS["supply-agreement"]}
    assert re.search(r"Of these, the later date is “[^”]*20\d\d” \[\d\] in scan-", asked.final.message)


async def test_two_questions_at_once_are_both_answered(matter: Matter) -> None:
    asked = await matter.ask(
        "How long does Sumire have to acknowledge an order, and which law governs the supply agreement?"
    )
    assert [call["question"] for call in asked.calls("isaacus_extract")] == [
        "How long does Sumire have to acknowledge an order",
        "which law governs the supply agreement?",
    ]
    assert "five business days" in asked.final.message
    assert "Singapore" in asked.final.message


async def test_how_often_something_may_be_done_is_no_count_of_words(matter: Matter) -> None:
    asked = await matter.ask("How often may the landlord of the Avonquay lease inspect the premises?")
    assert asked.calls("isaacus_extract")
    assert "all the words" not in asked.final.message


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Was passiert mit dem Haustier des Mieters in der Wohnung von Avonquay?", "Ich habe keine Stelle gefunden"),
        ("Que se passe-t-il avec les animaux dans les locaux d'Avonquay ?", "Je n'ai pas trouv"),
        ("¿Qué pasa con los animales del inquilino en los locales de Avonquay?", "No he encontrado"),
        ("Che cosa succede con gli animali nei locali di Avonquay?", "Non ho trovato"),
    ],
)
async def test_questions_in_other_languages_are_looked_up_and_answered_in_them(
    matter: Matter, question: str, said: str
) -> None:
    asked = await matter.ask(question)
    assert asked.calls("isaacus_extract")
    assert asked.final.message.startswith(said) or not asked.quoted
