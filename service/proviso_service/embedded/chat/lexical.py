"""Words of questions and passages, reduced so that grammatical forms of a word meet."""

import re

_WORD = re.compile(r"[^\W_]+(?:['\u2019&][^\W_]+)*")
_SPACE = re.compile(r"\s+")
_STEM_LENGTH = 6

# Words that carry no topic: grammar, ways of asking, and the names of things every question here is about.
_STOP_WORDS = """
a about above across actually after all also am an and any anyone anything are as ask at back be been before
being between both but by can case check clause clauses come contain contained contains could deal dealing deals
did discuss discussed do document documents does doing done each either else even ever every everything exact
exactly exist exists explain file files find for from further get give given go going had has have having he
hello help her here hi his how i if in include included includes including information into is it its just
kindly know later let like list locate look looking lot make makes many matter may me mean mention mentioned
mentions might more most much must my need no not now of off ok okay on one only or other our out over paragraph
part passage passages please point possible provide provided provides provision provisions quote quotes read
refer references regarding related relevant s said same say saying says search section sections see set shall
she should show so some something state stated states such summarise summarize take talk talks tell text than
thank thanks that the their them then there these they thing things this those to too under until up us use used
very want was we well were what when where whether which while who whom whose why will with within word words
would you your
compare compared difference different differ happen happens same longer shorter higher lower longest shortest
highest lowest larger smaller long period periods count number times often
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
GENERIC_KINDS = frozenset({"agreement", "agreements", "contract", "contracts"})


def words(text: str) -> list[str]:
    """Words in order, lower case; apostrophes stay inside a word, a possessive ending goes."""
    return [re.sub(r"['\u2019]s$", "", word) for word in _WORD.findall(text.lower())]


def stem(word: str) -> str:
    """A prefix that forms of one word share: `terminates`, `termination` and `terminating` give `termin`."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_LENGTH]


def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text))


def content_words(text: str) -> list[str]:
    """The words of a question that say what it is about, in order."""
    return [word for word in words(text) if word not in STOP_WORDS and word not in GENERIC_KINDS]


def content_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(text))


def one_line(text: str, max_chars: int | None = None) -> str:
    """White space collapsed; cut at a word's end to at most `max_chars`."""
    line = _SPACE.sub(" ", text).strip()
    if max_chars is None or len(line) <= max_chars:
        return line
    head, space, _ = line[: max_chars + 1].rpartition(" ")
    return head if space else line[:max_chars]
