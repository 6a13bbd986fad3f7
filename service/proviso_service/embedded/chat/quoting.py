"""How chosen sentences are put: which of them, and how much around each."""

from collections.abc import Sequence

from proviso_service.embedded.chat.evidence import Passage
from proviso_service.embedded.chat.lexical import content_stems, one_line, stems
from proviso_service.embedded.chat.ranking import Scored, Wanted, quote_of
from proviso_service.embedded.chat.rendering import bullets, place, quote
from proviso_service.embedded.chat.sentences import plain, split_sentences

_MAX_DOCUMENTS = 12
_DOCUMENT_MARGIN = 0.25
_FIGURE_MARGIN = 0.4
_SECOND_MARGIN = 0.08
_CLAUSE_MARGIN = 0.3
_MAX_CLAUSE_CHARS = 900
_MAX_OPENING_CHARS = 500


def stated(good: Sequence[Scored], wanted: Wanted) -> str:
    """The best sentences, best first: of one document with a lead-in, of several as a list."""
    best = best_by_document(good, wanted)
    if len(best) > 1:
        return "The documents say:\n" + bullets(listed(best, wanted, good))
    first = best[0]
    return f"{place(first.passage)} says: {_quotes(_clause(first, good, (), wanted), wanted)}"


def listed(
    chosen: Sequence[Scored], wanted: Wanted, good: Sequence[Scored], ranked: Sequence[Scored] = ()
) -> list[str]:
    """One line for each passage, with a second sentence that is nearly as good; with more of its clause when `ranked`
    is given, which holds the clause whole."""
    return [f"{place(one.passage)}: {_quotes(_clause(one, good, ranked, wanted), wanted)}" for one in chosen]


def best_by_document(good: Sequence[Scored], wanted: Wanted) -> list[Scored]:
    """The best sentence of each document that is not much worse than the best of all; one with the figure that was
    asked for may be farther from it."""
    floor = good[0].score - (_FIGURE_MARGIN if wanted.kind else _DOCUMENT_MARGIN)
    best: dict[str, Scored] = {}
    for one in good:
        if one.score >= floor:
            best.setdefault(one.document, one)
    return list(best.values())[:_MAX_DOCUMENTS]


def distinct(good: Sequence[Scored]) -> list[Scored]:
    """The best sentence of each passage that is not much worse than the best of all."""
    floor = good[0].score - _DOCUMENT_MARGIN
    best: dict[int, Scored] = {}
    for one in good:
        if one.score >= floor:
            best.setdefault(id(one.passage), one)
    return list(best.values())


def opening_of(passage: Passage) -> str:
    """The first sentences of the passage, as many as a quote should have."""
    sentences = split_sentences(passage.text, passage.heading)
    whole = one_line(plain(passage.text))
    best = sentences[0] if sentences else whole
    for count in range(2, len(sentences) + 1):
        longer = " ".join(sentences[:count])
        if len(longer) > _MAX_OPENING_CHARS or longer not in whole:
            break
        best = longer
    return best


def _near(first: Scored, good: Sequence[Scored], margin: float, most: int) -> list[Scored]:
    """Further sentences of the same passage that are nearly as good."""
    near = (
        one for one in good if one is not first and one.passage is first.passage and one.score >= first.score - margin
    )
    return list(near)[:most]


def _clause(best: Scored, good: Sequence[Scored], ranked: Sequence[Scored], wanted: Wanted) -> list[Scored]:
    """The sentence with its neighbours, when the heading of the passage names what the question is about."""
    asked = content_stems(wanted.question)
    if not ranked or not asked or not asked <= stems(best.passage.heading):
        more = _near(best, good, _CLAUSE_MARGIN, 2) if ranked else _near(best, good, _SECOND_MARGIN, 1)
        return sorted([best, *more], key=lambda one: one.position)
    around = sorted((one for one in ranked if one.passage is best.passage), key=lambda one: one.position)
    chosen = [best]
    for one in sorted(around, key=lambda one: (abs(one.position - best.position), one.position)):
        if one is not best and sum(len(other.sentence) for other in [*chosen, one]) <= _MAX_CLAUSE_CHARS:
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.position)


def _quotes(chosen: Sequence[Scored], wanted: Wanted) -> str:
    """One quote where the sentences follow each other in their passage, else one for each."""
    passage = chosen[0].passage
    whole = " ".join(one.sentence for one in chosen)
    if len(chosen) > 1 and whole in one_line(plain(passage.text)):
        return quote(whole, passage.ref)
    return " ".join(quote(quote_of(one, wanted), passage.ref) for one in chosen)
