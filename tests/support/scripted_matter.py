"""A small matter held in memory, with the tools over it, and the loop that an agent drives them in."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from proviso_service.embedded import EmbeddedChatModel
from proviso_service.embedded.chat.phrases import content_stems, stems
from proviso_service.models import AnswerExtractor, Embedder, ModelPassage

MAX_TOOL_CALLS = 3
MAX_CYCLES = 6
MAX_RESULT_CHARS = 2_500
SYSTEM = SystemMessage("Answer questions about the documents of a matter.")

SERVICES = "Services Agreement.md"
NDA = "Mutual_NDA.pdf"
LEASE = "Office Lease.docx"

_TEXTS = {
    SERVICES: """
# Services Agreement
This Services Agreement (the "Agreement") is entered into as of March 1, 2024 by and between Northwind Analytics, Inc.
("Provider") and Harbor Freight Lines LLC ("Customer").
# 3. Fees
Customer shall pay Provider a monthly fee of $12,500. Invoices are due within thirty (30) days of receipt. Overdue
amounts bear interest at 1.5% per month.
# 5. Termination
Either party may terminate this Agreement for convenience upon sixty (60) days prior written notice. Either party may
terminate immediately if the other party materially breaches this Agreement and fails to cure the breach within fifteen
(15) days.
# 7. Limitation of Liability
Except for breaches of confidentiality, the total aggregate liability of either party shall not exceed $150,000. Neither
party is liable for indirect or consequential damages.
# 8. Indemnification
Provider shall indemnify, defend and hold harmless Customer from any third-party claim alleging that the Services
infringe intellectual property rights.
# 9. Governing Law
This Agreement is governed by the laws of the State of New York.
""",
    NDA: """
# Mutual Non-Disclosure Agreement
This Mutual Non-Disclosure Agreement is made on January 15, 2024 between Northwind Analytics, Inc. and Harbor Freight
Lines LLC.
# 2. Confidential Information
The recipient shall keep Confidential Information secret and shall use it only to evaluate the business relationship.
These obligations survive for three (3) years after disclosure.
# 4. Term and Termination
Either party may terminate this Agreement upon thirty (30) days written notice to the other party.
# 6. Governing Law
This Agreement shall be governed by the laws of the State of Delaware.
""",
    LEASE: """
# Office Lease
This Lease is made between Pier Nine Properties LP ("Landlord") and Northwind Analytics, Inc. ("Tenant") for the
premises at 9 Harbor Street.
# 2. Term
The term of this Lease begins on June 1, 2023 and ends on May 31, 2028. Tenant may renew the Lease once for a further
five years.
# 3. Rent
Tenant shall pay monthly rent of $8,000 in advance on the first day of each month.
# 4. Deposit
Tenant shall pay a security deposit of $24,000 when signing this Lease.
# 11. Insurance
Tenant shall carry commercial general liability insurance of at least $2,000,000 per occurrence.
# 14. Governing Law
This Lease is governed by the laws of the State of California.
""",
}

Chunks = tuple[tuple[str, str], ...]


def _chunks(text: str) -> Chunks:
    """Pairs of heading and text."""
    found = re.findall(r"^# (.+)\n((?:(?!#).+\n)+)", text, flags=re.MULTILINE)
    return tuple((heading, " ".join(body.split())) for heading, body in found)


DOCUMENTS: Mapping[str, Chunks] = {name: _chunks(text) for name, text in _TEXTS.items()}


def tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    return {
        "type": "function",
        "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": properties}},
    }


TOOLS = [
    tool("list_matter_documents", "name"),
    tool("get_document_text", "document_id", "filename", "start", "heading", "max_length"),
    tool("isaacus_search", "query", "max_results", "threshold", "max_per_document", "document_ids"),
]
EXTRACTION = tool("isaacus_extract", "question", "document_ids", "each_document", "skip")
_MAX_ANSWERS = 5


@dataclass
class ScriptedMatter:
    """Runs tool calls; with an `extractor` one of the tools extracts answers. `replies` stands in for a tool's own
    answer, by tool name."""

    embedder: Embedder
    extractor: AnswerExtractor | None = None
    documents: Mapping[str, Chunks] = field(default_factory=lambda: DOCUMENTS)
    statuses: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, str] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _refs: int = 0

    async def run(self, name: str, args: dict[str, Any]) -> str:
        self.calls.append((name, args))
        if name in self.replies:
            return self.replies[name]
        if name == "list_matter_documents":
            return json.dumps(self._listing())
        if name == "get_document_text":
            return json.dumps(self._text(args))
        if name == "isaacus_extract":
            return json.dumps(await self._extract(**args))
        return json.dumps(await self._search(**args))

    @property
    def tools(self) -> list[dict[str, Any]]:
        return [*TOOLS, EXTRACTION] if self.extractor else TOOLS

    def _ready(self) -> list[str]:
        return [name for name in self.documents if self.statuses.get(name, "ready") == "ready"]

    def _listing(self) -> dict[str, Any]:
        documents = [
            {
                "document_id": document_id(name),
                "filename": name,
                "file_type": name.rpartition(".")[2],
                "file_size": 1,
                "processing_status": self.statuses.get(name, "ready"),
                "uploaded_at": "2026-01-01T00:00:00Z",
            }
            for name in self.documents
        ]
        failed = sum(status == "failed" for status in self.statuses.values())
        ready = len(self._ready())
        summary = {
            "ready_for_search": ready,
            "still_processing": len(documents) - ready - failed,
            "failed": failed,
        }
        return {"total_count": len(documents), "summary": summary, "documents": documents, "truncated": False}

    def _text(self, args: dict[str, Any]) -> dict[str, Any]:
        name = next((one for one in self.documents if args.get("document_id") == document_id(one)), None)
        if name is None:
            return {"error": "Document not found", "hint": "Call list_matter_documents."}
        wanted = args.get("heading", "")
        chunks = [chunk for chunk in self.documents[name] if chunk[0].startswith(wanted)]
        if not chunks:
            return {"error": f"{name} has no such heading"}
        text = "\n\n".join(f"{heading}\n\n{body}" for heading, body in chunks)
        shown = text[: int(args.get("max_length", 2_000))]
        self._refs += 1
        return {
            "ref": self._refs,
            "document_id": document_id(name),
            "filename": name,
            "file_type": name.rpartition(".")[2],
            "character_count": len(text),
            "truncated": len(shown) < len(text),
            "start": 0,
            "section_path": [chunks[0][0]] if wanted else [],
            "text": shown,
        }

    async def _search(
        self,
        query: str,
        max_results: int = 5,
        threshold: float = 0.3,
        max_per_document: int = 0,
        document_ids: Sequence[str] = (),
    ) -> dict[str, Any]:
        names = [name for name in self._ready() if not document_ids or document_id(name) in document_ids]
        chunks = [(name, heading, body) for name in names for heading, body in self.documents[name]]
        if not chunks:
            return {"query": query, "total_found": 0, "results": [], "documents_matching": [], "truncated": False}
        vector = await self.embedder.embed_query(query)
        bodies = await self.embedder.embed_documents([f"{heading}. {body}" for _, heading, body in chunks])
        wanted = content_stems(query)
        holds = [bool(wanted) and wanted <= stems(f"{heading} {body}") for _, heading, body in chunks]
        similar = [float(one) for one in bodies @ vector]
        order = sorted(range(len(chunks)), key=lambda index: -(similar[index] + 0.2 * holds[index]))
        kept = [index for index in order if holds[index] or similar[index] >= threshold]
        if max_per_document:
            taken = [[chunks[other][0] for other in kept[:at]].count(chunks[index][0]) for at, index in enumerate(kept)]
            kept = [index for index, before in zip(kept, taken, strict=True) if before < max_per_document]
        kept = kept[:max_results]
        found = {
            "query": query,
            "total_found": len(kept),
            "documents_found": len({chunks[index][0] for index in kept}),
            "results": [self._result(chunks[index], similar[index], holds[index]) for index in kept],
            "documents_matching": [
                {"document_id": document_id(name), "filename": name, "passages": count}
                for name in names
                if (count := sum(hit and chunk[0] == name for hit, chunk in zip(holds, chunks, strict=True)))
            ],
            "documents_available": names,
            "documents_processing": [name for name, state in self.statuses.items() if state == "processing"],
            "truncated": False,
        }
        return cut(found)

    async def _extract(
        self, question: str, document_ids: Sequence[str] = (), each_document: bool = False, skip: int = 0
    ) -> dict[str, Any]:
        assert self.extractor
        names = [name for name in self._ready() if not document_ids or document_id(name) in document_ids]
        chunks = [(name, heading, body) for name in names for heading, body in self.documents[name]]
        passages = [ModelPassage(body, (heading,)) for _, heading, body in chunks]
        found = await self.extractor.extract(question, passages)
        answers = [
            self._result(chunk, 0, False) | {"answer": chunk[2][one.start : one.end], "confidence": one.score}
            for chunk, spans in zip(chunks, found, strict=True)
            for one in spans
        ]
        answers = sorted(answers, key=lambda one: -one["confidence"])
        if each_document:
            shown = [one for name in names for one in [it for it in answers if it["filename"] == name][:2]]
            shown = sorted(shown, key=lambda one: -one["confidence"])
            passed = list(dict.fromkeys(one["filename"] for one in shown))[:skip]
            shown = [one for one in shown if one["filename"] not in passed]
            return {"question": question, "documents_asked": len(names), "alternatives": shown}
        first = answers[:1] if answers and answers[0]["confidence"] >= 0.3 else []
        return {
            "question": question,
            "answer": first[0]["answer"] if first else "",
            "confidence": first[0]["confidence"] if first else 0,
            "found": bool(first),
            "citations": first,
            "alternatives": answers[len(first) : _MAX_ANSWERS],
        }

    def _result(self, chunk: tuple[str, str, str], similarity: float, holds: bool) -> dict[str, Any]:
        name, heading, body = chunk
        self._refs += 1
        return {
            "ref": self._refs,
            "document_id": document_id(name),
            "filename": name,
            "heading": heading,
            "similarity": round(similarity, 3),
            "lexical_match": holds,
            "text": body,
        }


def cut(found: dict[str, Any]) -> dict[str, Any]:
    """Drops results until the JSON fits, as the service does."""
    while len(json.dumps(found)) > MAX_RESULT_CHARS and found["results"]:
        found = {**found, "results": found["results"][:-1], "truncated": True}
    return found


def document_id(name: str) -> str:
    return f"id-{name.partition('.')[0].lower().replace(' ', '-')}"


def marker(viewed: str = "") -> str:
    line = (
        '[CONTEXT] The user has selected matter "Smith v. Jones" (matter_id: 25e70284-6124-4a2b-9c89-abc123def456).\n'
    )
    if viewed:
        line += f'The user is currently viewing document "{viewed}" (document_id: {document_id(viewed)}).\n'
    return line + "\n"


@dataclass(frozen=True)
class Turn:
    """What a turn came to: the answer, the calls made and every text a tool returned."""

    answer: str
    calls: list[tuple[str, dict[str, Any]]]
    messages: list[BaseMessage]

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.calls]

    @property
    def tool_texts(self) -> list[str]:
        return [str(message.text) for message in self.messages if isinstance(message, ToolMessage)]


async def run_turn(
    model: EmbeddedChatModel,
    matter: ScriptedMatter,
    question: str | list[str | dict[Any, Any]],
    *,
    viewed: str = "",
    history: Sequence[BaseMessage] = (),
    tools: Sequence[dict[str, Any]] | None = None,
) -> Turn:
    """One turn as the service runs it: up to three tool calls and six model calls; at the limit an answer step."""
    content = marker(viewed) + question if isinstance(question, str) else question
    messages: list[BaseMessage] = [SYSTEM, *history, HumanMessage(content)]
    bound = model.bind_tools(matter.tools if tools is None else tools)
    made: list[tuple[str, dict[str, Any]]] = []
    for _ in range(MAX_CYCLES):
        reply = await bound.ainvoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            return Turn(str(reply.text), made, messages)
        assert len(made) + len(reply.tool_calls) <= MAX_TOOL_CALLS
        for call in reply.tool_calls:
            made.append((call["name"], call["args"]))
            messages.append(ToolMessage(await matter.run(call["name"], call["args"]), tool_call_id=call["id"]))
    raise AssertionError("the model did not come to an answer")


def exchange(question: str, answer: str) -> list[BaseMessage]:
    return [HumanMessage(question), AIMessage(answer)]


def normalised(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[“”„]", '"', text))


def quotes_of(answer: str) -> list[tuple[str, str]]:
    """Pairs of quote and reference, as the service reads them."""
    return re.findall(r"“([^”]*)”(?: \[(\d+)\])?", answer)


def assert_grounded(turn: Turn) -> None:
    """Every quote stands in the text that its reference names."""
    texts: dict[str, str] = {}
    for raw in turn.tool_texts:
        value = json.loads(raw)
        lists = ("results", "citations", "alternatives")
        for source in [*(one for key in lists for one in value.get(key, [])), *([value] if "text" in value else [])]:
            texts[str(source["ref"])] = normalised(source["text"])
    for quote, ref in quotes_of(turn.answer):
        assert normalised(quote) in texts[ref], quote
