"""Writes quotes: which sentences of the evidence are quoted and with how much of their clause, or a document's text
read out."""

import re
from collections.abc import Sequence

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.ranking import ScoredSentence
from proviso_service.embedded.chat.request import UserRequest
from proviso_service.embedded.chat.text import content_stems, excerpt, one_line, paragraphs, plain, stems
from proviso_service.embedded.chat.wording import bullets, name, place, quote, said
from proviso_service.tool_results import DocumentPart, FoundPassage

_SECOND_MARGIN = 0.08
_CLAUSE_MARGIN = 0.4
_MAX_CLAUSE_CHARS = 900

_MAX_HEADINGS = 8
_MAX_HEADING_CHARS = 60
_MIN_SUMMARY_CHARS = 60
_MAX_SUMMARY_PARAGRAPHS = 4
_MAX_SUMMARY_CHARS = 700
_SENTENCE_END = re.compile(r"[.;:](?=\s)")


def stated(best: Sequence[ScoredSentence], question: str, good: Sequence[ScoredSentence], language: str) -> str:
    """Quotes the `best` of the `good` sentences: after the name of its document when there is one, as a list
    otherwise."""
    if len(best) > 1:
        return f"{said('documents_say', language)}\n{bullets(listed(best, question, good))}"
    quotes = _quotes(_clause(best[0], good, (), question))
    return said("says", language, place=place(best[0].passage), quote=quotes)


def listed(
    chosen: Sequence[ScoredSentence],
    question: str,
    good: Sequence[ScoredSentence],
    ranked: Sequence[ScoredSentence] = (),
) -> list[str]:
    """Returns one line for each passage. A second sentence that is nearly as good is quoted too; with `ranked`, which
    holds all sentences, more of the clause is quoted."""
    return [f"{place(one.passage)}: {_quotes(_clause(one, good, ranked, question))}" for one in chosen]


def _clause(
    best: ScoredSentence, good: Sequence[ScoredSentence], ranked: Sequence[ScoredSentence], question: str
) -> list[ScoredSentence]:
    """Returns the sentence with its neighbours when the heading of the passage names what the question is about;
    otherwise with the sentences that are nearly as good."""
    asked = content_stems(question)
    if not ranked or not asked or not asked <= stems(best.passage.heading):
        margin, most = (_CLAUSE_MARGIN, 2) if ranked else (_SECOND_MARGIN, 1)
        near = [one for one in good if one is not best and one.passage is best.passage]
        chosen = [best, *[one for one in near if one.score >= best.score - margin][:most]]
    else:
        chosen = [best]
        around = [one for one in ranked if one is not best and one.passage is best.passage]
        for one in sorted(around, key=lambda one: (abs(one.position - best.position), one.position)):
            if sum(len(other.sentence) for other in [*chosen, one]) <= _MAX_CLAUSE_CHARS:
                chosen.append(one)
    return sorted(chosen, key=lambda one: one.position)


def _quotes(chosen: Sequence[ScoredSentence]) -> str:
    """Writes one quote where the sentences follow each other in their passage, and one for each sentence otherwise."""
    passage = chosen[0].passage
    whole = " ".join(one.sentence for one in chosen)
    if len(chosen) > 1 and whole in one_line(plain(passage.text)):
        return quote(whole, passage.ref)
    return " ".join(quote(excerpt(one.sentence), passage.ref) for one in chosen)


def read_out(request: UserRequest, evidence: Evidence) -> str:
    """Reads a document or one of its sections out as a quote. The text is empty when the evidence does not hold it."""
    if request.section:
        return _section(request.section, evidence)
    if not evidence.parts:
        return "\n\n".join(_whole_quote(passage) for passage in evidence.passages[:1])
    part = evidence.parts[-1]
    return _summary(part) if request.intent is Intent.SUMMARY else _text(part)


def _text(part: DocumentPart) -> str:
    quoted = _whole_quote(part.passage, is_cut=part.truncated)
    key = ("begins" if part.truncated else "reads") if quoted else "no_text"
    return said(key, place=name(part.filename), quote=quoted, count=f"{part.character_count:,}")


def _summary(part: DocumentPart) -> str:
    found = paragraphs(part.text)
    first = next((at for at, one in enumerate(found) if len(one) >= _MIN_SUMMARY_CHARS), 0)
    until = next((at for at in range(first + 1, len(found)) if _is_heading(found[at])), len(found))
    opening = found[first : min(until, first + _MAX_SUMMARY_PARAGRAPHS)]
    if not opening:
        return said("no_text", place=name(part.filename))
    quoted = quote(one_line(" ".join(opening), _MAX_SUMMARY_CHARS), part.ref)
    text = said("opens", place=name(part.filename), quote=quoted)
    whole = found[:-1] if part.truncated else found
    headings = [one for one in whole if _is_heading(one) and one not in opening][:_MAX_HEADINGS]
    if headings:
        text += "\n\n" + said("headings", quotes=", ".join(quote(one, part.ref) for one in headings))
    return text


def _section(number: str, evidence: Evidence) -> str:
    starts = re.compile(
        rf"^[#*\s]*(?:(?:section|article|clause)\s+)?{re.escape(number)}(?![\w]|\.\d)", re.IGNORECASE | re.MULTILINE
    )
    for passage in evidence.passages:
        if starts.match(passage.heading) or starts.search(passage.text):
            return said("reads", place=place(passage), quote=_whole_quote(passage))
    return ""


def _whole_quote(passage: FoundPassage, *, is_cut: bool = False) -> str:
    """Quotes a whole passage with its line breaks. A text that `is_cut` is quoted up to the end of its last whole
    sentence."""
    text = re.sub(r"\n\s*\n\s*", "\n\n", plain(passage.text)).strip()
    if is_cut:
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > len(text) // 2 else text
    return quote(text, passage.ref) if any(char.isalnum() for char in text) else ""


def _is_heading(paragraph: str) -> bool:
    return (
        len(paragraph) <= _MAX_HEADING_CHARS
        and not paragraph.endswith((".", ";", ",", ":"))
        and bool(re.match(r"#|\d+(?:\.\d+)*[.)]?\s+[A-Z]|(?:ARTICLE|SECTION|Article|Section)\s", paragraph))
    )
