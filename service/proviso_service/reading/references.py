"""Reads references to clauses: "clause 12.3", "Sections 4 and 5", "Article IV", "Schedule 2".

A reference is recognised where a word for a clause or a part stands before a number, or where a number of several
levels is the whole query."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proviso_service.reading.model import Chunk, Span
from proviso_service.reading.numerals import NumeralStyle, numeral, roman_value

MAX_REFERENCES = 16
"""The most references of a query that count, including those between the ends of a range."""

# The names of larger parts, by the beginning that their forms share. Everything else is a clause.
_PARTS = ("schedule", "exhibit", "annex", "appendi", "attachment", "addend", "part")
_ARTICLE = "article"

_CLAUSE_LABEL = (
    r"(?:sub-?)?(?:clauses?|sections?|paragraphs?)|cls?\.?|secs?\.?|articles?|arts?\.|paras?\.?|ss?\.?(?=\s?\d)"
)
_PART_LABEL = r"schedules?|exhibits?|annex(?:es|ures?)?|appendi(?:x|xes|ces)|attachments?|addend(?:um|a)|parts?"
_LABEL = rf"(?<![\w'\u2019])(?P<label>{_CLAUSE_LABEL}|{_PART_LABEL})(?:\s+(?:nos?\.?|numbers?)(?=\s))?"
_ITEM = r"\s?\([0-9a-zA-Z]{1,5}\)"
_DIGITS = rf"\d{{1,3}}[A-Z]?(?:\.\d{{1,3}}[A-Z]?){{0,5}}(?:{_ITEM}){{0,4}}"
_ROMAN = rf"[IVXLC]{{1,7}}(?:\.\d{{1,3}}){{0,3}}(?:{_ITEM}){{0,4}}"
_LETTER = r"[A-Z](?:[-.]\d{1,2}){0,2}"
# A number in small letters counts only where no word follows: "schedule a meeting" names no schedule.
_SMALL = r"(?:[ivxlc]{1,7}|[a-z])(?=\s*(?:[?.,;:)\]]|$|(?:and|or|of|to|in)\b))"
_ITEMS = rf"\([0-9a-zA-Z]{{1,5}}\)(?:{_ITEM}){{0,3}}"
_NUMBER = rf"(?P<number>(?-i:{_DIGITS}|{_ROMAN}|{_LETTER}|{_SMALL}|{_ITEMS})(?![\w%]))"
_FIRST = re.compile(rf"(?:{_LABEL}(?:\s{{1,3}}|(?=[\d(]))|\u00a7{{1,2}}\s{{0,3}}){_NUMBER}", re.IGNORECASE)
_NEXT = re.compile(rf"\s*(?P<join>,|&|\band|\bor|\bto|\bthrough|-|\u2013)\s*(?:and\s+|or\s+)?{_NUMBER}", re.IGNORECASE)
_ALONE = re.compile(
    rf"\s*(?P<number>\d{{1,3}}[A-Z]?(?:(?:\.\d{{1,3}}){{1,5}}(?:{_ITEM}){{0,4}}|(?:{_ITEM}){{1,4}}))[\s.?]*"
)
_BARE = re.compile(_NUMBER)
# In a title the number comes first and ends in a mark, or has several levels.
_TITLE_NUMBER = re.compile(rf"(?P<number>{_DIGITS}|{_ROMAN}|[A-Z]|[a-z]|{_ITEMS})(?:(?<=\))|[.):]|(?<=\d)(?=\s|\Z))")
_NUMBER_ENDS = " .:"
_LEVELS = re.compile(r"[^\s.()-]+")
_RANGES = ("to", "through", "-", "\u2013")
_MAX_OTHER_NUMERAL = 99
"""The largest number that is also tried as a Roman numeral: an article C or D is more likely a letter."""
_BELOW = 3
_TITLE_CHARS = 200
"""A chunk may name the part that it opens in so many first characters."""


@dataclass(frozen=True, slots=True)
class ClauseReference:
    """A reference to a clause. `kind` is "article", the beginning of a larger part's name ("schedule", "appendi"), or
    empty for any other clause; `levels` is the number: ("12", "3", "b") for 12.3(b)."""

    kind: str
    levels: tuple[str, ...]

    @property
    def is_part(self) -> bool:
        return self.kind in _PARTS

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The number as it is written, and for an article also in the other numerals: IV for 4."""
        if self.kind != _ARTICLE:
            return (self.levels,)
        other = _other_numeral(self.levels[0])
        return (self.levels, (other, *self.levels[1:])) if other else (self.levels,)


@dataclass(frozen=True, slots=True)
class References:
    """The references of a query and where they stand in it."""

    clauses: tuple[ClauseReference, ...] = ()
    spans: tuple[Span, ...] = ()


def levels_of(number: str) -> tuple[str, ...]:
    """Returns the levels of a clause number: ("12", "3", "b") for "12.3(b)"."""
    return tuple(_LEVELS.findall(number))


def references_in(query: str) -> References:
    """Returns the references of a query in order, each once, at most MAX_REFERENCES."""
    if alone := _ALONE.fullmatch(query):
        return References((ClauseReference("", levels_of(alone["number"])),), (Span(*alone.span("number")),))
    clauses: list[ClauseReference] = []
    spans: list[Span] = []
    position = 0
    while match := _FIRST.search(query, position):
        kind = _kind(match["label"] or "")
        start, position = match.start(), match.end()
        clauses.append(_reference(kind, match["number"]))
        while following := _NEXT.match(query, position):
            last = _reference(kind, following["number"])
            clauses += _between(clauses[-1], last) if following["join"].lower() in _RANGES else ()
            clauses.append(last)
            position = following.end()
        spans.append(Span(start, position))
    return References(tuple(dict.fromkeys(clauses))[:MAX_REFERENCES], tuple(spans))


def clause_named(text: str) -> ClauseReference | None:
    """Returns the clause that a text names when it names nothing else: "clause 12.3", "Article IV", "12.3", "4",
    "A"."""
    if match := _FIRST.fullmatch(text.strip(_NUMBER_ENDS)) or _BARE.fullmatch(text.strip(_NUMBER_ENDS)):
        return _reference(_kind(match.groupdict().get("label") or ""), match["number"])
    return None


def clause_of_title(title: str) -> tuple[ClauseReference | None, str]:
    """Returns the clause or part that a title numbers, and the title without the number: "9. Governing Law", "ARTICLE
    IV - FEES"."""
    match = _FIRST.match(title) or _TITLE_NUMBER.match(title)
    if match is None:
        return None, title
    return _reference(_kind(match.groupdict().get("label") or ""), match["number"]), title[match.end() :]


def clause_ranks(references: Sequence[ClauseReference], chunks: Sequence[tuple[str, Chunk]]) -> list[int | None]:
    """Ranks chunks, given with their document's id, by the clauses referred to: from 0, and None for a chunk that is no
    part of such a clause. The clauses themselves come before what stands below them, and before clauses of that number
    inside a schedule; of each document the first such chunk comes before the second. Equally good chunks share a
    rank."""
    keys: dict[int, tuple[int, int, int]] = {}
    seen = Counter[tuple[str, int, int]]()
    for index in sorted(range(len(chunks)), key=lambda index: chunks[index][1].ordinal):
        document_id, chunk = chunks[index]
        tiers = [tier for reference in references if (tier := _tier(reference, chunk)) is not None]
        if tiers:
            place = (document_id, -len(tiers), min(tiers))
            keys[index] = (*place[1:], seen[place])
            seen[place] += 1
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
    return [ranks[keys[index]] if index in keys else None for index in range(len(chunks))]


def _tier(reference: ClauseReference, chunk: Chunk) -> int | None:
    """Returns how close the chunk is to the clause, the smaller the closer; None when it is no part of the clause."""
    if reference.is_part and not _is_in_part(reference, chunk):
        return None
    parts = () if reference.is_part else _parts_of(chunk)
    numbers = [levels for number in chunk.clause_numbers if (levels := levels_of(number)) not in parts]
    is_elsewhere = bool(parts)
    for other_numerals, form in enumerate(reference.forms):
        if form in numbers:
            return is_elsewhere + other_numerals
        if any(number[: len(form)] == form for number in numbers):
            return _BELOW + is_elsewhere + other_numerals
    return None


def _parts_of(chunk: Chunk) -> tuple[tuple[str, ...], ...]:
    """Returns the numbers of the schedules and exhibits that the chunk lies in, which are not clauses."""
    named = (clause_of_title(title)[0] for title in chunk.section_path)
    return tuple(part.levels for part in named if part and part.is_part)


def _is_in_part(reference: ClauseReference, chunk: Chunk) -> bool:
    number = re.escape(reference.levels[0])
    named = re.compile(rf"\b{reference.kind}[a-z]*\W{{1,3}}(?-i:{number})(?![^\W_])", re.IGNORECASE)
    return any(named.search(title) for title in (*chunk.section_path, chunk.text[:_TITLE_CHARS]))


def _kind(label: str) -> str:
    label = label.lower()
    if label.startswith("art"):
        return _ARTICLE
    return next((part for part in _PARTS if label.startswith(part)), "")


def _reference(kind: str, number: str) -> ClauseReference:
    """Makes a reference; articles and larger parts are lettered and numbered in capitals."""
    levels = levels_of(number)
    if kind and not number.startswith("("):
        levels = (levels[0].upper(), *levels[1:])
    return ClauseReference(kind, levels)


def _between(first: ClauseReference, last: ClauseReference) -> Iterator[ClauseReference]:
    """Yields the clauses between the ends of a range, when the last level of both is a number and the other levels are
    the same."""
    *above, low = first.levels
    *above_last, high = last.levels
    if above == above_last and low.isdecimal() and high.isdecimal() and int(high) - int(low) <= MAX_REFERENCES:
        for number in range(int(low) + 1, int(high)):
            yield ClauseReference(first.kind, (*above, str(number)))


def _other_numeral(number: str) -> str:
    """Returns IV for 4 and 4 for IV; empty for a number that is neither."""
    value = int(number) if number.isdecimal() else roman_value(number)
    if not 0 < value <= _MAX_OTHER_NUMERAL:
        return ""
    return numeral(value, NumeralStyle.UPPER_ROMAN) if number.isdecimal() else str(value)
