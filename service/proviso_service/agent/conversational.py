"""Which answers state nothing: greetings, questions back, and what the assistant says of itself or to the person.

Code cannot tell a fact from a courtesy in general. It can tell the sentences that speak of nobody but the two who talk,
and takes every other one for a statement."""

import re

_SENTENCE = re.compile(r"[^.!?\n\u3002\uff01\uff1f\u061f]+[.!?\n\u3002\uff01\uff1f\u061f]*")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", ";\u037e")
_WORD = re.compile(r"[^\W\d_]+")

# In English, German, French, Spanish, Italian, Portuguese and Dutch; without words that are something else as well,
# such as the French article "le" or the German "sie".
_SPEAKERS = frozenset(
    {
        *("me", "my", "myself", "we", "us", "our", "you", "your", "yours"),
        *("ich", "mir", "mich", "mein", "meine", "wir", "uns", "du", "dir", "dich", "dein", "ihnen"),
        *("je", "moi", "mon", "mes", "nous", "tu", "toi", "vous", "votre", "vos"),
        *("yo", "mi", "nosotros", "te", "ti", "usted", "ustedes"),
        *("io", "noi", "eu", "voc\u00ea", "ik", "mij", "mijn", "wij", "jij"),
    }
)
_COURTESIES = frozenset(
    {
        *("hello", "hi", "hey", "welcome", "thanks", "thank", "please", "sorry", "goodbye", "bye"),
        *("hallo", "guten", "danke", "bitte", "entschuldigung", "tsch\u00fcss"),
        *("bonjour", "bonsoir", "salut", "merci", "hola", "buenos", "buenas", "gracias", "perd\u00f3n"),
        *("ciao", "buongiorno", "grazie", "prego", "ol\u00e1", "obrigado", "obrigada", "hoi", "dank"),
    }
)
_TIMES_OF_DAY = frozenset({"day", "morning", "afternoon", "evening"})


def is_conversational(answer: str) -> bool:
    """Whether every sentence is a question, a courtesy, or speaks of the assistant or to the person."""
    return all(_is_harmless(sentence.strip()) for sentence in _SENTENCE.findall(answer))


def _is_harmless(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    if not words or sentence.rstrip("\"'\u201d\u2019)*_ ").endswith(_QUESTION_MARKS):
        return True
    first, second = (*map(str.lower, words[:2]), "")[:2]
    is_courtesy = first in _COURTESIES or (first == "good" and second in _TIMES_OF_DAY)
    # US is a country, us is not.
    return is_courtesy or any(word == "I" or (not word.isupper() and word.lower() in _SPEAKERS) for word in words)
