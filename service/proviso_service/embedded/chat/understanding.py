"""Reads what the user asks for. A follow-up takes what it does not say itself from the questions before it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from proviso_service.embedded.chat.clause_queries import asks_for_types, clause_query, typed_query
from proviso_service.embedded.chat.conversation import ReadConversation
from proviso_service.embedded.chat.each_document import asked_of_each, asks_what_they_say
from proviso_service.embedded.chat.intents import IntentRecogniser
from proviso_service.embedded.chat.mentions import (
    find_mentions,
    kinds_abroad,
    means_several,
    points_at_view,
    proper_words,
    told_apart,
    without_mentions,
)
from proviso_service.embedded.chat.phrases import DOCUMENT_FREE, Intent, content_words, pattern
from proviso_service.embedded.chat.request import Scope, UserRequest, generalised
from proviso_service.embedded.chat.wording import is_said
from proviso_service.embedded.sentences import one_line
from proviso_service.language import ENGLISH, language_of

_MAX_QUESTION_CHARS = 600
_MAX_EARLIER = 6
_MAX_FOLLOW_UP_WORDS = 12
_LEAST_WORDS_ABROAD = 4


async def understand(conversation: ReadConversation, recogniser: IntentRecogniser) -> UserRequest:
    """Reads the current question, together with earlier ones when it cannot be understood alone."""
    question = _focus(conversation.current.text)
    earlier = [_focus(text) for text in conversation.earlier[-_MAX_EARLIER:] if text]
    if asked := _asked_elsewhere(question, earlier, conversation.last_answer):
        return replace(_request(await _intent_of(asked, recogniser), asked, conversation), scope=Scope.MATTER)
    if earlier and _is_follow_up(question):
        request = await _follow_up(question, earlier, conversation, recogniser)
    else:  # the examples of intents are in English
        is_abroad = language_of(question) != ENGLISH and len(question.split()) >= _LEAST_WORDS_ABROAD
        intent = Intent.FACT if is_abroad else await _intent_of(question, recogniser)
        request = _request(intent, question, conversation)
    if conversation.current.viewed or not earlier:
        return request
    before = next((found for text in reversed(earlier) if (found := proper_words(text))), ())
    if request.intent is Intent.COMPARE and pattern("the_two").search(question):
        return replace(request, names=tuple(dict.fromkeys((*request.names, *before))))
    if request.mentions or request.names or proper_words(question) or find_mentions(question):
        return request
    return request if means_several(question) else replace(request, names=before)


def _focus(text: str) -> str:
    """Returns the question in a long message: its last sentences that end with a question mark, or else its
    beginning."""
    line = one_line(text)
    if len(line) <= _MAX_QUESTION_CHARS:
        return line
    asking = [sentence for sentence in re.split(r"(?<=[.?!]) ", line) if sentence.endswith("?")]
    return one_line(" ".join(asking[-2:]) or line, _MAX_QUESTION_CHARS)


async def _intent_of(question: str, recogniser: IntentRecogniser) -> Intent:
    return await recogniser.recognise(generalised(question, find_mentions(question)))


def _request(intent: Intent, question: str, conversation: ReadConversation) -> UserRequest:
    viewed = conversation.current.viewed
    mentions = find_mentions(question)
    if viewed:  # a word that may be a subject as well ("license") does not lead away from the document on view
        after_this = pattern("after_this")
        named = (one for one in mentions if one.firm or one.proper)
        mentions = tuple(one for one in named if not after_this.search(question[: one.start]))
    bare = without_mentions(question, mentions)
    section = pattern("section").search(question)
    clauses, asks_types = typed_query(question) or clause_query(bare), asks_for_types(bare)
    is_of_one = points_at_view(bare) and not means_several(bare)
    is_of_some = bool(viewed) or any(map(told_apart, mentions))
    is_of_all = intent in (Intent.LIST, Intent.SUMMARY, Intent.SHOW) and not is_of_some and asks_what_they_say(question)
    if is_of_all or (intent is Intent.LIST and viewed and is_of_one):
        intent = Intent.CLAUSE  # what "this document" has, or which say something, the list of documents does not tell
    is_for_text = intent in (Intent.FACT, Intent.CLAUSE) and not (section or clauses or asks_types)
    is_open = is_for_text and bool(pattern("open").match(question)) and not pattern("clauses").search(question)
    language = language_of(question)
    is_of_several = len(mentions) > 1 or asked_of_each(question, language) is not None
    names = proper_words(pattern("term").sub("", question)) + (() if language == ENGLISH else kinds_abroad(question))
    term = pattern("term").search(question) if pattern("defines").search(question) else None
    return UserRequest(
        intent=intent,
        question=question,
        mentions=mentions,
        scope=_scope(intent, bare, conversation, is_open=is_open) if viewed or not mentions else Scope.MATTER,
        section=section[1] if section else "",
        viewed=viewed,
        clauses=clauses,
        asks_types=asks_types,
        names=() if viewed else names,
        language=language,
        term=(term["term"] or term["named"] or ("" if is_of_several else term["bare"])) if term else "",
    )


def _scope(intent: Intent, question: str, conversation: ReadConversation, *, is_open: bool) -> Scope:
    if conversation.current.viewed is None:
        points_back = conversation.last_answer and pattern("anaphor").search(question) and not means_several(question)
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
    yes, the_others = pattern("yes"), pattern("the_others")
    takes_offer = yes.match(question) and is_said("offer", last_answer)
    if not (takes_offer or the_others.match(question)):
        return ""
    return next((text for text in reversed(earlier) if not (yes.match(text) or the_others.match(text))), "")


def _is_follow_up(question: str) -> bool:
    if pattern("compares_with_that").match(question):
        return True
    if len(question.split()) > _MAX_FOLLOW_UP_WORDS:
        return False
    if pattern("follow_up").match(question) or pattern("more").match(question):
        return True
    if pattern("only_extreme").fullmatch(question) or _is_of_subject(question):
        return True
    mentions = find_mentions(question)
    names_only = bool(mentions) and not content_words(without_mentions(question, mentions))
    return names_only and len(question.split()) <= len(" ".join(one.phrase for one in mentions).split()) + 2


def _is_of_subject(question: str) -> bool:
    """Tells whether a question says nothing of its subject but a pronoun: "How much is it?" """
    return (
        pattern("of_subject").search(question) is not None
        and pattern("asks").search(question) is not None
        and len(content_words(question)) <= 1
        and not (proper_words(question) or find_mentions(question) or pattern("of_contract").search(question))
    )


async def _follow_up(
    question: str, earlier: Sequence[str], conversation: ReadConversation, recogniser: IntentRecogniser
) -> UserRequest:
    """Completes a follow-up. One that names a document and no subject takes the earlier subject; one that has a
    subject and names no document takes the earlier documents."""
    base = next((text for text in reversed(earlier) if not _is_follow_up(text)), earlier[-1])
    intent = await _intent_of(base, recogniser)
    if intent in DOCUMENT_FREE:
        return _request(await _intent_of(question, recogniser), question, conversation)
    if pattern("more").match(question):
        seen = pattern("seen").findall(conversation.last_answer)
        is_at_end = not seen and pattern("more").match(earlier[-1]) is not None
        request = _request(Intent.CLAUSE, base, conversation)
        return replace(request, skip=int(seen[-1]) if seen else 0, is_at_end=is_at_end)
    asked = pattern("opening_of_follow_up").sub("", question)
    if completed := _completed(question, asked, base):
        return _request(Intent.FACT, completed, conversation)
    bare = without_mentions(base, find_mentions(base), "agreement")
    mentions = find_mentions(question)
    others = max(len(proper_words(question)), len(mentions))
    if others and pattern("same_point").search(question):
        with_base = others == 1 or pattern("compares_with_that").match(question)
        before = base if with_base else _without_names(bare)
        intent = await recogniser.recognise(generalised(asked, ()))
        return _request(intent, f"{before.rstrip('?. ')}: {asked}", conversation)
    if not content_words(without_mentions(question, mentions)):  # the earlier question, about other documents
        where = f" in {' and '.join(one.phrase for one in mentions)}" if mentions else ""
        return _request(intent, f"{bare.rstrip('?. ')}{where}?", conversation)
    if pattern("stands_alone").match(question):
        intent = await _intent_of(question, recogniser)
        intent = Intent.FACT if intent is Intent.OFF_TOPIC else intent
    else:
        intent = intent if intent not in (Intent.LIST, Intent.SHOW, Intent.SUMMARY) else Intent.FACT
        if others:  # of another document
            asked = f"{_without_names(bare).rstrip('?. ')}: {asked}"
    kept = next((found for text in reversed(earlier) if (found := find_mentions(text))), ())
    is_of_more = means_several(question) and (len(kept) == 1 or pattern("beyond").search(question))
    if kept and not others and not is_of_more:
        asked = f"{asked.rstrip('?. ')} in {' and '.join(one.phrase for one in kept)}?"
    return _request(intent, asked, conversation)


def _completed(question: str, asked: str, base: str) -> str:
    """Returns a question that says nothing of its subject with that of the one before; empty for any other."""
    extreme = pattern("extreme")
    if pattern("only_extreme").fullmatch(asked) and extreme.search(base):
        return extreme.sub(extreme.findall(asked)[0], base, count=1)
    return f"{base.rstrip('?. ')}: {asked}" if _is_of_subject(question) else ""


def _without_names(question: str) -> str:
    """Returns a question without the parties that it names."""
    names = proper_words(question)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})(?!\w)", "party", question) if names else question
