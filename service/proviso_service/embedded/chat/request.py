"""What the user asks for, and which documents are meant."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from proviso_service.embedded.chat.clause_queries import ClauseQuery
from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.each_document import EachDocument, asked_of_each
from proviso_service.embedded.chat.mentions import Mention, find_mentions, match_mention, told_apart, without_mentions
from proviso_service.embedded.chat.phrases import Intent, content_words, pattern, stem, stems
from proviso_service.embedded.sentences import one_line
from proviso_service.language import ENGLISH
from proviso_service.tool_results import ListedDocument

_LEAST_OF_PART = 2
_MAX_ALIKE = 2
"""A name that more documents have than these tells none of them."""


class Scope(StrEnum):
    """Where to look when a question names no document of the matter: in the whole matter, in the document on view, in
    that one and then in the matter, or in the documents of the last answer.

    With a document on view a question is about this document unless it means several. The rest of the matter is looked
    in, where the document has no answer, for open questions alone: those that ask who, what, when or how much, search
    for no clause, and do not point at the document."""

    MATTER = "matter"
    VIEWED = "viewed"
    VIEWED_FIRST = "viewed_first"
    EARLIER = "earlier"


@dataclass(frozen=True, slots=True)
class UserRequest:
    """What the user asks for. `question` can be understood without the earlier ones, and the places of `mentions` are
    places in it. `section` is a number such as `5.2`. `clauses` is the IQL query for a question that IQL answers best;
    `asks_types` is true for a question about which types of clauses there are. `names` are the words that may be names
    of parties, or tell in English what kind of agreement is named in another language; `term` is the defined term whose
    meaning is asked for. `skip` is how many matches or documents the person has seen, and `is_at_end` tells that
    these were all."""

    intent: Intent
    question: str
    mentions: tuple[Mention, ...] = ()
    scope: Scope = Scope.MATTER
    section: str = ""
    viewed: ListedDocument | None = None
    clauses: ClauseQuery | None = None
    asks_types: bool = False
    names: tuple[str, ...] = ()
    language: str = ENGLISH
    term: str = ""
    skip: int = 0
    is_at_end: bool = False

    @property
    def asked_of_each(self) -> EachDocument | None:
        """What each document of the matter is to be asked for: which of them, how many, none, the longest."""
        if self.scope is not Scope.MATTER or self.mentions or pattern("one_or_the_other").search(self.question):
            return None
        if pattern("of_them").search(self.question) and any(name not in self.question for name in self.names):
            return None  # of what was spoken of before
        return asked_of_each(self.question, self.language)

    @property
    def parts(self) -> tuple[str, ...]:
        """The two questions of one that asks two things at once; the question alone otherwise."""
        asks = pattern("asks")
        for second in pattern("second_question").finditer(self.question):
            first, rest = self.question[: second.start()], self.question[second.end() :]
            least = _LEAST_OF_PART if second[0].startswith(" and") else 1
            is_told = len(content_words(first)) >= least and len(content_words(rest)) >= _LEAST_OF_PART
            if is_told and asks.search(first) and asks.search(rest):
                return first, rest
        return (self.question,)

    @property
    def is_about_clauses(self) -> bool:
        """Whether the answer depends on what kinds of clauses there are, not on what clauses say."""
        return self.clauses is not None or self.asks_types

    @property
    def names_viewed(self) -> bool:
        """Whether one document is named, and the name fits the one on view in all its words, so that no list of
        documents is needed."""
        if self.viewed is None or len(self.mentions) != 1:
            return False
        return self.mentions[0].is_held_by(self.viewed.filename)

    def subject(self, named: Sequence[Mention]) -> str:
        """Returns the words that say what is looked for, without the documents in `named`. A term in quotation marks
        is returned as it is."""
        quoted = pattern("quoted").search(self.question)
        if quoted and not find_mentions(quoted[1]):
            return quoted[1]
        return " ".join(content_words(pattern("in_matter").sub("", without_mentions(self.question, named))))

    @property
    def bare_question(self) -> str:
        """The question with a general word in place of the names of documents."""
        return generalised(self.question, self.mentions)


def generalised(question: str, mentions: Sequence[Mention]) -> str:
    """Replaces the documents that a question names by a general word, so that their names do not decide what is
    wanted."""
    return one_line(without_mentions(question, mentions, "agreement"))


@dataclass(frozen=True, slots=True)
class TargetDocuments:
    """The documents that a request is about. `documents` are those to look in; when it is empty, all of the matter are
    meant. `missing` are names that fit no document, `unready` are documents that were named and cannot be searched
    yet, and `matched` are the mentions that fit a document."""

    documents: tuple[ListedDocument, ...] = ()
    missing: tuple[str, ...] = ()
    unready: tuple[ListedDocument, ...] = ()
    matched: tuple[Mention, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [document.document_id for document in self.documents]


def find_target_documents(request: UserRequest, evidence: Evidence, last_answer: str = "") -> TargetDocuments:
    """Returns the documents that the request is about, as far as the evidence tells."""
    named = _named(request, evidence) if request.mentions else TargetDocuments()
    if any(one.is_plural for one in named.matched):
        named = replace(named, documents=_with_names(request, named.documents))
    if more := _by_names(request, evidence, named.documents):
        named = _split([*named.documents, *more], matched=named.matched)
    if named != TargetDocuments():
        return _with_viewed(named, request)
    if request.viewed and request.scope in (Scope.VIEWED, Scope.VIEWED_FIRST):
        return TargetDocuments((request.viewed,))
    if request.scope is Scope.EARLIER and evidence.listing:
        return _split([one for one in evidence.listing.documents if one.filename in last_answer])
    listing = evidence.listing if request.intent in (Intent.SHOW, Intent.SUMMARY) else None
    return _split(listing.documents) if listing and listing.total_count == 1 else TargetDocuments()


def _with_names(request: UserRequest, documents: tuple[ListedDocument, ...]) -> tuple[ListedDocument, ...]:
    """Returns those of the documents of a kind that hold a name that is said beside it; all where none does."""
    proper = {one for word in request.names for one in stems(word)}
    return tuple(one for one in documents if proper & _held(one)) or documents


def _by_names(request: UserRequest, evidence: Evidence, known: Sequence[ListedDocument]) -> list[ListedDocument]:
    """Returns the documents whose file names or beginnings hold what the question names and the `known` ones do not:
    the fewest that hold all of it. None where the names are those of most documents, or of none."""
    if evidence.listing is None or request.viewed is not None or request.asked_of_each is not None:
        return []
    listed = evidence.listing.documents
    holders = Counter(word for one in listed for word in _held(one))
    left = {word for word, count in holders.items() if count <= max(_MAX_ALIKE, len(listed) / 3)}
    proper = {one for word in request.names for one in (*stems(word), word.lower())}
    wanted = (left & proper or left).difference(*map(_held, known))
    if known and not wanted & proper:
        return []
    chosen: list[ListedDocument] = []
    while wanted:
        most = max(len(wanted & _held(one)) for one in listed)
        best = [one for one in listed if len(wanted & _held(one)) == most]
        if len(best) > _MAX_ALIKE:
            break
        chosen += best
        wanted = wanted.difference(*map(_held, best))
    return chosen


def _held(document: ListedDocument) -> frozenset[str]:
    """Returns the stems of the words asked for that the document's name or beginning holds."""
    return frozenset(map(stem, document.holds))


def _with_viewed(named: TargetDocuments, request: UserRequest) -> TargetDocuments:
    """Puts the document on view in front of those that are named where it is meant beside them: it is one side of a
    comparison with one other, or the question says so."""
    viewed = request.viewed
    if viewed is None or not named.documents or viewed.document_id in named.ids:
        return named
    is_other_side = request.intent is Intent.COMPARE and len(request.mentions) == 1
    if is_other_side or pattern("this").search(without_mentions(request.question, request.mentions)):
        return replace(named, documents=(viewed, *named.documents))
    return named


def _named(request: UserRequest, evidence: Evidence) -> TargetDocuments:
    if request.viewed and request.names_viewed:
        return TargetDocuments((request.viewed,), matched=request.mentions)
    if evidence.listing is None:
        return TargetDocuments()
    listed = evidence.listing.documents
    fits = {
        mention: match_mention(mention, [one.filename for one in listed]) or _by_beginnings(mention, listed)
        for mention in request.mentions
    }
    indices = dict.fromkeys(index for found in fits.values() for index in found)
    is_missing = evidence.listing.holds_named and (request.intent is Intent.COMPARE or not indices)
    # With a document on view "the lease" that is none of the matter's is a subject of that document.
    firm = [one for one in fits if one.firm and (told_apart(one) or request.viewed is None)]
    missing = tuple(one.phrase for one in firm if is_missing and not fits[one])
    return _split([listed[index] for index in indices], missing, tuple(one for one, found in fits.items() if found))


def _by_beginnings(mention: Mention, listed: Sequence[ListedDocument]) -> list[int]:
    """Returns the place of the one document whose beginning holds most of the words of a name that fits no file's."""
    wanted = told_apart(mention)
    held = [len(wanted & _held(one)) for one in listed]
    most = max(held, default=0)
    return [held.index(most)] if most and held.count(most) == 1 else []


def _split(
    documents: Sequence[ListedDocument], missing: tuple[str, ...] = (), matched: tuple[Mention, ...] = ()
) -> TargetDocuments:
    ready = tuple(one for one in documents if one.is_ready)
    return TargetDocuments(ready, missing, tuple(one for one in documents if not one.is_ready), matched)
