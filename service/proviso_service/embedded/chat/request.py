"""Reads what the user asks for, and which documents are meant. A follow-up takes what it does not say itself from the
questions before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from proviso_service.embedded.chat.clause_queries import ClauseQuery, asks_for_types, clause_query, typed_query
from proviso_service.embedded.chat.conversation import Evidence, ReadConversation, ViewedDocument
from proviso_service.embedded.chat.each_document import EachDocument, asked_of_each, asks_what_they_say
from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.mentions import (
    Mention,
    filename_stems,
    find_mentions,
    match_mention,
    means_several,
    means_this_one,
    points_at_view,
    proper_words,
    told_apart,
    without_mentions,
)
from proviso_service.embedded.chat.phrases import Intent, pattern
from proviso_service.embedded.chat.text import content_words, one_line, stem, stems
from proviso_service.embedded.chat.wording import is_said
from proviso_service.language import ENGLISH, language_of
from proviso_service.tool_results import DocumentList, ListedDocument

MAX_QUESTION_CHARS = 600
_MAX_EARLIER = 6
_FOLLOW_UP = pattern("follow_up")
_OPENING_OF_FOLLOW_UP = pattern("opening_of_follow_up")
_STANDS_ALONE = pattern("stands_alone")
_MORE = pattern("more")
_ANAPHOR = pattern("anaphor")
_OPEN = pattern("open")
_CLAUSES = pattern("clauses")
_YES = pattern("yes")
_THE_OTHERS = pattern("the_others")
_AFTER_THIS = pattern("after_this")
_THE_TWO = pattern("the_two")
_SAME_POINT = pattern("same_point")
_SECOND_QUESTION = pattern("second_question")
_ASKS = pattern("asks")
_QUOTED = re.compile(r"[\"“']([^\"“”']{2,80})[\"”']")
_ASKS_FACT = pattern("asks_fact")
_SECTION = pattern("section")
_DOCUMENT_FREE = frozenset({Intent.GREETING, Intent.THANKS, Intent.ABOUT, Intent.ADVICE, Intent.OFF_TOPIC})
_MAX_FOLLOW_UP_WORDS = 12
_LEAST_OF_PART = 2
_LEAST_WORDS_ABROAD = 4
_MAX_ALIKE = 2
"""A name that more documents have than these tells none of them."""


_LEFT_OUT = re.compile(r"(?P<all>\d+) passages satisfy.*?(?P<left>\d+) more passages? not quoted here", re.DOTALL)
_DEFINES = pattern("defines")
_TERM = re.compile(
    r"[\"\u201c\u201e\u00ab]\s*(?P<term>[^\"\u201c\u201d\u00bb]{2,60}?)\s*[\"\u201d\u201c\u00bb]"
    r"|(?<!\w)['\u2018](?P<named>[A-Z][^'\u2018\u2019]{1,60})['\u2019](?!\w)"
)


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
    of parties, and `term` is the defined term whose meaning is asked for."""

    intent: Intent
    question: str
    mentions: tuple[Mention, ...] = ()
    scope: Scope = Scope.MATTER
    section: str = ""
    viewed: ViewedDocument | None = None
    clauses: ClauseQuery | None = None
    asks_types: bool = False
    names: tuple[str, ...] = ()
    language: str = ENGLISH
    term: str = ""

    @property
    def is_document_free(self) -> bool:
        """Whether no document is needed to answer, as with a greeting."""
        return self.intent in _DOCUMENT_FREE and not self.is_about_clauses

    @property
    def asked_of_each(self) -> EachDocument | None:
        """What each document of the matter is to be asked for: which of them, how many, none, the longest."""
        if self.scope is not Scope.MATTER or self.mentions:
            return None
        return asked_of_each(self.question, self.language)

    @property
    def parts(self) -> tuple[str, ...]:
        """The two questions of one that asks two things at once; the question alone otherwise."""
        for second in _SECOND_QUESTION.finditer(self.question):
            first, rest = self.question[: second.start()], self.question[second.end() :]
            least = _LEAST_OF_PART if second[0].startswith(" and") else 1
            is_told = len(content_words(first)) >= least and len(content_words(rest)) >= _LEAST_OF_PART
            if is_told and _ASKS.search(first) and _ASKS.search(rest):
                return first, rest
        return (self.question,)

    @property
    def asks_what_lacks(self) -> bool:
        """Whether the documents that do not have something are asked for, for which all have to be known."""
        asked = self.asked_of_each
        return asked is not None and asked.lacks

    @property
    def is_about_clauses(self) -> bool:
        """Whether the answer depends on what kinds of clauses there are, not on what clauses say."""
        return self.clauses is not None or self.asks_types

    def subject(self, named: Sequence[Mention]) -> str:
        """Returns the words that say what is looked for, without the documents in `named`. A term in quotation marks
        is returned as it is."""
        quoted = _QUOTED.search(self.question)
        if quoted and not find_mentions(quoted[1]):
            return quoted[1]
        return " ".join(content_words(without_mentions(self.question, named)))

    @property
    def bare_question(self) -> str:
        """The question with a general word in place of the names of documents."""
        return generalised(self.question, self.mentions)


async def understand(conversation: ReadConversation, recogniser: IntentRecogniser) -> UserRequest:
    """Reads the current question, together with earlier ones when it cannot be understood alone."""
    question = focus(conversation.current.text)
    earlier = [focus(text) for text in conversation.earlier[-_MAX_EARLIER:] if text]
    if asked := _asked_elsewhere(question, earlier, conversation.last_answer):
        mentions = find_mentions(asked)
        intent = await recogniser.recognise(generalised(asked, mentions))
        return replace(_request(intent, asked, mentions, conversation), scope=Scope.MATTER)
    request = await _understand(question, earlier, conversation, recogniser)
    if conversation.current.viewed is None and earlier:
        if request.intent is Intent.COMPARE and _THE_TWO.search(question):
            before = next((found for text in reversed(earlier) if (found := proper_words(text))), ())
            request = replace(request, names=tuple(dict.fromkeys((*request.names, *before))))
        elif not request.mentions:
            request = replace(request, names=request.names or _names_kept(question, earlier))
    return request


async def _understand(
    question: str, earlier: list[str], conversation: ReadConversation, recogniser: IntentRecogniser
) -> UserRequest:
    mentions = find_mentions(question)
    if _is_follow_up(question, mentions) and earlier:
        return await _follow_up(question, mentions, earlier, conversation, recogniser)
    intent = await recogniser.recognise(generalised(question, mentions))
    if intent is Intent.FIND and _ASKS_FACT.search(question):
        intent = Intent.FACT
    if language_of(question) != ENGLISH and len(question.split()) >= _LEAST_WORDS_ABROAD:
        intent = Intent.FACT  # the examples of intents are in English
    return _request(intent, question, mentions, conversation)


def focus(text: str) -> str:
    """Returns the question in a long message: its last sentences that end with a question mark, or else its
    beginning."""
    line = one_line(text)
    if len(line) <= MAX_QUESTION_CHARS:
        return line
    asking = [sentence for sentence in re.split(r"(?<=[.?!]) ", line) if sentence.endswith("?")]
    return one_line(" ".join(asking[-2:]) or line, MAX_QUESTION_CHARS)


def generalised(question: str, mentions: Sequence[Mention]) -> str:
    """Replaces the documents that a question names by a general word, so that their names do not decide what is
    wanted."""
    return one_line(without_mentions(question, mentions, "agreement"))


def _request(
    intent: Intent, question: str, mentions: tuple[Mention, ...], conversation: ReadConversation
) -> UserRequest:
    viewed = conversation.current.viewed
    if viewed:  # a word that may be a subject as well ("license") does not lead away from the document on view
        mentions = tuple(one for one in mentions if one.firm and not _AFTER_THIS.search(question[: one.start]))
    bare = without_mentions(question, mentions)
    section = _SECTION.search(question)
    clauses, asks_types = typed_query(question) or clause_query(bare), asks_for_types(bare)
    if intent is Intent.LIST and viewed and points_at_view(bare) and not means_several(bare):
        intent = Intent.CLAUSE  # what "this document" has is no question for the list of documents
    if intent is Intent.LIST and not viewed and asks_what_they_say(question):
        intent = Intent.CLAUSE
    is_open = not (section or clauses or asks_types) and _asks_openly(intent, question)
    return UserRequest(
        intent=intent,
        question=question,
        mentions=mentions,
        scope=_scope(intent, bare, conversation, is_open=is_open) if viewed or not mentions else Scope.MATTER,
        section=section[1] if section else "",
        viewed=viewed,
        clauses=clauses,
        asks_types=asks_types,
        names=() if viewed else proper_words(_TERM.sub("", question)),
        language=language_of(question),
        term=_defined_term(question),
    )


def _defined_term(question: str) -> str:
    """Returns the term in quotation marks whose meaning a question asks for."""
    quoted = _TERM.search(question)
    return quoted["term"] or quoted["named"] if quoted and _DEFINES.search(question) else ""


def _asks_openly(intent: Intent, question: str) -> bool:
    is_for_text = intent in (Intent.FACT, Intent.FIND)
    return is_for_text and _OPEN.match(question) is not None and not _CLAUSES.search(question)


def _scope(intent: Intent, question: str, conversation: ReadConversation, *, is_open: bool) -> Scope:
    if conversation.current.viewed is None:
        points_back = conversation.last_answer and _ANAPHOR.search(question) and not means_several(question)
        return Scope.EARLIER if points_back else Scope.MATTER
    points_at_view_alone = points_at_view(question) and intent not in (Intent.COMPARE, Intent.COUNT)
    if means_several(question) and not points_at_view_alone:
        return Scope.MATTER
    if points_at_view(question):
        return Scope.VIEWED
    if intent is Intent.COMPARE:
        return Scope.MATTER
    return Scope.VIEWED_FIRST if is_open else Scope.VIEWED


def _asked_elsewhere(question: str, earlier: Sequence[str], last_answer: str) -> str:
    """Returns the earlier question that the person wants to have answered from the other documents, too; empty where
    the message does not ask for that."""
    takes_offer = _YES.match(question) and is_said("offer", last_answer)
    if not (takes_offer or _THE_OTHERS.match(question)):
        return ""
    return next((text for text in reversed(earlier) if not (_YES.match(text) or _THE_OTHERS.match(text))), "")


def _names_kept(question: str, earlier: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the latest earlier question that has some, for one that has none itself."""
    if proper_words(question) or find_mentions(question) or means_several(question):
        return ()
    return next((found for text in reversed(earlier) if (found := proper_words(text))), ())


def _is_follow_up(question: str, mentions: tuple[Mention, ...]) -> bool:
    if len(question.split()) > _MAX_FOLLOW_UP_WORDS:
        return False
    names_only = bool(mentions) and not content_words(without_mentions(question, mentions))
    return bool(_FOLLOW_UP.match(question) or _MORE.match(question)) or (
        names_only and len(question.split()) <= len(" ".join(one.phrase for one in mentions).split()) + 2
    )


async def _follow_up(
    question: str,
    mentions: tuple[Mention, ...],
    earlier: list[str],
    conversation: ReadConversation,
    recogniser: IntentRecogniser,
) -> UserRequest:
    """Completes a follow-up. One that names a document and no subject takes the earlier subject; one that has a
    subject and names no document takes the earlier documents."""
    base = next((text for text in reversed(earlier) if not _is_follow_up(text, find_mentions(text))), earlier[-1])
    base_mentions = find_mentions(base)
    base_intent = await recogniser.recognise(generalised(base, base_mentions))
    if base_intent in _DOCUMENT_FREE:
        intent = await recogniser.recognise(generalised(question, mentions))
        return _request(intent, question, mentions, conversation)
    if _MORE.match(question):
        return _more(_request(Intent.FIND, base, base_mentions, conversation), conversation.last_answer)
    asked, named = _without_opening(question), proper_words(question)
    others = max(len(named), len(mentions))
    if others and _SAME_POINT.search(question):
        before = base if others == 1 else _without_documents(base, base_mentions)
        joined = f"{before.rstrip('?. ')}: {asked}"
        intent = await recogniser.recognise(generalised(asked, ()))
        return _request(intent, joined, find_mentions(joined), conversation)
    subject = " ".join(content_words(without_mentions(question, mentions)))
    subject = re.sub(r"^(?:and|also|same|question)\s+", "", subject)
    if not subject:
        return _moved(base, base_intent, base_mentions, mentions, conversation)
    if _stands_alone(question):
        intent = await recogniser.recognise(generalised(question, mentions))
        intent = Intent.FACT if intent is Intent.OFF_TOPIC else intent
    else:
        intent = base_intent if base_intent not in (Intent.LIST, Intent.SHOW, Intent.SUMMARY) else Intent.FACT
        if mentions or named:  # of another document
            asked = f"{_without_documents(base, base_mentions).rstrip('?. ')}: {asked}"
    names = "" if mentions or named else " and ".join(one.phrase for one in _latest_mentions(earlier))
    joined = f"{asked.rstrip('?. ')} in {names}?" if names else asked
    return _request(intent, joined, find_mentions(joined), conversation)


def _without_documents(question: str, mentions: Sequence[Mention]) -> str:
    """Returns a question without the documents and parties that it names."""
    bare = without_mentions(question, mentions, "agreement")
    names = proper_words(bare)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})(?!\w)", "party", bare) if names else bare


def _more(request: UserRequest, last_answer: str) -> UserRequest:
    """Asks for the matches after those of the last answer, where it has left some out."""
    left = _LEFT_OUT.search(last_answer)
    if request.clauses is None or left is None:
        return request
    return replace(request, clauses=replace(request.clauses, skip=int(left["all"]) - int(left["left"])))


def _moved(
    base: str,
    intent: Intent,
    base_mentions: tuple[Mention, ...],
    mentions: tuple[Mention, ...],
    conversation: ReadConversation,
) -> UserRequest:
    """Asks the earlier question about other documents."""
    bare = without_mentions(base, base_mentions, "agreement").rstrip("?. ")
    joined = f"{bare} in {' and '.join(one.phrase for one in mentions)}?" if mentions else f"{bare}?"
    return _request(intent, joined, find_mentions(joined), conversation)


def _latest_mentions(earlier: list[str]) -> tuple[Mention, ...]:
    return next((found for found in (find_mentions(text) for text in reversed(earlier)) if found), ())


def _without_opening(question: str) -> str:
    return _OPENING_OF_FOLLOW_UP.sub("", question)


def _stands_alone(question: str) -> bool:
    return _STANDS_ALONE.match(question) is not None


def names_viewed(mention: Mention, viewed: ViewedDocument | None) -> bool:
    """Tells whether the mention fits the document on view in all its words, so that no list of documents is needed."""
    return viewed is not None and mention.stems <= filename_stems(viewed.name)


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


def as_listed(viewed: ViewedDocument) -> ListedDocument:
    return ListedDocument(document_id=viewed.document_id, filename=viewed.name)


def may_widen(request: UserRequest, target: TargetDocuments) -> bool:
    """Tells whether the rest of the matter is looked in where the document on view has no answer."""
    return request.scope is Scope.VIEWED_FIRST and bool(target.documents) and not target.matched


def needs_listing(request: UserRequest) -> bool:
    """Tells whether the names of the matter's documents must be known first."""
    if request.is_document_free:
        return False
    if request.mentions:
        return not (len(request.mentions) == 1 and names_viewed(request.mentions[0], request.viewed))
    if request.scope is Scope.EARLIER or request.intent is Intent.LIST or request.names or request.asks_what_lacks:
        return True
    if request.intent in (Intent.SHOW, Intent.SUMMARY):
        return request.scope is Scope.MATTER
    return request.intent is Intent.COMPARE or (
        request.intent is Intent.COUNT and not request.subject(request.mentions)
    )


def find_target_documents(request: UserRequest, evidence: Evidence, last_answer: str = "") -> TargetDocuments:
    """Returns the documents that the request is about, as far as the evidence tells."""
    named = _named(request, evidence) if request.mentions else TargetDocuments()
    if more := _by_names(request, evidence, named.documents):
        named = replace(_split([*named.documents, *more]), matched=named.matched)
    if named != TargetDocuments():
        return _with_viewed(named, request.viewed) if request.viewed and _means_viewed_too(request) else named
    if request.viewed and request.scope in (Scope.VIEWED, Scope.VIEWED_FIRST):
        return TargetDocuments((as_listed(request.viewed),))
    if request.scope is Scope.EARLIER and evidence.listing:
        return _split(tuple(one for one in evidence.listing.documents if one.filename in last_answer))
    return TargetDocuments()


def _by_names(request: UserRequest, evidence: Evidence, known: Sequence[ListedDocument]) -> list[ListedDocument]:
    """Returns the documents whose file names or beginnings hold what the question names and the `known` ones do not:
    the fewest that hold all of it. None where the names are those of most documents, or of none."""
    listing = evidence.listing
    if listing is None or request.viewed is not None or request.asked_of_each is not None:
        return []
    listed = listing.documents
    common = {word for one in listed for word in _held(one) if _is_common(word, listing)}
    left = {word for one in listed for word in _held(one)} - common
    proper = {one for word in request.names for one in stems(word)}
    wanted = (left & proper or left).difference(*(_held(one) for one in known))
    if known and not wanted & proper:
        return []
    chosen: list[ListedDocument] = []
    while wanted:
        most = max(len(wanted & _held(one)) for one in listed)
        best = [one for one in listed if len(wanted & _held(one)) == most]
        if len(best) > _MAX_ALIKE:
            break
        chosen += best
        wanted = wanted.difference(*(_held(one) for one in best))
    return chosen


def _held(document: ListedDocument) -> frozenset[str]:
    """Returns the stems of the words asked for that the document's name or beginning holds."""
    return frozenset(map(stem, document.holds))


def _is_common(word: str, listing: DocumentList) -> bool:
    holders = sum(word in _held(one) for one in listing.documents)
    return holders > _MAX_ALIKE and holders > len(listing.documents) / 3


def _means_viewed_too(request: UserRequest) -> bool:
    """Tells whether the document on view is meant beside those that are named: it is one side of a comparison with one
    other, or the question says so."""
    is_other_side = request.intent is Intent.COMPARE and len(request.mentions) == 1
    return is_other_side or means_this_one(without_mentions(request.question, request.mentions))


def _with_viewed(named: TargetDocuments, viewed: ViewedDocument) -> TargetDocuments:
    if viewed.document_id in named.ids or not named.documents:
        return named
    return replace(named, documents=(as_listed(viewed), *named.documents))


def _named(request: UserRequest, evidence: Evidence) -> TargetDocuments:
    if request.viewed and len(request.mentions) == 1 and names_viewed(request.mentions[0], request.viewed):
        return TargetDocuments((as_listed(request.viewed),), matched=request.mentions)
    if evidence.listing is None:
        return TargetDocuments()
    listed = evidence.listing.documents
    fits = {
        mention: match_mention(mention, [one.filename for one in listed]) or _by_beginnings(mention, listed)
        for mention in request.mentions
    }
    indices = dict.fromkeys(index for found in fits.values() for index in found)
    lost = [mention for mention, found in fits.items() if not found]
    is_missing = evidence.listing.holds_named and (request.intent is Intent.COMPARE or not indices)
    missing = tuple(one.phrase for one in lost if one.firm) if is_missing else ()
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
