"""Compares texts as they are searched, and reads what a query asks for: words, exact phrases and clauses.

Documents keep their text as it is. Ligatures, soft hyphens, characters without width, typographic quotes and dashes,
the case of letters, and words broken at a line's end stand between a reader's words and those of the text; everything
that compares the two goes through here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

from proviso_service.reading import ClauseReference, Span, readable, references_in, significant_words, words_of

_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u02bc\u2032\uff07"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_PLAIN = str.maketrans(
    dict.fromkeys(_SINGLE_QUOTES, "'") | dict.fromkeys(_DOUBLE_QUOTES, '"') | dict.fromkeys(_DASHES, "-")
)
_LETTER_APOSTROPHE = str.maketrans({"\u02bc": "'"})
# Letters of the alphabets that are hyphenated; spelt out, so that another version of Unicode does not change them.
_LETTER = "[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0386-\u03ff\u0400-\u0481\u048a-\u052f]"
# A word that is broken at the end of a line: the hyphen may belong to the word or to the line's end. The letter before
# it is looked at last, so that most of a text is skipped without looking; other writers wait while a document's
# passages are indexed.
_BROKEN = re.compile(rf"[-\u2010\u00ad](?<={_LETTER}.)\r?\n[ \t]*(?={_LETTER})")
# Folding leaves every character of the first kind where it is.
_RUN = re.compile(r"[!-~]+|\s+|.", re.DOTALL)


def searchable(text: str) -> str:
    """Returns what the words of a text are taken from. Words broken at a line's end are in it in both forms, whole and
    in parts."""
    plain = readable(text).translate(_LETTER_APOSTROPHE)
    joined = _BROKEN.sub("", plain)
    return plain if joined == plain else f"{plain}\n{joined}"


def fold(text: str) -> str:
    """Returns the form in which phrases are compared."""
    if _is_plain(text):  # as nearly all passages are; it takes a third of the time
        return " ".join(text.lower().split())
    folded = normalize("NFD", readable(text).translate(_PLAIN).casefold())
    return " ".join(folded.split())


def _is_plain(text: str) -> bool:
    """Whether a text has nothing but lines of what stands on a keyboard, in which folding only changes case and white
    space."""
    return text.isascii() and text.replace("\n", " ").isprintable()


def holds_phrase(text: str, phrase: str) -> bool:
    """Tells whether the text holds a phrase, given as `fold` returns it, in exactly these words."""
    if _is_plain(text) and "-\n" not in text:
        lower = text.lower()
        return all(map(lower.__contains__, phrase.split())) and _holds_folded(" ".join(lower.split()), phrase)
    return any(_holds_folded(fold(form), phrase) for form in _forms(text))


def _holds_folded(text: str, phrase: str) -> bool:
    """As `holds_phrase`, in a text that is folded, too. Making a pattern takes longer than looking for the words."""
    return phrase in text and bool(_pattern(phrase).search(text))


def phrase_spans(text: str, phrase: str) -> list[Span]:
    """Yields where the text holds a phrase, given as `fold` returns it, in order and without overlap."""
    pattern = _pattern(phrase)
    for keeps_hyphens in (False, True) if _BROKEN.search(text) else (False,):
        folded, places = _folded_with_places(text, keeps_hyphens)
        found = [Span(places[m.start()], places[m.end() - 1] + 1) for m in pattern.finditer(folded)]
        if found:
            return found
    return []


def _pattern(phrase: str) -> re.Pattern[str]:
    """Returns a pattern for a phrase as whole words: no other letter, digit or accent may stand beside it."""
    words = re.escape(phrase)
    # What stands before is looked at last: the search can then go from one place of the words to the next.
    before = rf"(?<![^\W_]{words})" if phrase[:1].isalnum() else ""
    after = r"(?![^\W_]|[\u0300-\u036f])" if phrase[-1:].isalnum() else ""
    return re.compile(f"{words}{before}{after}")


def _forms(text: str) -> tuple[str, ...]:
    if not _BROKEN.search(text):
        return (text,)
    return _BROKEN.sub("", text), _BROKEN.sub("-", text)


def _folded_with_places(text: str, keeps_hyphens: bool) -> tuple[str, list[int]]:
    """Returns the folded text, and the position in `text` of each of its characters."""
    letters: list[str] = []
    places: list[int] = []
    start = 0
    for match in (*_BROKEN.finditer(text), None):
        end = match.start() + keeps_hyphens if match else len(text)
        for run in _RUN.finditer(text, start, end):
            folded = _folded_run(run[0])
            if folded == " " and (not letters or letters[-1] == " "):
                continue
            if folded:
                letters.append(folded)
                places += (
                    range(run.start(), run.end()) if len(run[0]) > 1 and folded != " " else [run.start()] * len(folded)
                )
        start = match.end() if match else end
    return "".join(letters), places


def _folded_run(run: str) -> str:
    if run[0].isspace():
        return " "
    return run.lower() if run.isascii() else normalize("NFD", readable(run).translate(_PLAIN).casefold())


# Straight quotes close what straight ones open, and typographic ones what typographic ones open.
_QUOTED = re.compile('"(?P<straight>[^"]*)"|[\u201c\u201e](?P<curly>[^\u201c\u201d\u201e]*)[\u201d\u201c]')
# Words beside a reference that only ask for it.
_ASKING = frozenset(
    {"clause", "section", "article", "paragraph", "provide", "provision", "read", "say", "show", "state", "text"}
    | {"provides", "says", "see", "states"}
)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as it was understood. `text` is the query in natural language, without the quotes of its phrases.
    `phrases` are folded, and every passage must hold each of them. `subject` are the significant words beside phrases
    and references."""

    text: str
    phrases: tuple[str, ...] = ()
    references: tuple[ClauseReference, ...] = ()
    subject: tuple[str, ...] = ()

    @property
    def is_reference(self) -> bool:
        """Tells whether the query asks for clauses by their numbers and for nothing else."""
        return bool(self.references) and not self.phrases and _ASKING.issuperset(self.subject)


def parse_query(query: str) -> ParsedQuery:
    """Reads a query. Quotes that are not balanced, or that hold no letter or digit, are ordinary characters."""
    quoted = [match for match in _QUOTED.finditer(query) if words_of(_inside(match))]
    phrases = dict.fromkeys(fold(_inside(match)) for match in quoted)
    text = _replaced(query, [(Span(*match.span()), f" {_inside(match)} ") for match in quoted])
    rest = _replaced(query, [(Span(*match.span()), " ") for match in quoted])
    references = references_in(rest)
    subject = significant_words(_replaced(rest, [(span, " ") for span in references.spans]))
    return ParsedQuery(text.strip(), tuple(phrases), references.clauses, subject)


def _inside(match: re.Match[str]) -> str:
    return match["straight"] if match["straight"] is not None else match["curly"]


def _replaced(text: str, parts: Sequence[tuple[Span, str]]) -> str:
    """Returns the text with some parts, given in order, replaced by others."""
    pieces: list[str] = []
    position = 0
    for span, other in parts:
        pieces += text[position : span.start], other
        position = span.end
    return "".join([*pieces, text[position:]])
