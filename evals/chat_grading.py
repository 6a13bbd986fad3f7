"""Questions that people ask of a matter, and what grade an answer gets.

An answer is *right* where it quotes the evidence, states the values and names the documents that the question needs,
and nothing else as an answer; *partly* right where some of that is there; *refused* where it says that it found
nothing. Everything else is *wrong*. Where a matter does not hold what is asked for, a refusal is right."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proviso_client.v1.chat_pb2 import FinalState
from proviso_service.cli.evaluate import REFUSAL

RIGHT, PARTLY, REFUSED, WRONG = GRADES = ("right", "partly", "refused", "wrong")
_COVER = 0.5
_NEGATION = re.compile(
    r"\b(?:no|none|nothing|not|neither|without|lacks?|kein\w*|nicht|ohne|aucun\w*|pas|sans)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """The messages of a person, of which the last is graded. `evidence` are places (contract, start, end) of which an
    answer quotes `need`, in different documents where several are named; `values` are what it states, each by one of
    its wordings; `documents` are those that it names. What is `absent` has no answer."""

    matter: str
    kind: str
    ask: tuple[str, ...]
    view: str = ""
    absent: bool = False
    evidence: tuple[tuple[str, int, int], ...] = ()
    documents: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    need: int = 1

    @property
    def is_held_out(self) -> bool:
        return self.matter.startswith("held")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answered. `documents` are the ids of the matter's contracts by their names."""

    final: FinalState
    documents: Mapping[str, str]
    seconds: float
    tools: Sequence[str] = ()


def read_questions(file: Path) -> tuple[Mapping[str, Sequence[str]], Sequence[ChatQuestion]]:
    """The contracts of each matter, and the questions."""
    read = json.loads(file.read_text(encoding="utf-8"))
    return read["matters"], [_question(one) for one in read["questions"]]


def _question(fields: Mapping[str, Any]) -> ChatQuestion:
    lists = {
        "ask": tuple(fields["ask"]),
        "evidence": tuple((name, start, end) for name, start, end in fields.get("evidence", ())),
        "documents": tuple(fields.get("documents", ())),
        "values": tuple(tuple(one) for one in fields.get("values", ())),
    }
    return ChatQuestion(**{**fields, **lists})


def grade(question: ChatQuestion, answer: Answer) -> str:
    said = answer.final.message
    refuses = not answer.final.citations or REFUSAL.match(said) is not None
    if question.absent:
        return RIGHT if refuses else WRONG
    named = _named(said, answer.documents)
    wanted = set(question.documents)
    # Which documents have no such clause is answered by their names, for there is nothing to quote.
    is_of_names = bool(wanted) and not question.evidence
    quoted = _quoted(question, answer)
    values = [any(_flat(one) in _flat(said) for one in wordings) for wordings in question.values]
    needs = [len(quoted) >= question.need or not question.evidence, *values, wanted <= named]
    if all(needs) and not (is_of_names and named - wanted):
        return RIGHT
    if quoted or (any(values) and not refuses) or (wanted and wanted & named and not refuses):
        return PARTLY
    return REFUSED if refuses else WRONG


def _quoted(question: ChatQuestion, answer: Answer) -> set[tuple[str, int]]:
    """The places of the evidence that citations share half of, or half of the citation; one for each document where
    several documents are asked about."""
    found = set()
    for name, start, end in question.evidence:
        for one in answer.final.citations:
            common = min(end, one.end) - max(start, one.start)
            if one.document_id == answer.documents.get(name) and common >= _COVER * min(
                end - start, one.end - one.start
            ):
                found.add((name, 0 if len(question.documents) > 1 or question.kind == "comparison" else start))
    return found


def _named(said: str, documents: Mapping[str, str]) -> set[str]:
    """The documents that the answer names first: those of the paragraph that names any, without the lines that say
    that there is nothing in them."""
    for paragraph in re.split(r"\n\s*\n", said):
        lines = paragraph.splitlines()
        named = {line: {name for name in documents if _flat(name) in _flat(line)} for line in lines}
        if any(named.values()):
            kept = {line: names for line, names in named.items() if len(lines) == 1 or not _is_negative(line, names)}
            return set().union(*(kept or named).values())
    return set()


def _is_negative(line: str, names: set[str]) -> bool:
    bare = line
    for name in names:
        bare = bare.replace(name, "")
    return "\u201c" not in line and _NEGATION.search(bare) is not None


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u2019", "'")).strip().lower()
