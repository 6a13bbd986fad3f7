"""Results of tools tell which documents were searched and what became of the document on view, over the whole
service."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proviso_client.v1 import chat_pb2, context_pb2, tools_pb2
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from tests.support.running import RunningService, final_of, running_service, text_of
from tests.support.scripted_model import Call, ScriptedChatModel, calls, text
from tests.support.word_classifier import WordClassifier
from tests.support.word_extractor import WordExtractor

LEASE = "# Lease\n\n## 1. Rent\n\nThe Tenant pays the rent on the first day of each month.\n"
NDA = "# NDA\n\n## 1. Confidentiality\n\nThis confidentiality provision restricts the use of information.\n"
TERMS = "# Terms\n\n## 1. Indemnity\n\nOne party must indemnify the other.\n"


class OneCall:
    """A service whose model makes one call, which a test sets, and a matter with three documents."""

    def __init__(self, service: RunningService, model: ScriptedChatModel) -> None:
        self.service = service
        self._model = model
        self.matter_id = ""
        self.ids: dict[str, str] = {}

    async def fill(self) -> None:
        self.matter_id = await self.service.create_matter(Lease=LEASE, NDA=NDA, Terms=TERMS)
        self.ids = {one.filename: one.document_id for one in await self.service.wait_until_ready(self.matter_id)}

    async def told(
        self, tool: str, args: dict[str, Any], *, viewed: str, question: str, reply: str
    ) -> list[chat_pb2.AgentEvent]:
        """The events of a turn with the document on view, in which the model makes the call and then replies."""
        self._model.script[:] = [calls(Call(tool, json.dumps(args))), text(reply)]
        self._model.payloads.clear()
        context = context_pb2.MatterContext(matter_id=self.matter_id, document_id=self.ids.get(viewed, ""))
        request = chat_pb2.ChatRequest(message=question, matter_context=context)
        return [event async for event in self.service.chat.Chat(request)]

    async def ended(self, tool: str, args: dict[str, Any], *, viewed: str = "") -> chat_pb2.ToolEnd:
        """The end of the call in a turn with the document on view."""
        reply = "Which clause do you mean?"
        events = await self.told(tool, args, viewed=viewed, question="What is there?", reply=reply)
        [one] = [event.tool_end for event in events if event.WhichOneof("event") == "tool_end"]
        return one


@pytest.fixture
async def world(tmp_path: Path, models_dir: Path) -> AsyncIterator[OneCall]:
    model = ScriptedChatModel(script=[])
    async with running_service(
        tmp_path / "data",
        models_dir,
        chat_models=ChatModels(NamedChatModel("scripted", model)),
        classifier=WordClassifier(),
        extractor=WordExtractor(),
    ) as service:
        made = OneCall(service, model)
        await made.fill()
        yield made


ONLY_CONFIDENTIALITY = {"clause_types": ["Confidentiality"]}
CONFIDENTIALITY = {"query": "{IS confidentiality clause}"}


@pytest.mark.parametrize(
    ("tool", "args", "viewed", "searched", "on_view"),
    [
        ("isaacus_iql", CONFIDENTIALITY, "NDA.md", {"documents": 3, "of": 3}, (True, True)),
        ("isaacus_iql", CONFIDENTIALITY, "Lease.md", {"documents": 3, "of": 3}, (True, False)),
        (
            "isaacus_iql",
            CONFIDENTIALITY | {"document_ids": ["Lease.md"]},
            "Lease.md",
            {"documents": 1, "of": 3},
            (True, False),
        ),
        (
            "isaacus_iql",
            CONFIDENTIALITY | {"document_ids": ["NDA.md"]},
            "Lease.md",
            {"documents": 1, "of": 3, "filenames": ["NDA.md"]},
            (False, False),
        ),
        ("isaacus_search", {"query": "rent"}, "Lease.md", {"documents": 3, "of": 3}, (True, True)),
        (
            "isaacus_search",
            {"query": "indemnify", "document_ids": ["NDA.md", "Terms.md"]},
            "Lease.md",
            {"documents": 2, "of": 3, "filenames": ["NDA.md", "Terms.md"]},
            (False, False),
        ),
        (
            "isaacus_extract",
            {"question": "When is rent due?"},
            "Lease.md",
            {"documents": 3, "of": 3},
            (True, True),
        ),
        ("isaacus_classify", {}, "NDA.md", {"documents": 3, "of": 3}, (True, True)),
        (
            "isaacus_classify",
            {"clause_types": ["Confidentiality"]},
            "Terms.md",
            {"documents": 3, "of": 3},
            (True, False),
        ),
        ("get_document_text", {"filename": "Lease.md"}, "Lease.md", {"documents": 1, "of": 3}, (True, True)),
        (
            "get_document_text",
            {"filename": "NDA.md"},
            "Lease.md",
            {"documents": 1, "of": 3, "filenames": ["NDA.md"]},
            (False, False),
        ),
    ],
)
async def test_a_result_tells_what_was_searched_and_of_the_document_on_view(
    world: OneCall, tool: str, args: dict[str, Any], viewed: str, searched: dict[str, Any], on_view: tuple[bool, bool]
) -> None:
    if names := args.get("document_ids"):
        args = args | {"document_ids": [world.ids[name] for name in names]}
    ended = await world.ended(tool, args, viewed=viewed)
    shown, typed = json.loads(ended.output), json.loads(ended.output_json)
    assert shown["searched"] == typed["searched"] == searched
    name = {"document_id": world.ids[viewed], "filename": viewed}
    outcome = {"searched": on_view[0], "found": on_view[1]}
    assert typed["on_view"] == name | outcome
    assert shown["on_view"] == (outcome if on_view[1] else name | outcome)


async def test_a_list_of_documents_tells_which_one_is_on_view(world: OneCall) -> None:
    ended = await world.ended("list_matter_documents", {}, viewed="NDA.md")
    told = json.loads(ended.output)
    assert told["on_view"] == {"document_id": world.ids["NDA.md"], "filename": "NDA.md"}
    assert "searched" not in told


@pytest.mark.parametrize("tool", ["isaacus_search", "list_matter_documents"])
async def test_without_a_document_on_view_nothing_is_told(world: OneCall, tool: str) -> None:
    ended = await world.ended(tool, {"query": "rent"} if tool == "isaacus_search" else {})
    for told in (json.loads(ended.output), json.loads(ended.output_json)):
        assert not {"searched", "on_view"} & told.keys()


NOTHING_FOUND = {
    "Which duties of confidentiality has each party?": "I found nothing on this in Terms.md, the document on view; ",
    "Welche Pflichten zur Vertraulichkeit gibt es?": "In Terms.md, dem angezeigten Dokument, habe ich dazu nichts ",
    "Quelles sont les obligations de confidentialité ?": "Je n’ai rien trouvé à ce sujet dans Terms.md, le ",
    "¿Cuáles son todas las obligaciones?": "No he encontrado nada al respecto en Terms.md, el documento ",
}
ELSEWHERE = {
    "List all duties of confidentiality": "What follows does not come from Terms.md, the document on view, ",
    "Alle Pflichten zur Vertraulichkeit bitte": "Das Folgende stammt nicht aus Terms.md, dem angezeigten Dokument, ",
    "Compare toutes les obligations": "Ce qui suit ne provient pas de Terms.md, le document affiché, ",
    "Compara todas las obligaciones": "Lo que sigue no procede de Terms.md, el documento abierto, ",
}


@pytest.mark.parametrize(
    "reply",
    ["“restricts the use of information” [1]", "## Summary\n\n- “restricts the use of information” [1]"],
)
@pytest.mark.parametrize("question", [*NOTHING_FOUND, *ELSEWHERE])
async def test_a_model_that_quotes_another_document_silently_is_made_to_say_so_first(
    world: OneCall, question: str, reply: str
) -> None:
    lead = NOTHING_FOUND.get(question) or ELSEWHERE[question]
    only_there = {"document_ids": [world.ids["NDA.md"]]} if question in ELSEWHERE else {}
    events = await world.told(
        "isaacus_iql", CONFIDENTIALITY | only_there, viewed="Terms.md", question=question, reply=reply
    )
    final = final_of(events)
    assert final.message.startswith(lead)
    assert text_of(events) == final.message
    [citation] = final.citations
    cited = final.message[citation.answer_start : citation.answer_end]
    assert (citation.filename, cited) == ("NDA.md", "“restricts the use of information” [1]")


async def test_the_unary_tools_have_no_document_on_view(world: OneCall) -> None:
    request = tools_pb2.SearchRequest(matter_id=world.matter_id, query="rent")
    assert (await world.service.tools.Search(request)).results
