"""Checks an answer while it is being written, and releases what has been checked, sentence by sentence.

The released text is what people read: its sources are numbered in reading order, a sentence that no source holds is
left out with a mark in its place, and an answer that quotes only other documents than the one on view says so first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proviso_service.agent.grounding.check import SentenceCheck
from proviso_service.agent.grounding.known import TurnKnowledge
from proviso_service.agent.grounding.sentences import SentenceSplitter
from proviso_service.agent.grounding.sources import Sources
from proviso_service.agent.grounding.statement import CheckedSentence, Cited, Outcome
from proviso_service.agent.markup import SafeMarkup, addresses_in, safe
from proviso_service.turns import Citation, CitationKind

_MAX_QUOTE_CHARS = 400
_LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "en": (
        "[One sentence was left out here: no source holds it.]",
        "[{} sentences were left out here: no source holds them.]",
    ),
    "de": (
        "[Hier wurde ein Satz ausgelassen: Keine Quelle enthält ihn.]",
        "[Hier wurden {} Sätze ausgelassen: Keine Quelle enthält sie.]",
    ),
    "fr": (
        "[Une phrase a été omise ici : aucune source ne la contient.]",
        "[{} phrases ont été omises ici : aucune source ne les contient.]",
    ),
    "es": (
        "[Aquí se omitió una frase: ninguna fuente la contiene.]",
        "[Aquí se omitieron {} frases: ninguna fuente las contiene.]",
    ),
}
_ELSEWHERE: Mapping[str, tuple[str, str]] = {
    "en": (
        "I found nothing on this in {}, the document on view; what follows comes from other documents.",
        "What follows does not come from {}, the document on view, but from other documents.",
    ),
    "de": (
        "In {}, dem angezeigten Dokument, habe ich dazu nichts gefunden; das Folgende stammt aus anderen Dokumenten.",
        "Das Folgende stammt nicht aus {}, dem angezeigten Dokument, sondern aus anderen Dokumenten.",
    ),
    "fr": (
        "Je n’ai rien trouvé à ce sujet dans {}, le document affiché ; ce qui suit provient d’autres documents.",
        "Ce qui suit ne provient pas de {}, le document affiché, mais d’autres documents.",
    ),
    "es": (
        "No he encontrado nada al respecto en {}, el documento abierto; lo que sigue procede de otros documentos.",
        "Lo que sigue no procede de {}, el documento abierto, sino de otros documentos.",
    ),
}
_NEGATION = re.compile(
    r"\b(?:no|not|none|nothing|neither|nor|without|lacks?|kein\w*|nicht|nichts|weder|ohne|pas|aucune?|rien|sans|nada|"
    r"ningun[oa]?|ningún|tampoco|sin)\b|n['’]t\b",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"[-*#>|]|\d{1,3}[.)] ")


@dataclass(frozen=True, slots=True)
class DocumentOnView:
    """The document that the person has on view."""

    document_id: str
    filename: str


@dataclass(slots=True)
class CheckedAnswer:
    """An answer as far as it has been checked. `text` is what is released of it, and `citations` are the sources of
    that text. `omitted` counts the sentences that were left out, and `removed_markup` the places of the reply where
    markup was (`SafeMarkup`). `failed` says that there was a sentence that is not released in a first try. `outcomes`
    are those of the released sentences."""

    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    omitted: int = 0
    removed_markup: int = 0
    failed: bool = False
    outcomes: set[Outcome] = field(default_factory=set)

    @property
    def is_grounded(self) -> bool:
        """Whether some released sentence rests on a source."""
        return bool(self.outcomes & {Outcome.GROUNDED, Outcome.UNCITED})

    @property
    def says_something(self) -> bool:
        """Whether what is released tells more than that there is no answer."""
        return self.is_grounded or bool(self.outcomes & {Outcome.SEARCHED, Outcome.MISSING})

    @property
    def tells_what_is_there(self) -> bool:
        """Whether what is released tells more than that something is not there."""
        return self.is_grounded or Outcome.SEARCHED in self.outcomes

    @property
    def asks_back(self) -> bool:
        """Whether what is released may stand although nothing was found: it asks the person or only talks."""
        return not self.refuses

    @property
    def refuses(self) -> bool:
        """Whether something that is released says that there is no answer, or that something is not there."""
        return bool(self.outcomes & {Outcome.REFUSAL, Outcome.MISSING})


class AnswerCheck:
    """Checks one reply of the model. In the first try nothing is released behind a sentence that fails, since the model
    is asked once more; in the last one such a sentence is left out, and a mark takes its place."""

    def __init__(
        self,
        sources: Sources,
        question: str,
        language: str,
        on_view: DocumentOnView | None = None,
        *,
        is_last_try: bool = False,
        is_raw: bool = False,
        markup: SafeMarkup | None = None,
    ) -> None:
        """`is_raw` says that all text is released, before it has been checked. What `markup` takes from the reply is
        neither checked nor released."""
        self.answer = CheckedAnswer()
        self._is_raw = is_raw
        self._markup = markup or SafeMarkup(lambda: addresses_in(source.text for source in sources.all()))
        self._sources = sources
        self._language = language if language in _LEFT_OUT else "en"
        self._on_view = on_view
        self._is_last_try = is_last_try
        self._splitter = SentenceSplitter()
        self._check = SentenceCheck(TurnKnowledge(sources, question), language)
        self._numbers: dict[int, int] = {}
        self._says_of_view = False
        self._is_from_others = False
        found_in = {one.document_id for one in sources.passages}
        self._passages_are_of_others = on_view is not None and bool(found_in) and on_view.document_id not in found_in
        self._left_out: list[str] = []
        self._held = ""

    def feed(self, piece: str) -> str:
        """Takes a piece of the reply and returns what is released with it, which is often nothing."""
        piece = self._markup.feed(piece)
        sentences = self._splitter.feed(piece)
        # Without a new sentence nothing is let out; a piece is most often a part of a word.
        released = self._let_out("".join(map(self._release, sentences))) if sentences else ""
        return piece if self._is_raw else released

    def finish(self) -> str:
        """Takes the end of the reply and returns what is released last."""
        rest = self._markup.finish()
        sentences = (*self._splitter.feed(rest), *self._splitter.finish())
        released = "".join(self._release(sentence) for sentence in sentences)
        self.answer.removed_markup = self._markup.removed
        if not self.answer.failed:
            released += self._mark()
        released = self._let_out(released, is_end=True)
        view, answer = self._on_view, self.answer
        if self._is_from_others and not any(view and one.document_id == view.document_id for one in answer.citations):
            self._put_lead(answer.text)
        return rest if self._is_raw else released

    def _let_out(self, released: str, *, is_end: bool = False) -> str:
        """Holds back what may still be taken back: a mark, and talk behind it, as long as nothing tells more; and talk
        before which the sentence on the document on view may have to stand."""
        self._held += released
        if (self.answer.omitted or self._left_out) and not (self.answer.says_something or self.answer.refuses):
            return ""
        if self._passages_are_of_others and not (self._says_of_view or is_end):
            return ""
        released, self._held = self._held, ""
        return released

    def _release(self, sentence: str) -> str:
        if self.answer.failed:
            return ""
        checked = self._check.check(sentence)
        if not self._is_released(checked):
            if self._is_last_try:
                self._left_out.append(sentence)
            else:
                self.answer.failed = True
            return ""
        released = self._mark()
        if not self.answer.citations:
            self._says_of_view |= self._tells_of_view(checked.text)
        self._is_from_others |= self._is_from_elsewhere(checked)
        if self._is_from_others and self._passages_are_of_others:
            self._held = self._put_lead(checked.text) + self._held
        self.answer.outcomes.add(checked.outcome)
        return released + self._written(checked)

    def _is_released(self, checked: CheckedSentence) -> bool:
        """A statement whose source has a number and is not cited is released where the answer cites that source
        already, and in the last try. Else the model is asked for the citation."""
        if checked.outcome is not Outcome.UNCITED:
            return checked.is_held
        return self._is_last_try or all(cited.source.number in self._numbers for cited in checked.cited)

    def _mark(self) -> str:
        """The mark in the place of the sentences that were left out last."""
        if not self._left_out:
            return ""
        count = len(self._left_out)
        one, several = _LEFT_OUT[self._language]
        first = self._left_out[0]
        lead = first[: len(first) - len(first.lstrip(" \n\t>-•"))] or (" " if self.answer.text else "")
        end = "\n" if self._left_out[-1].endswith("\n") else ""
        self._left_out.clear()
        self.answer.omitted += count
        return self._add(lead + (one if count == 1 else several.format(count)) + end)

    def _written(self, checked: CheckedSentence) -> str:
        """Adds a sentence with the numbers that its sources have in the answer."""
        text, moved = checked.text, 0
        places: list[tuple[Cited, int, int, int]] = []
        for cited in checked.cited:
            number = 0
            start, end = cited.start + moved, cited.end + moved
            if cited.number_at is not None:
                number = self._numbers.setdefault(cited.source.number, len(self._numbers) + 1)
                at, stop = cited.number_at[0] + moved, cited.number_at[1] + moved
                text = f"{text[:at]}{number}{text[stop:]}"
                moved += len(str(number)) - (stop - at)
                end = cited.end + moved
            places.append((cited, number, start, end))
        before = len(self.answer.text)
        self.answer.citations += [
            _citation(cited, number, before + start, before + end) for cited, number, start, end in places
        ]
        return self._add(text)

    def _add(self, text: str) -> str:
        self.answer.text += text
        return text

    def _put_lead(self, following: str) -> str:
        """Puts the sentence before an answer from other documents, unless it has one already, and returns it."""
        if self._on_view is None or self._says_of_view:
            return ""
        self._says_of_view = True
        nothing_found, elsewhere = _ELSEWHERE[self._language]
        sentence = nothing_found if self._sources.found_on_view is False else elsewhere
        following = self.answer.text or following
        end = "" if following[:1].isspace() else "\n\n" if _BLOCK.match(following) else " "
        lead = safe(sentence.format(_quoted(self._on_view.filename))) + end
        self.answer.text = lead + self.answer.text
        self.answer.citations = [_moved(one, len(lead)) for one in self.answer.citations]
        return lead

    def _is_from_elsewhere(self, checked: CheckedSentence) -> bool:
        """Whether a sentence cites another document than the one on view, or tells of what was found in others alone:
        how many clauses there are, or which documents have one."""
        view = self._on_view
        if view is None:
            return False
        passages = [one.source.passage for one in checked.cited if one.source.passage is not None]
        if passages:
            return all(passage.document_id != view.document_id for passage in passages)
        is_told = checked.outcome is Outcome.SEARCHED and not _NEGATION.search(checked.text)
        return is_told and self._passages_are_of_others and self._sources.found_on_view is False

    def _tells_of_view(self, sentence: str) -> bool:
        """Whether a sentence says itself that the document on view does not hold what was asked for."""
        view = self._on_view
        return view is not None and view.filename in sentence and _NEGATION.search(sentence) is not None


def _quoted(filename: str) -> str:
    return filename.replace("\n", " ")


def _citation(cited: Cited, number: int, start: int, end: int) -> Citation:
    source, span = cited.source, cited.span
    span_end = min(span.end, span.start + _MAX_QUOTE_CHARS) if cited.is_paraphrase else span.end
    quote, offset = source.text[span.start : span_end], 0
    document_id, filename, page, heading = "", "", 0, ""
    if (passage := source.passage) is not None:
        offset = passage.start
        place = passage.place_at(offset + span.start)
        document_id, filename, page, heading = passage.document_id, passage.filename, place.page, place.heading
    elif source.kind is CitationKind.ASSET:
        filename = source.name
    return Citation(
        number=number,
        answer_start=start,
        answer_end=end,
        document_id=document_id,
        filename=filename,
        start=offset + span.start,
        end=offset + span_end,
        page=page,
        heading=heading,
        quote=quote,
        kind=source.kind,
        call_id=source.call_id,
        name="" if source.kind in (CitationKind.DOCUMENT, CitationKind.ASSET) else source.name,
        server_name=source.server_name,
        matter_id=passage.matter_id if passage else "",
    )


def _moved(citation: Citation, by: int) -> Citation:
    return replace(citation, answer_start=citation.answer_start + by, answer_end=citation.answer_end + by)
