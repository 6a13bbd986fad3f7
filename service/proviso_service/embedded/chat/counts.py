"""Answers that are lists and counts, taken from the tools as they stand."""

import re

from proviso_service.embedded.chat.evidence import Evidence, Listing, MatchingDocument, Search
from proviso_service.embedded.chat.mentions import match_mention
from proviso_service.embedded.chat.rendering import bullets, counted, document_lines, joined, name, reference
from proviso_service.embedded.chat.targets import Target
from proviso_service.embedded.chat.task import Task

_HOW_OFTEN = re.compile(r"\bhow (?:often|many (?:times|passages|mentions))\b", re.IGNORECASE)


def documents_answer(task: Task, target: Target, listing: Listing) -> str:
    """The documents of the matter, or those whose names match."""
    if target.matched and listing.is_whole:
        return _named_answer(target, listing)
    status = listing.summary
    parts = [f"{status.ready_for_search} ready for search"]
    parts += [f"{status.still_processing} still being processed"] if status.still_processing else []
    parts += [f"{status.failed} failed"] if status.failed else []
    states = f" ({joined(parts)})" if len(parts) > 1 else ""
    return f"The matter has {counted(listing.total_count, 'document')}{states}:\n{document_lines(listing)}"


def count_answer(task: Task, target: Target, evidence: Evidence) -> str:
    """How many documents hold the words asked for; exact when the tool counted, else at least what it returned."""
    search = evidence.searches[-1]
    matching, is_exact = _matching(search)
    subject = name(search.query or task.subject(target.matched))
    still = [name(one) for one in search.processing_names if one]
    caveat = f"\nStill being processed and not counted: {joined(still)}." if still else ""
    if not matching:
        where = f" of {joined([name(one.filename) for one in target.documents])}" if target.documents else ""
        return f"{_no_match(subject)}{where}.{caveat}"
    lines = [
        f"{name(one.filename)}: {counted(one.passages, 'passage')}{reference(_ref_of(search, one))}" for one in matching
    ]
    total = max(search.documents_matching_count or 0, len(matching))
    if total > len(matching):
        lines.append(f"and {total - len(matching)} more")
    return f"{_headline(task, subject, matching, total, is_exact)}:\n{bullets(lines)}{caveat}"


def _named_answer(target: Target, listing: Listing) -> str:
    names = [one.filename for one in listing.documents]
    indices = sorted({index for mention in target.matched for index in match_mention(mention, names)})
    wanted = joined([f"'{name(one.phrase)}'" for one in target.matched])
    count = counted(listing.total_count, "document")
    verb = "has a name that matches" if len(indices) == 1 else "have names that match"
    return f"{len(indices)} of {count} {verb} {wanted}:\n{bullets(name(names[index]) for index in indices)}"


def _matching(search: Search) -> tuple[tuple[MatchingDocument, ...], bool]:
    if search.documents_matching is not None:
        return search.documents_matching, True
    found: dict[str, MatchingDocument] = {}
    for one in search.results:
        before = found.get(one.filename)
        passages = before.passages + 1 if before else 1
        found[one.filename] = MatchingDocument(document_id=one.document_id, filename=one.filename, passages=passages)
    return tuple(found.values()), False


def _headline(task: Task, subject: str, matching: tuple[MatchingDocument, ...], total: int, is_exact: bool) -> str:
    """Passages are only known of the documents shown, documents are counted exactly where the tool did."""
    documents = f"{'' if is_exact else 'At least '}{counted(total, 'document')}"
    if not _HOW_OFTEN.search(task.question):
        return f"{documents} {_holds(subject, total == 1)}"
    passages = sum(one.passages for one in matching)
    least = "" if is_exact and total == len(matching) else "At least "
    return f"{least}{counted(passages, 'passage')} of {counted(total, 'document')} {_holds(subject, passages == 1)}"


def _holds(subject: str, is_one: bool) -> str:
    if " " not in subject:
        return f"mention{'s' if is_one else ''} '{subject}'"
    return f"{'has' if is_one else 'have'} all the words of '{subject}' in one passage"


def _no_match(subject: str) -> str:
    return f"No searched passage holds {'all the words of ' if ' ' in subject else ''}'{subject}'"


def _ref_of(search: Search, document: MatchingDocument) -> int | None:
    same = (one.ref for one in search.results if one.filename == document.filename)
    return next(same, None)
