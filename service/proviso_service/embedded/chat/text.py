"""The stems of words, and the parts of sentences that are quoted."""

import re

from proviso_service.embedded.sentences import ENDS, MAX_QUOTE_CHARS, one_line
from proviso_service.reading import KINDS_OF_CONTRACTS, REQUEST_STOP_WORDS, joined_words

_STEM_LENGTH = 6
_WITHOUT_SUBJECT = REQUEST_STOP_WORDS | KINDS_OF_CONTRACTS


def stem(word: str) -> str:
    """Returns the beginning of a word that its forms share: `termin` for `terminates`, `termination` and
    `terminating`."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_LENGTH]


def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in joined_words(text))


def content_words(text: str) -> list[str]:
    """Returns the words of a question that say what it is about, in order."""
    return [word for word in joined_words(text) if word not in _WITHOUT_SUBJECT]


def content_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))


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
