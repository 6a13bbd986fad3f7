"""What is quoted of a passage: the sentence that answers with those around it, and the items of a list that it opens;
or a document's text, read out."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.request import UserRequest
from proviso_service.embedded.chat.wording import bullets, name, place, quote, said
from proviso_service.embedded.sentences import (
    ENDS,
    MAX_QUOTE_CHARS,
    body,
    is_whole,
    one_line,
    paragraphs,
    plain,
    sentences,
    unnumbered,
)
from proviso_service.reading import Enumeration, enumeration_at, enumeration_holding
from proviso_service.tool_results import DocumentPart, ExtractedAnswer

_MAX_MARK_CHARS = 8
_MAX_ITEMS = 16
_MAX_ITEM_CHARS = 400

_MAX_HEADINGS = 8
_MAX_HEADING_CHARS = 60
_MIN_SUMMARY_CHARS = 60
_MAX_SUMMARY_PARAGRAPHS = 4
_MAX_SUMMARY_CHARS = 700
_SENTENCE_END = re.compile(r"[.;:](?=\s)")
_OPENS_CLAUSE = re.compile(r"#|\d+(?:\.\d+)*[.)]?\s+[A-Z]|(?:ARTICLE|SECTION|Article|Section)\s")


class Place(NamedTuple):
    """An answer, and what is quoted of its passage: where this opens an enumeration that is too long for one quote, its
    `items` each by itself."""

    answer: ExtractedAnswer
    quoted: str
    items: tuple[str, ...] = ()

    @classmethod
    def of(cls, answer: ExtractedAnswer) -> "Place":
        """The sentence that holds the answer, alone."""
        return cls(answer, sentence_of(answer))

    @property
    def quote(self) -> str:
        ref = self.answer.ref
        items = [quote(marked_cuts(one_line(item, _MAX_ITEM_CHARS)), ref) for item in self.items[:_MAX_ITEMS]]
        if len(self.items) > _MAX_ITEMS:
            items.append(said("and_more", count=len(self.items) - _MAX_ITEMS))
        return quote(marked_cuts(self.quoted), ref) + "".join(f"\n  - {item}" for item in items)

    @property
    def line(self) -> str:
        return f"{place(self.answer)}: {self.quote}"


def marked_cuts(quoted: str) -> str:
    """Puts dots where a quote begins or ends amid a sentence."""
    before = "... " if quoted[:1].islower() else ""
    return f"{before}{quoted}{'' if ENDS.search(quoted) else ' ...'}"


def excerpt(sentence: str, evidence: re.Pattern[str] | None = None, most: int = MAX_QUOTE_CHARS) -> str:
    """Returns the part of a sentence, of at most `most` characters, that holds the first match of `evidence`, from the
    beginning of a clause on."""
    if len(sentence) <= most:
        return sentence
    found = evidence.search(sentence) if evidence else None
    if found is None or found.end() <= most:
        return one_line(sentence, most)
    clause = max(sentence.rfind(mark, 0, found.start()) for mark in (";", ",", ":", "."))
    start = clause + 1 if found.end() - clause <= most else found.start()
    return one_line(sentence[start:], most)


def until(sentence: str, evidence: re.Pattern[str], most: int = MAX_QUOTE_CHARS) -> str:
    """Returns the part of a sentence, of at most `most` characters, that ends with the first match of `evidence`, and
    the rest of the sentence as far as it fits."""
    found = evidence.search(sentence)
    if len(sentence) <= most or found is None or found.end() <= most:
        return one_line(sentence, most)
    return sentence[sentence.find(" ", found.end() - most) + 1 : found.end()]


def lines_of(places: Iterable[Place]) -> str:
    return bullets(one.line for one in places)


def sentence_of(answer: ExtractedAnswer, most: int = MAX_QUOTE_CHARS) -> str:
    """Returns the sentence that holds the answer, cut around it to at most `most` characters. A list or table that it
    opens belongs to it."""
    text, wanted = body(answer.text), unnumbered(one_line(plain(answer.answer)))
    for one in sentences(text, answer.heading):
        if wanted in one.text:  # where no words of it are told, the text is little more than the answer
            if one.text.endswith(":") or not wanted:
                return excerpt(one_line(text[one.start :]), most=most)
            return excerpt(one.text, re.compile(re.escape(wanted[:most])), most)
    shown = one_line(plain(answer.text))
    return excerpt(wanted if wanted and wanted in shown else shown, most=most)  # of a long answer a part is shown


def places_of(answers: Iterable[ExtractedAnswer], most: int = MAX_QUOTE_CHARS) -> list[Place]:
    """Returns the places of the answers, in order, with at most `most` characters each: what is part of one that is
    there, or holds it, is left out."""
    found: list[Place] = []
    for one in answers:
        own = sentence_of(one, most)
        others = [other.quoted for other in found if other.answer.document_id == one.document_id]
        if not any(own in text or text in own for text in others):
            found.append(Place(one, _with_neighbours(one, own, others, most)))
    return found


def _with_neighbours(answer: ExtractedAnswer, own: str, others: Sequence[str], most: int) -> str:
    """Returns the sentence with those after it and before it, as far as they are whole, fit into a quote and are not
    quoted elsewhere: where it is not sure that a sentence answers, the answer may stand beside it."""
    text, whole = body(answer.text), one_line(plain(answer.text))
    found = sentences(text, answer.heading)
    at = next((index for index, one in enumerate(found) if own in one.text), len(found))
    quoted, start, end = own, *((found[at].start, found[at].end) if found[at:] else (0, 0))
    for one in (*found[at + 1 :], *reversed(found[:at])) if found[at:] else ():
        between = text[end : one.start] if one.start > start else text[one.end : start]
        longer = one_line(text[min(start, one.start) : max(end, one.end)])
        # A heading that stands between two sentences is in the passage, and would be missing in the quote.
        is_beside = len(one_line(between)) <= _MAX_MARK_CHARS and len(longer) <= most and longer in whole
        if is_beside and is_whole(one.text) and not any(one.text in other for other in others):
            quoted, start, end = longer, min(start, one.start), max(end, one.end)
    return quoted


def listed(places: Iterable[Place], *, asks_all: bool = False) -> list[Place]:
    """Returns the places, those that open an enumeration with its items; where all is asked for also those that are in
    one. What is then quoted already is left out."""
    found: list[Place] = []
    for one in places:
        own = sentence_of(one.answer)
        same = [other for other in found if other.answer.document_id == one.answer.document_id]
        if any(own in text for other in same for text in (other.quoted, *other.items)):
            continue
        whole = enumeration_of(one.answer, own, asks_all=asks_all)
        found.append(_place_of(one.answer, whole) if whole else one)
    return found


def _place_of(answer: ExtractedAnswer, whole: Enumeration) -> Place:
    quoted = " ".join((whole.opening, *whole.items))
    if len(quoted) <= MAX_QUOTE_CHARS and quoted in one_line(plain(answer.text)):
        return Place(answer, quoted)
    return Place(answer, whole.opening, whole.items)


def enumeration_of(answer: ExtractedAnswer, own: str, *, asks_all: bool) -> Enumeration | None:
    """Returns the enumeration that its `own` sentence opens in the text of an answer, or where all is asked for is in;
    None where there is none."""
    text = plain(answer.text)
    at = re.search(r"\s+".join(map(re.escape, own.split())), text)
    if at is None or not (asks_all or own.endswith(":")):
        return None
    return enumeration_at(text, *at.span()) or (enumeration_holding(text, at.start()) if asks_all else None)


def read_out(request: UserRequest, evidence: Evidence) -> str:
    """Reads a document or one of its sections out as a quote. The text is empty when the evidence does not hold it."""
    if not evidence.parts:
        return ""
    part = evidence.parts[-1]
    if request.intent is Intent.SUMMARY and not request.section:
        return _summary(part)
    heading = part.section_path[-1] if request.section and part.section_path else ""
    quoted = _whole_quote(part.text, part.ref, is_cut=part.truncated)
    begins = "section_begins" if request.section else "begins"
    key = (begins if part.truncated else "reads") if quoted else "no_text"
    where = place(part.passage.model_copy(update={"heading": heading}))
    return said(key, place=where, quote=quoted, count=f"{part.character_count:,}")


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


def _whole_quote(text: str, ref: int | None, *, is_cut: bool) -> str:
    """Quotes a whole text with its line breaks. One that `is_cut` is quoted up to the end of its last whole
    sentence."""
    text = re.sub(r"\n\s*\n\s*", "\n\n", plain(text)).strip()
    if is_cut:
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        text = text[: ends[-1]] if ends and ends[-1] > len(text) // 2 else text
    return quote(text, ref) if any(char.isalnum() for char in text) else ""


def _is_heading(paragraph: str) -> bool:
    is_short = len(paragraph) <= _MAX_HEADING_CHARS and not paragraph.endswith((".", ";", ",", ":"))
    return is_short and _OPENS_CLAUSE.match(paragraph) is not None
