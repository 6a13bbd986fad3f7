"""Reads questions about which of a matter's documents have something, or have not, how many, and which has most of it:
what each of them is asked for that, and how large a figure is wanted."""

import re
from dataclasses import dataclass
from math import inf

from proviso_service.embedded.chat.phrases import content_words, pattern
from proviso_service.language import ENGLISH
from proviso_service.reading import DATE, DAYS_OF_YEAR, PERIOD, Measure, measures_of

_LEAST_WORDS, _LEAST_SUBJECT = 3, 2
_OF_DATES = "What is the date of this agreement?"
_OF_EXTREMES = (
    ("How long", pattern("of_time"), "How long does this agreement last?"),
    ("When", pattern("of_ends"), "When does this agreement end?"),
    ("When", pattern("of_dates"), _OF_DATES),
    ("How much", pattern("of_amounts"), "How much is to be paid under this agreement?"),
)

_YEAR = re.compile(r"((?:19|20)\d\d)\b(?!,\d)")
_NEXT_CHARS, _LITTLE = 2, 1e-6
_MORE_THAN = re.compile(r"(?<!not )(?<!no )(?:more than|in excess of|exceed(?:s|ing)?|over)\W*$", re.IGNORECASE)
_REACH_CHARS = 20
_MAX_FIGURE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Bound:
    """How large a figure of a sort is to be: from `least` to `most`."""

    sort: str
    least: float = -inf
    most: float = inf

    def met_by(self, text: str) -> bool | None:
        """Tells whether a text states such a figure; None where it states none of the sort. What is more than a figure
        is a little more."""
        amounts = [
            one.amount + 2 * _LITTLE * bool(_MORE_THAN.search(text, max(0, one.start - _REACH_CHARS), one.start))
            for one in measures_of(text, is_source=True)
            if one.sort == self.sort
        ]
        return any(self.least <= one <= self.most for one in amounts) if amounts else None


@dataclass(frozen=True, slots=True)
class EachDocument:
    """What each document is asked for: a question to one of them, without a negation where the documents that lack
    something are meant. Those of which the answer says the `place`, or a figure within the `bound`, are meant where
    there is one."""

    question: str
    lacks: bool = False
    place: str = ""
    bound: Bound | None = None


def asked_of_each(question: str, language: str) -> EachDocument | None:
    """Reads a question about which documents of a matter have something; None for any other. "Which of our contracts do
    not limit liability?" asks each of them for "limit liability"."""
    if opening := pattern("opening_of_each").search(question):
        rest = pattern("rest_of_each").split(question[opening.end() :], maxsplit=1)[0].rstrip("?. ")
        if pattern("points_back").match(rest):
            rest = pattern("documents_that").sub("", question[: opening.start()].rstrip(":,. "))
        return _asked_by(rest) or EachDocument(question)
    if pattern("asks_each").search(question) is None:
        return None
    if language != ENGLISH:
        return EachDocument(question, pattern("negated_abroad").search(question) is not None)
    question = pattern("asks_for_list").sub("", question)
    return EachDocument(_of_one(question.rstrip("?. ")) if _asks_extreme(question) else question)


def _asked_by(predicate: str) -> EachDocument | None:
    """Returns what each document is asked by what is said of those that are meant; None where too little is said."""
    lacking = pattern("lacks").match(predicate)
    if law := pattern("law_of").search(predicate):
        place = law["named"] or law["of"] or ""
        lacks = lacking is not None or pattern("foreign_law").search(predicate) is not None
        return EachDocument("Which law governs this agreement?", lacks=lacks, place=place)
    if lacking:
        kept = next(filter(None, lacking.groups()), "")
        return EachDocument(_of_one(f"{kept} {predicate[lacking.end() :]}"), lacks=True)
    if bounded := bound_of(predicate):
        bound, rest = bounded
        asks = {PERIOD: "How long", DATE: "When"}.get(bound.sort, "How much")
        is_of_date = bound.sort == DATE and pattern("is_dated").fullmatch(rest)
        return EachDocument(_OF_DATES if is_of_date else f"{asks}: {rest}?", bound=bound)
    is_enough = len(predicate.split()) >= _LEAST_WORDS or _asks_extreme(predicate)
    return EachDocument(_of_one(predicate)) if is_enough else None


def asks_what_they_say(question: str) -> bool:
    """Tells whether a question about which documents there are that ... is about what they say, and not about the
    documents themselves."""
    rest = ""
    if opening := pattern("opening_of_each").search(question):
        rest = question[opening.end() :]
    elif asks := pattern("asks_for_list").search(question):
        rest = question[: asks.start()]
    elif found := pattern("of_all_documents").search(question):
        rest = pattern("of_form").sub("", found["what"])
    is_enough = len(content_words(rest)) >= _LEAST_SUBJECT or _asks_extreme(rest) or pattern("clauses").search(rest)
    return bool(is_enough) and not pattern("of_uploads").search(rest)


def _asks_extreme(predicate: str) -> bool:
    return any(extreme.search(predicate) for _, extreme, _ in _OF_EXTREMES)


def _of_one(predicate: str) -> str:
    """Returns what one document is asked: for a figure, where the documents with the largest or smallest are meant."""
    for asks, extreme, of_all in _OF_EXTREMES:
        if extreme.search(predicate):
            rest = pattern("around_extreme").sub("", extreme.sub("", predicate, count=1))
            return f"{asks}: {' '.join(rest.split())}?" if content_words(rest) else of_all
    return f"this agreement: {' '.join(predicate.split())}"


def bound_of(question: str) -> tuple[Bound, str] | None:
    """Returns how large a figure a question wants, and the question without that; None where it does not say."""
    for one in reversed(measures_of(question)):  # "three years or more"
        for kind, said in (("or_more", "at least"), ("or_less", "at most")):
            if more := pattern(kind).match(question, one.end):
                figure = question[one.start : one.end]
                question = f"{question[: one.start]}{said} {figure}{question[more.end() :]}"
    for found in pattern("bound").finditer(question):
        is_of_time = pattern("bound_of_dates").match(found[0]) is not None
        wanted = _wanted(question[found.end() :][:_MAX_FIGURE_CHARS], may_be_year=is_of_time)
        if wanted is None or (is_of_time and wanted.sort != DATE):
            continue
        sort, first, last, _, length = wanted
        before, after = question[: found.start()], question[found.end() + length :]
        if pattern("condition").search(before) or pattern("goes_on").match(after):
            continue
        bounds = {
            "above": Bound(sort, least=last + _LITTLE),
            "least": Bound(sort, least=first),
            "below": Bound(sort, most=first - _LITTLE),
            "most": Bound(sort, most=last),
            "in": Bound(sort, first, last),
        }
        rest = before.rstrip() + " " + after.lstrip(" '\u2019")
        return bounds[found.lastgroup or ""], rest.strip()
    return None


def _wanted(text: str, *, may_be_year: bool) -> Measure | None:
    """Returns the figure at the beginning of a text. A year has many days."""
    if may_be_year and (year := _YEAR.match(text)):
        first = int(year[1]) * DAYS_OF_YEAR
        return Measure(DATE, first, first + DAYS_OF_YEAR - 1, 0, year.end())
    return next((one for one in measures_of(text)[:1] if one.start <= _NEXT_CHARS), None)
