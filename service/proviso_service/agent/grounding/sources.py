"""The sources that the answer of a turn may rest on: passages of documents, results of tools, references, summaries of
files, and images."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

from proviso_service.agent.grounding.facts import counts_of, facts_of
from proviso_service.agent.grounding.names import places_in, roles_in
from proviso_service.agent.grounding.orders import orders_of, without_orders
from proviso_service.agent.grounding.sentences import SentenceSplitter
from proviso_service.agent.grounding.words import content_stems, words_of
from proviso_service.context.citing import NormalisedText, normalise
from proviso_service.language import language_of
from proviso_service.reading import Figure, Value, stands_in, values_of, without_joiners
from proviso_service.tools.base import SourcePassage
from proviso_service.turns import CitationKind

_OMISSION = re.compile(r"\[?(?:\.{3,}|…)\]?|\[[^\[\]\n]{1,80}\]")
_CHANGED_LETTER = re.compile(r"\[([^\W\d_])\](?=\w)")
_TRAILING = " \t\n.,;:!?"
_MIN_PART_CHARS = 3
_MIN_NOTE_WORDS = 3
_CLAUSE_NUMBER = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3})?(?![\d])")
_CLAUSE_AT_LINE = re.compile(r"(?:\A|\n)[#§\s*]*(?:[^\W\d_]+\.? )?(\d{1,3}(?:\.\d{1,3})?)(?![\d])")
_MIN_EVIDENCE_WORDS = 4
_WORDY = re.compile(r"[^\W_]+")
_JOINTS = re.compile(r"[_.-]+")
_LONG_CHARS = 30_000
_AROUND_CHARS = 400
_MAX_OCCURRENCES = 8
_LONG_WORD = re.compile(r"[^\W_]{4,}|\d+")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a source's text, in code points, end exclusive."""

    start: int
    end: int


class Source:
    """One source. `text` is what can be quoted; `label` are its other words, such as its file's name and headings.
    `number` is that by which the model cites it, 0 where it has none. `is_own` says that it is the result of one of the
    service's own tools, of which only names and counts can be told. `said` is what a tool of another server has
    answered, without the fields around it."""

    def __init__(
        self,
        kind: CitationKind,
        text: str,
        label: str = "",
        *,
        number: int = 0,
        passage: SourcePassage | None = None,
        name: str = "",
        call_id: str = "",
        server_name: str = "",
        is_own: bool = False,
        said: str = "",
    ) -> None:
        self.kind = kind
        self.said = said
        self.number = number
        self.passage = passage
        self.name = name
        self.call_id = call_id
        self.server_name = server_name
        self.is_own = is_own
        self.text = text
        self.label = label

    def find(self, quote: str) -> Span | None:
        """Where a quotation stands. Its parts may be joined by an ellipsis; then they stand in this order. White space,
        markup, capitals and the form of quotation marks make no difference."""
        first, last = None, 0
        for part in _OMISSION.split(_CHANGED_LETTER.sub(r"\1", quote)):
            wanted = part.strip(_TRAILING)
            if len(wanted) < _MIN_PART_CHARS:
                continue
            span = self._find_part(part.strip(), last) or self._find_part(wanted, last)
            if span is None:
                return None
            first, last = (span.start if first is None else first), span.end
        return None if first is None else Span(first, last)

    def around(self, sentence: str) -> "Source":
        """The source as far as a statement can rest on it. Of a long text, which would take long to go through, these
        are the parts around the statement's words and figures."""
        if len(self.text) <= _LONG_CHARS:
            return self
        lowered = self._lowered
        starts: list[int] = []
        for word in {match[0].lower() for match in _LONG_WORD.finditer(sentence)}:
            at, count = lowered.find(word), 0
            while at >= 0 and count < _MAX_OCCURRENCES:
                starts.append(at)
                at, count = lowered.find(word, at + _AROUND_CHARS), count + 1
        parts: list[str] = []
        end = 0
        for start in sorted(starts):
            if start - _AROUND_CHARS >= end or not parts:
                parts.append(self.text[max(end, start - _AROUND_CHARS) : start + _AROUND_CHARS])
                end = start + _AROUND_CHARS
            elif start + _AROUND_CHARS > end:
                parts[-1] += self.text[end : start + _AROUND_CHARS]
                end = start + _AROUND_CHARS
        return Source(self.kind, "\n\n".join(parts)[:_LONG_CHARS], self.label, name=self.name, is_own=self.is_own)

    @cached_property
    def _lowered(self) -> str:
        return self.text.lower()

    @cached_property
    def _unjoined(self) -> str:
        return without_joiners(self._lowered)

    def _find_part(self, part: str, after: int) -> Span | None:
        words = _LONG_WORD.findall(normalise(part))
        if len(self.text) > _LONG_CHARS and not all(word.lower() in self._unjoined for word in words):
            return None
        span = self._quotable.find(part, after)
        return Span(*span) if span else None

    def best_span(self, stems: frozenset[str]) -> Span:
        """The sentence of the source that has most in common with a statement; the beginning where none has."""
        best, most = Span(0, min(len(self.text), 400)), 0.0
        for span, own in self._sentences:
            shared = len(stems & own)
            if shared > most:
                best, most = span, shared
        return best

    def is_about_something_else(self, value: Value, stems: frozenset[str]) -> bool:
        """Whether a figure stands only in sentences that have no word of a statement, while another sentence
        has two."""
        sentences = zip(self._sentences, self._values_of_sentences, strict=True)
        with_value = [own for (_, own), values in sentences if stands_in(value, values)]
        if not with_value or any(own & stems for own in with_value):
            return False
        return any(len(own & stems) > 1 for _, own in self._sentences)

    def coverage(self, stems: frozenset[str]) -> float:
        """The largest share of a statement's words that two sentences of the source after each other hold."""
        if not stems:
            return 0.0
        owns = [own for _, own in self._sentences]
        pairs = pairwise([*owns, frozenset[str]()])
        return max((len(stems & (a | b)) for a, b in pairs), default=0) / len(stems)

    @cached_property
    def evidence(self) -> str:
        return without_orders(self.text, of_a_tool=self.kind is CitationKind.TOOL_CALL and not self.is_own)

    @cached_property
    def _ordered(self) -> frozenset[str]:
        """The words of the orders to the assistant that the text holds."""
        return content_stems(orders_of(self.text, self.evidence)) if self.evidence != self.text else frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether the source has text, and all that it says are orders to the assistant."""
        return bool(self._ordered) and len(_WORDY.findall(self.evidence)) < _MIN_EVIDENCE_WORDS

    def only_orders(self, stems: frozenset[str]) -> bool:
        """Whether more of a statement's words stand in orders to the assistant than elsewhere in the source."""
        return bool(self._ordered) and len(stems & self._ordered) > len(stems & content_stems(self.evidence))

    @cached_property
    def _quotable(self) -> NormalisedText:
        return NormalisedText(self.evidence)

    @cached_property
    def values(self) -> list[Value]:
        return values_of(self.evidence, is_source=True)

    @cached_property
    def label_values(self) -> list[Value]:
        """The numbers of the source's clauses and pages, and those of its name."""
        numbers = _CLAUSE_NUMBER.findall(self.label) + _CLAUSE_AT_LINE.findall(self.evidence)
        return [*values_of(self.label), *(Figure(frozenset({Decimal(number)}), "", 0, 0) for number in numbers)]

    @cached_property
    def words(self) -> frozenset[str]:
        return words_of(self.evidence) | words_of(self.label)

    @cached_property
    def stems(self) -> frozenset[str]:
        return content_stems(self.evidence) | content_stems(self.label)

    @cached_property
    def roles(self) -> frozenset[int]:
        return roles_in(self.evidence) | roles_in(self.label)

    @cached_property
    def places(self) -> set[int]:
        return places_in(self.evidence) | places_in(self.label)

    @cached_property
    def language(self) -> str:
        return language_of(self.evidence)

    @cached_property
    def _sentences(self) -> list[tuple[Span, frozenset[str]]]:
        found, start = [], 0
        splitter = SentenceSplitter()
        for sentence in [*splitter.feed(self.evidence), *splitter.finish()]:
            lead = len(sentence) - len(sentence.lstrip())
            bare = sentence.strip()
            if bare:
                found.append((Span(start + lead, start + lead + len(bare)), content_stems(bare)))
            start += len(sentence)
        return found

    @cached_property
    def _values_of_sentences(self) -> list[list[Value]]:
        return [values_of(self.sentence_at(span), is_source=True) for span, _ in self._sentences]

    @cached_property
    def sentences(self) -> list[str]:
        return [self.sentence_at(span) for span, _ in self._sentences]

    def context_of(self, span: Span) -> str:
        """A sentence of the source, with what stands around it."""
        return self.evidence[max(0, span.start - _AROUND_CHARS) : span.end + _AROUND_CHARS]

    def sentence_at(self, span: Span) -> str:
        return self.evidence[span.start : span.end]


class Sources:
    """The sources of a turn. Passages are numbered from 1 in the order in which tools returned them; images have
    numbers of their own; references and summaries have names."""

    def __init__(
        self,
        summaries: Mapping[str, str] | None = None,
        images: Mapping[int, str] | None = None,
        references: Mapping[str, str] | None = None,
        names: Iterable[str] = (),
        matter_id: str = "",
    ) -> None:
        """`summaries` and `references` are texts by name, `images` the URLs of those that the model was shown, by
        number. `names` are other names that an answer may use: those of the matter and the document on view.
        `matter_id` is the matter of the turn.
        `found_on_view` tells whether something of that document was found, None as long as nobody looked in it."""
        self.images = dict(images or {})
        self.searched = False
        self.found_on_view: bool | None = None
        self.asked: list[str] = []
        self.notes: list[str] = []
        self.counts: set[int] = set()
        self._passages: list[Source] = []
        self._results: list[Source] = []
        self._named = {
            name.casefold(): Source(kind, text, name, name=name)
            for kind, texts in ((CitationKind.REFERENCE, references or {}), (CitationKind.ASSET, summaries or {}))
            for name, text in texts.items()
        }
        self._names = " ".join(names)
        self._matter_id = matter_id

    def number(self, passage: SourcePassage) -> int:
        """The number of a passage; a passage that was numbered before keeps its number."""
        for number, known in enumerate(self.passages, 1):
            if (known.document_id, known.start, known.text) == (passage.document_id, passage.start, passage.text):
                return number
        headings = " ".join(dict.fromkeys([passage.heading, *(place.heading for place in passage.places)]))
        pages = {passage.page, *(place.page for place in passage.places)} - {0}
        label = f"{_spaced(passage.filename)} {headings} {' '.join(f'page {page}' for page in sorted(pages))}"
        passage = replace(passage, matter_id=passage.matter_id or self._matter_id)
        number = len(self._passages) + 1
        self._passages.append(Source(CitationKind.DOCUMENT, passage.text, label, number=number, passage=passage))
        return number

    def add_result(
        self,
        *,
        call_id: str,
        tool: str,
        server_name: str,
        text: str,
        data: Mapping[str, Any],
        is_own: bool,
        asked: str = "",
    ) -> None:
        """Adds the result of a tool call. Of the service's own tools, whose passages are numbered, only names and
        counts count; the results of other servers are quoted as the model read them. `asked` are the arguments of
        the call."""
        self.searched = True
        self.asked.append(asked)
        # The line breaks of a text in JSON end paragraphs, too. Positions stay the same.
        facts = facts_of(data) if is_own else text.replace("\\n", " \n")
        if is_own:
            self.counts |= counts_of(data)
            on_view = data.get("on_view", {})
            if on_view.get("searched"):
                self.found_on_view = self.found_on_view or on_view["found"]
        said = "" if is_own else str(data.get("text", text))
        source = Source(
            CitationKind.TOOL_CALL,
            facts,
            tool,
            name=tool,
            call_id=call_id,
            server_name=server_name,
            is_own=is_own,
            said=said,
        )
        self._results.append(source)

    def add_failure(self, error: str) -> None:
        """Notes that a tool has failed: an answer may tell with what words."""
        self.searched = True
        splitter = SentenceSplitter()
        sentences = [one.strip() for one in (*splitter.feed(error), *splitter.finish())]
        self.notes += [error, *(one for one in sentences if len(one.split()) >= _MIN_NOTE_WORDS and one != error)]

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def passages(self) -> tuple[SourcePassage, ...]:
        return tuple(source.passage for source in self._passages if source.passage is not None)

    @property
    def names(self) -> str:
        """Other names that an answer may use."""
        return self._names

    def cited(self, number: int) -> Source | None:
        return self._passages[number - 1] if 1 <= number <= len(self._passages) else None

    def named(self, name: str) -> Source | None:
        """The reference or summary of this name, in capitals or not."""
        return self._named.get(" ".join(name.split()).casefold())

    def quotable(self) -> Iterator[Source]:
        """All sources that have text, those with a number first."""
        yield from self._passages
        yield from (source for source in self._results if not source.is_own)
        yield from self._named.values()

    def own_results(self) -> list[Source]:
        return [source for source in self._results if source.is_own]

    def all(self) -> Iterator[Source]:
        yield from self.quotable()
        yield from self.own_results()


def _spaced(filename: str) -> str:
    """A file's name, also with its parts as words."""
    return f"{filename} {_JOINTS.sub(' ', filename)}"
