"""Reads what the user asks for, and which documents are meant. A follow-up takes what it does not say itself from the
questions before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.embedded.chat.clause_queries import ClauseQuery, asks_for_types, clause_query
from proviso_service.embedded.chat.conversation import Evidence, ReadConversation, ViewedDocument
from proviso_service.embedded.chat.examples import Intent
from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.mentions import (
    Mention,
    filename_stems,
    find_mentions,
    match_mention,
    without_mentions,
)
from proviso_service.embedded.chat.text import content_words, one_line
from proviso_service.embedded.topics import Topic, ValueKind, kind_of, topic_of
from proviso_service.tool_results import ListedDocument

MAX_QUESTION_CHARS = 600
_MAX_EARLIER = 6
_FOLLOW_UP = re.compile(
    r"^(?:and|or|also|then|ok(?:ay)?,? and|what about|how about|same (?:for|question)|in the|for the|but)\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"^(?:(?:tell|show|give) me more|more|go on|continue|anything else|what else|more details?)\b", re.IGNORECASE
)
_ONLY_THIS = re.compile(
    r"\b(?:this|the current|the open) (?:document|agreement|contract|file|lease|nda|one)\b", re.IGNORECASE
)
_ANAPHOR = re.compile(
    r"\b(?:it|its|that (?:document|agreement|contract|file|one)|(?:the )?same (?:document|agreement|contract))\b",
    re.IGNORECASE,
)
_WHOLE_MATTER = re.compile(
    r"\b(?:all|any|every|each|other|both|across|which|what|how many|these|those|the (?:two|three)) (?:of (?:the|our) )?"
    r"(?:\w+ )?(?:documents|files|agreements|contracts|agreement|contract|document)\b"
    r"|\b(?:in|across) (?:this|the|our) (?:matter|case)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“']([^\"“”']{2,80})[\"”']")
_SECTION = re.compile(r"\b(?:section|article|clause|paragraph)\s+(\d+(?:\.\d+)*|[ivxlc]+\b)", re.IGNORECASE)
_DOCUMENT_FREE = frozenset({Intent.GREETING, Intent.THANKS, Intent.ABOUT, Intent.ADVICE, Intent.OFF_TOPIC})
_MAX_FOLLOW_UP_WORDS = 10


class Scope(StrEnum):
    """Where to look when a question names no document: in the whole matter, in the document on view, in that one and
    then in the matter, or in the documents of the last answer."""

    MATTER = "matter"
    VIEWED = "viewed"
    VIEWED_FIRST = "viewed_first"
    EARLIER = "earlier"


@dataclass(frozen=True, slots=True)
class UserRequest:
    """What the user asks for. `question` can be understood without the earlier ones, and the places of `mentions` are
    places in it. `section` is a number such as `5.2`. `clauses` is the IQL query for a question that IQL answers best;
    `asks_types` is true for a question about which types of clauses there are."""

    intent: Intent
    question: str
    mentions: tuple[Mention, ...] = ()
    scope: Scope = Scope.MATTER
    topic: Topic | None = None
    kind: ValueKind | None = None
    section: str = ""
    viewed: ViewedDocument | None = None
    clauses: ClauseQuery | None = None
    asks_types: bool = False

    @property
    def is_document_free(self) -> bool:
        """Whether no document is needed to answer, as with a greeting."""
        return self.intent in _DOCUMENT_FREE and not self.is_about_clauses

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
    mentions = find_mentions(question)
    if _is_follow_up(question, mentions) and earlier:
        return await _follow_up(question, mentions, earlier, conversation, recogniser)
    intent = await recogniser.recognise(generalised(question, mentions))
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
    topic = topic_of(without_mentions(question, mentions, "agreement"))
    bare = without_mentions(question, mentions)
    section = _SECTION.search(question)
    return UserRequest(
        intent=intent,
        question=question,
        mentions=mentions,
        scope=_scope(question, mentions, conversation),
        topic=topic,
        kind=kind_of(question, topic),
        section=section[1] if section else "",
        viewed=conversation.current.viewed,
        clauses=clause_query(bare),
        asks_types=asks_for_types(bare),
    )


def _scope(question: str, mentions: tuple[Mention, ...], conversation: ReadConversation) -> Scope:
    viewed = conversation.current.viewed
    if mentions:
        return Scope.MATTER
    if viewed is None:
        return Scope.EARLIER if _ANAPHOR.search(question) and conversation.last_answer else Scope.MATTER
    if _ONLY_THIS.search(question):
        return Scope.VIEWED
    return Scope.MATTER if _WHOLE_MATTER.search(question) else Scope.VIEWED_FIRST


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
        return _request(Intent.FIND, base, base_mentions, conversation)
    subject = " ".join(content_words(without_mentions(question, mentions)))
    subject = re.sub(r"^(?:and|also|same|question)\s+", "", subject)
    if not subject:
        return _moved(base, base_intent, base_mentions, mentions, conversation)
    if _stands_alone(question):
        intent = await recogniser.recognise(generalised(question, mentions))
    else:
        intent = base_intent if base_intent not in (Intent.LIST, Intent.SHOW, Intent.SUMMARY) else Intent.FACT
    names = "" if mentions else " and ".join(one.phrase for one in _latest_mentions(earlier))
    asked = _without_opening(question)
    joined = f"{asked.rstrip('?. ')} in {names}?" if names else asked
    return _request(intent, joined, find_mentions(joined), conversation)


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
    return re.sub(
        r"^(?:ok(?:ay)?,? )?(?:and |or |but |also |then )?(?:what about |how about )?",
        "",
        question,
        flags=re.IGNORECASE,
    )


def _stands_alone(question: str) -> bool:
    return bool(
        re.match(
            r"^(?:and |or |but |also |then )+(?:what (?!about)|who|when|where|how (?!about)|is |are |does|do |can )",
            question,
            re.IGNORECASE,
        )
    )


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


def needs_listing(request: UserRequest) -> bool:
    """Tells whether the names of the matter's documents must be known first."""
    if request.is_document_free:
        return False
    if request.mentions:
        return not (len(request.mentions) == 1 and names_viewed(request.mentions[0], request.viewed))
    if request.scope is Scope.EARLIER or request.intent is Intent.LIST:
        return True
    if request.intent in (Intent.SHOW, Intent.SUMMARY):
        return request.scope is Scope.MATTER
    return request.intent is Intent.COMPARE or (
        request.intent is Intent.COUNT and not request.subject(request.mentions)
    )


def find_target_documents(request: UserRequest, evidence: Evidence, last_answer: str = "") -> TargetDocuments:
    """Returns the documents that the request is about, as far as the evidence tells."""
    if request.mentions:
        return _named(request, evidence)
    if request.viewed and request.scope in (Scope.VIEWED, Scope.VIEWED_FIRST):
        return TargetDocuments((ListedDocument(document_id=request.viewed.document_id, filename=request.viewed.name),))
    if request.scope is Scope.EARLIER and evidence.listing:
        return _split(tuple(one for one in evidence.listing.documents if one.filename in last_answer))
    return TargetDocuments()


def _named(request: UserRequest, evidence: Evidence) -> TargetDocuments:
    if request.viewed and len(request.mentions) == 1 and names_viewed(request.mentions[0], request.viewed):
        viewed = ListedDocument(document_id=request.viewed.document_id, filename=request.viewed.name)
        return TargetDocuments((viewed,), matched=request.mentions)
    if evidence.listing is None:
        return TargetDocuments()
    listed = evidence.listing.documents
    fits = {mention: match_mention(mention, [one.filename for one in listed]) for mention in request.mentions}
    indices = dict.fromkeys(index for found in fits.values() for index in found)
    lost = [mention for mention, found in fits.items() if not found]
    is_missing = evidence.listing.holds_named and (request.intent is Intent.COMPARE or not indices)
    missing = tuple(one.phrase for one in lost if one.firm) if is_missing else ()
    return _split([listed[index] for index in indices], missing, tuple(one for one, found in fits.items() if found))


def _split(
    documents: Sequence[ListedDocument], missing: tuple[str, ...] = (), matched: tuple[Mention, ...] = ()
) -> TargetDocuments:
    ready = tuple(one for one in documents if one.is_ready)
    return TargetDocuments(ready, missing, tuple(one for one in documents if not one.is_ready), matched)
