"""The one rule of grounding, for one sentence of an answer.

Every quotation stands in a source. Every figure, date, party and place of a sentence stands in the source that the
sentence cites; without a citation, in one source that also holds the sentence's words. What states no facts needs no
source, but its figures, names and quotations have to be true as well."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from proviso_service.agent.grounding.counts import is_count, is_factor
from proviso_service.agent.grounding.known import TurnKnowledge, holds, lists_file, without_notes
from proviso_service.agent.grounding.marks import Mark, marks_in, parts_without_images, places_of
from proviso_service.agent.grounding.names import missing_names, missing_roles, places_in, spells
from proviso_service.agent.grounding.opposites import is_negated, is_opposite
from proviso_service.agent.grounding.sentences import Quotation
from proviso_service.agent.grounding.sources import Source
from proviso_service.agent.grounding.statement import CheckedSentence, Cited, Outcome, Statement
from proviso_service.agent.grounding.wording import Talk, kind_of_talk, speaks_of_itself, states_duties
from proviso_service.agent.grounding.words import META, content_stems, words_of
from proviso_service.reading import Figure, Value, is_total, stands_in, values_of
from proviso_service.turns import CitationKind

_DIGITS = re.compile(r"\d+")
_IMAGE_WORDS = re.compile(
    r"\b(?:images?|pictures?|photos?|photographs?|screenshots?|diagrams?|drawings?|scans?|bild(?:er)?|fotos?|"
    r"imágen(?:es)?|imagen)\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"(?:\bnot|\bnicht|\bkein\w*|\bpas|\bno|\binstead of|\brather than|\bstatt|\banstatt|\bau lieu de|\ben lugar de|"
    r"\basked (?:about|whether|if|for)\b[^.;]*)\s+(?:\w+\s+){0,3}\Z",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(
    r"\W*(?:not (?:found|quoted|searched|analysed|shown)|nicht gefunden|non trouvés?|no encontrad\w+):", re.IGNORECASE
)
_OPENER = re.compile(r"\W*(?:yes|no|ja|nein|oui|non|sí|sì|correct|right|exactly)\b[^.!?\n]*[.!](?=\s)", re.IGNORECASE)
_LEAD_IN = re.compile(r"[^\n]*:[*_]*[ \t]*\n\s*(?=\S)")
_REFUSAL_STEMS = content_stems(
    "information enough sufficient available answer question determine determined unable cannot able mention "
    "mentioned specify specified stated provide provided found current documentation "
    "confirm verify sorry afraid unfortunately leider ausreichend genügend informationen frage beantworten gefunden "
    "suffisamment malheureusement información suficiente lamentablemente"
)
_FAILURE_STEMS = content_stems(
    "tool error message server service failure says said reports reported answer answers replied because could tried "
    "try again later call lookup reason werkzeug fehler fehlermeldung meldet meldung dienst sagt outil erreur message "
    "indique échoué herramienta error mensaje falló"
)
_KNOWING = re.compile(
    r"\b(?:enough|sufficient|insufficient|information|answer|determine|confirm|verify|tell|know|sure|certain|say|"
    r"ausreichend\w*|genügend\w*|informationen|beantworten|auskunft|sagen|feststellen|"
    r"assez|suffisamment|informations?|répondre|dire|déterminer|información|suficiente|responder|determinar|"
    r"informazioni|rispondere|informatie|beantwoorden|informaç\w+|informacji|odpowiedzieć|tietoa|informac\w*)\b"
    r"|(?:недостаточно|информац|情報|信息|資訊|정보|מידע|معلومات|πληροφορ)",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:below|above|exceeds?|exceeding|less than|more than|higher than|lower than|within the|under the|over the|"
    r"unter|über|übersteigt|unterhalb|inférieure? à|supérieure? à|dépasse|inferior a|superior a)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\d{1,2}\.\d{1,2}\.")  # which is read as a day and its month
_FEW = 12
_MIN_COVERAGE = 0.6
_MIN_TOOL_COVERAGE = 0.3
_MIN_SHARED = 0.3
_MIN_SHARED_BARE = 0.4
_FEW_STEMS = 3
_POLARITY_COVERAGE = 0.7
_MIN_STEMS = 2
_MAX_HEADING_WORDS = 8
_MAX_WORD_CHARS = 60
_LIST_SIZE = 20
_CLAIMS = re.compile(
    r"\b(?:is|are|was|were|be|may|must|shall|will|can|has|have|had|do|does|appl(?:y|ies)|not|no|never|without|"
    r"unlimited|void|invalid|"
    r"waived|uncapped|terminates?|expires?|ends|owes?|pays|bears|ist|sind|wird|muss|darf|kann|hat|gilt|haftet|endet|"
    r"nicht|kein\w*|"
    r"ohne|unbegrenzt\w*|nichtig|unwirksam|est|sont|doit|peut|pas|sans|nul(?:le)?|illimitée?|es|son|debe|puede|sin|"
    r"nul[oa]|ilimitad\w+)\b",
    re.IGNORECASE,
)
"""Words that make a claim of a line that could be a heading."""


_WITHOUT_SOURCE = frozenset({Outcome.TALK, Outcome.REFUSAL, Outcome.SEARCHED, Outcome.MISSING})


@dataclass(slots=True)
class SentenceCheck:
    """Checks the sentences of one answer, in order. `language` is that of the answer."""

    known: TurnKnowledge
    language: str = "en"

    def check(self, sentence: str) -> CheckedSentence:
        checked = self._check(Statement(sentence, self.language))
        # A question or a courtesy behind an answer does not tell what the answer rests on.
        opener = _OPENER.match(sentence) if checked.outcome in _WITHOUT_SOURCE else None
        if opener is not None and not self._check(Statement(opener[0], self.language)).is_held:
            return CheckedSentence(sentence, Outcome.UNGROUNDED)
        if not checked.is_held and (lead := _LEAD_IN.match(sentence)):
            checked = self._without_lead(lead[0], sentence[lead.end() :]) or checked
        if checked.is_held:
            self.known.shown = [*self.known.shown, *checked.figures][-_LIST_SIZE:]
        return checked

    def _without_lead(self, lead: str, rest: str) -> CheckedSentence | None:
        """The check of an item without the line that leads to its list, where that line states nothing by itself."""
        introduction = Statement(lead, self.language)
        has_facts = any(not isinstance(value, Figure) or value.unit for value in introduction.values)
        if has_facts or introduction.quotations or states_duties(lead) or not self.known.has_names(introduction):
            return None
        item = self._check(Statement(rest, self.language))
        if not item.is_held:
            return None
        moved = tuple(
            replace(
                one,
                start=one.start + len(lead),
                end=one.end + len(lead),
                number_at=one.number_at and (one.number_at[0] + len(lead), one.number_at[1] + len(lead)),
            )
            for one in item.cited
        )
        return CheckedSentence(lead + rest, item.outcome, moved, item.figures)

    def _check(self, read: Statement) -> CheckedSentence:
        if (bare := without_notes(read.text, self.known.sources.notes)) != read.text:
            return self._around_a_note(read.text, Statement(bare, self.language))
        marks = marks_in(read, self.known.sources)
        if marks is None:
            return CheckedSentence(read.text, Outcome.UNGROUNDED)
        if marks:
            return self._with_marks(read, marks)
        return self._with_quotations(read) if read.quotations else self._without_marks(read)

    def _around_a_note(self, sentence: str, rest: Statement) -> CheckedSentence:
        """The check of a sentence that tells with which words a tool has failed, `rest` being what else it says."""
        has_facts = rest.values or rest.names or rest.quotations or states_duties(rest.text)
        if not has_facts and rest.stems <= META | _FAILURE_STEMS:
            return CheckedSentence(sentence, Outcome.SEARCHED)
        checked = self._check(rest)
        outcome = Outcome.SEARCHED if checked.outcome is Outcome.TALK else checked.outcome
        return replace(checked, text=sentence, outcome=outcome)

    def _without_marks(self, read: Statement) -> CheckedSentence:
        talk = kind_of_talk(read.text)
        if talk is not None and (outcome := self._talk(read, talk)) is not None:
            return CheckedSentence(read.text, outcome, figures=read.figures)
        if self._is_heading(read):
            return CheckedSentence(read.text, Outcome.TALK)
        if self.known.sources.images and not read.values and _IMAGE_WORDS.search(read.text):
            return CheckedSentence(read.text, Outcome.SEARCHED)
        return self._unmarked(read)

    def _with_marks(self, read: Statement, marks: Sequence[Mark]) -> CheckedSentence:
        parts = [(read, [mark.source for mark in marks if mark.source is not None])]
        if len(parts[0][1]) < len(marks):
            # What an image shows cannot be looked up; what stands beside it rests on the other sources.
            cut = parts_without_images(read.text, marks)
            parts = [(Statement(text, self.language), sources) for text, sources in cut]
        if not all(self._is_held_by(part, sources) for part, sources in parts):
            return CheckedSentence(read.text, Outcome.UNGROUNDED)
        return CheckedSentence(
            read.text, Outcome.GROUNDED, tuple(places_of(read, marks, self.known.sources)), read.figures
        )

    def _is_held_by(self, read: Statement, sources: Sequence[Source]) -> bool:
        return all(self._is_quoted(quotation, sources) for quotation in read.quotations) and self._rests_on(
            read, [source.around(read.text) for source in dict.fromkeys(sources)]
        )

    def _is_quoted(self, quotation: Quotation, sources: Sequence[Source]) -> bool:
        return any(source.find(quotation.text) for source in sources) or self.known.is_name(quotation.text)

    def _with_quotations(self, read: Statement) -> CheckedSentence:
        """A sentence that quotes without saying from where."""
        found: list[Cited] = []
        for quotation in read.quotations:
            source = next((one for one in self.known.sources.quotable() if one.find(quotation.text)), None)
            span = source.find(quotation.text) if source else None
            if source is not None and span is not None:
                found.append(Cited(source, span, quotation.start, quotation.end))
            elif not self.known.is_name(quotation.text):
                talk = kind_of_talk(read.text)
                asked = [
                    self.known.question,
                    *(self.known.sources.asked if talk in (Talk.REFUSAL, Talk.SEARCH) else ()),
                ]
                if talk is None or talk is Talk.COURTESY or not any(holds(one, quotation.text) for one in asked):
                    return CheckedSentence(read.text, Outcome.UNGROUNDED)
        sources = [cited.source for cited in found]
        if not found:
            talk = kind_of_talk(read.text)
            outcome = self._talk(read, talk) if talk is not None else None
            if outcome is not None:
                return CheckedSentence(read.text, outcome, figures=read.figures)
            return self._unmarked(read)
        if not self._rests_on(read, [source.around(read.text) for source in dict.fromkeys(sources)]):
            return CheckedSentence(read.text, Outcome.UNGROUNDED)
        return CheckedSentence(read.text, Outcome.GROUNDED, tuple(found), read.figures)

    def _unmarked(self, read: Statement) -> CheckedSentence:
        """A statement of facts that names no source: held by one that has its figures, names and words."""
        if self._is_told_by_own_tools(read):
            return CheckedSentence(read.text, Outcome.SEARCHED, figures=read.figures)
        best, most = None, 0.0
        for source in self.known.sources.quotable():
            near = source.around(read.text)
            coverage = near.coverage(read.stems)
            if _repeats(read, source):
                coverage = 1.0
            if (coverage > most or best is None) and self._rests_on(read, [near]):
                best, most = source, coverage
        is_told = best is not None and best.kind is CitationKind.TOOL_CALL and bool(read.values or read.names)
        is_enough = most >= _MIN_TOOL_COVERAGE if is_told else most >= _MIN_COVERAGE and len(read.stems) >= _MIN_STEMS
        if best is None or not (is_enough or _repeats(read, best)):
            return CheckedSentence(read.text, Outcome.UNGROUNDED)
        lead = len(read.text) - len(read.text.lstrip())
        cited = Cited(best, best.best_span(read.stems), lead, len(read.text.rstrip()), is_paraphrase=True)
        outcome = Outcome.UNCITED if best.number else Outcome.GROUNDED
        return CheckedSentence(read.text, outcome, (cited,), read.figures)

    def _is_told_by_own_tools(self, read: Statement) -> bool:
        """Whether the service's own tools have told what a sentence says of documents and their number: its figures and
        names stand in their results, and its other words are those of the question, of the results, or words about
        searching."""
        results = self.known.sources.own_results()
        if not results or states_duties(read.text):
            return False
        if any(lists_file(result.text, read.text) for result in results):
            return True
        stems = frozenset().union(*(result.stems for result in results)) | META | content_stems(self.known.question)
        stems |= content_stems(self.known.sources.names)
        own = content_stems(read.text)
        has_facts = bool(read.values) or bool(own - META - content_stems(self.known.question))
        return (
            has_facts
            and own <= stems
            and self.known.has_figures(read, of_own_tools=True)
            and self.known.has_names(read)
        )

    def _talk(self, read: Statement, talk: Talk) -> Outcome | None:
        """The outcome of a sentence that states no facts; None where it does after all."""
        files = len(self.known.files_in(read.text))
        read = self._without_files(read)
        is_list = _NOT_FOUND.match(read.text) is not None
        is_loose = talk in (Talk.COURTESY, Talk.QUESTION) and all(_is_said_by_the_way(v, read) for v in read.values)
        if not (is_loose or self.known.has_figures(read, files=files)) or not (is_list or self.known.has_names(read)):
            return None
        states = states_duties(read.text)
        match talk:
            case Talk.COURTESY:
                return Outcome.TALK
            case Talk.QUESTION:
                return None if states and re.search(r"\b(?:that|dass|que)\b", read.text) else Outcome.TALK
            case Talk.SEARCH:
                return Outcome.SEARCHED if self.known.sources.searched and (is_list or not states) else None
            case Talk.REFUSAL:
                return self._refusal(read)

    def _refusal(self, read: Statement) -> Outcome | None:
        """The outcome of a sentence that says that something is missing: None where a source has all of its words."""
        missing = read.stems - META - _REFUSAL_STEMS
        is_contradicted = len(missing) >= _MIN_STEMS and any(
            source.around(read.text).coverage(missing) == 1 for source in self.known.sources.quotable()
        )
        if is_contradicted and not _speaks_of_knowing(read.text):
            return None
        if self.known.sources.searched or speaks_of_itself(read.text):
            return Outcome.REFUSAL if _speaks_of_knowing(read.text) else Outcome.MISSING
        return None if missing else Outcome.REFUSAL

    def _is_heading(self, read: Statement) -> bool:
        bare = read.text.strip().strip("#*_>-–•| \t")
        if read.figures or not self.known.has_figures(read) or len(bare.split()) > _MAX_HEADING_WORDS:
            return False
        is_line = "|" in bare or bare.endswith(":") or bare[-1:] not in (".", "!", "。", "！")
        return is_line and not _CLAIMS.search(bare) and self.known.has_names(read)

    def _without_files(self, read: Statement) -> Statement:
        """A sentence without the names of the turn's files: each is one name, whatever figures and words it has."""
        named = self.known.files_in(read.text)
        return Statement(without_notes(read.text, named), self.language) if named else read

    def _rests_on(self, read: Statement, sources: Sequence[Source]) -> bool:
        """Whether the figures, dates, names, roles and places of a sentence stand in these sources, and whether it says
        nothing that is opposite to them."""
        read = self._without_files(read)
        words = frozenset().union(*(source.words for source in sources)) | words_of(self.known.sources.names)
        roles = frozenset().union(*(source.roles for source in sources))
        places = set().union(*(source.places for source in sources)) | places_in(self.known.sources.names)
        is_ordered = any(source.is_empty for source in sources) or (
            bool(sources) and all(source.only_orders(read.stems) for source in sources)
        )
        return (
            not is_ordered
            and self._values_stand_in(read, sources)
            and not any(self._is_foreign(name, sources) for name in missing_names(read.names, words))
            and not missing_roles(read.unquoted, roles, words)
            and read.places <= places
            and self._says_what_they_say(read, sources)
            and not is_opposite(read, sources)
        )

    def _says_what_they_say(self, read: Statement, sources: Sequence[Source]) -> bool:
        """Whether a statement in the language of its sources has enough of their words. One without figures, names and
        roles is held by its words alone and needs more of them."""
        alike = [source for source in sources if source.language == read.language]
        own = read.stems - META
        if read.quotations or len(own) < _MIN_STEMS or len(alike) < len(sources):
            return True
        shared = len(own & frozenset().union(*(source.stems for source in alike))) / len(own)
        if read.values or read.names or read.roles:
            return shared >= _MIN_SHARED or len(own) <= _FEW_STEMS
        return shared >= _MIN_SHARED_BARE

    def _values_stand_in(self, read: Statement, sources: Sequence[Source]) -> bool:
        if not read.values:
            return True
        known = [value for source in sources for value in source.values]
        labels = [value for source in sources for value in source.label_values]
        shown = [value for value in read.figures if stands_in(value, known) or is_factor(value, read.figures)]
        shown += self.known.shown
        alike = [source for source in sources if source.language == read.language]

        def is_held(value: Value) -> bool:
            is_number = _is_bare(value) or _CLAUSE.fullmatch(read.unquoted, value.start, value.end)
            if is_number and (stands_in(value, labels) or is_factor(value, read.figures)):
                return True
            if stands_in(value, known):
                return not any(source.is_about_something_else(value, read.stems) for source in alike)
            return self._is_allowed(value, read, shown)

        return all(is_held(value) for value in read.values)

    def _is_foreign(self, name: str, sources: Sequence[Source]) -> bool:
        return not any(spells(name, source.evidence) for source in sources)

    def _is_allowed(self, value: Value, read: Statement, shown: list[Figure]) -> bool:
        if isinstance(value, Figure) and (
            self.known.is_score(value) or is_total(value, shown) or is_count(value, read.unquoted, self.known.counts)
        ):
            return True
        before = read.unquoted[: value.start]
        is_compared = _COMPARED.search(read.unquoted) is not None and len(read.values) > 1
        is_mentioned = is_compared or _REJECTED.search(before) is not None
        return is_mentioned and stands_in(value, values_of(self.known.question))


def _is_said_by_the_way(value: Value, read: Statement) -> bool:
    """Whether a number is a small word without a unit, as in `which of the two` and `compare two documents`."""
    return (
        isinstance(value, Figure)
        and not value.unit
        and min(value.amounts) <= _FEW
        and not _DIGITS.search(read.unquoted[value.start : value.end])
    )


def _repeats(read: Statement, source: Source) -> bool:
    """Whether a statement says just what a tool has answered in a word or two, as `It is noon.` for `noon`."""
    if not 0 < len(source.said) <= _MAX_WORD_CHARS or is_negated(read.text) or not (read.stems or read.values):
        return False
    is_same = read.stems - META == content_stems(source.said) - META
    return is_same and len(read.values) == len(values_of(source.said, is_source=True))


def _is_bare(value: Value) -> bool:
    return isinstance(value, Figure) and not value.unit


def _speaks_of_knowing(sentence: str) -> bool:
    """Whether a refusal says that the assistant does not know, rather than that something is missing."""
    return _KNOWING.search(sentence) is not None
