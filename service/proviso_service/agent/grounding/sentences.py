"""Cuts the text of an answer into sentences while it is being written, and finds its quotations."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MIN_QUOTE_CHARS = 12
"""Shorter pieces are words in quotation marks rather than quotations."""

_MAX_SENTENCE_CHARS = 4_000
_FENCE = "```"
_CLOSERS_OF = {"“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "❝": "❞", "「": "」", "『": "』"}
_MARK = re.compile(r"[.!?…。！？؟\n“”„«»‹›❝❞「」『』\"]")
_AFTER_END = re.compile(r"[.!?…”“\"’'»›❞」』)*_\]]*")
# What may follow the end of a sentence and still belongs to it: the numbers of its sources.
_CITATION = re.compile(r"[ \t]*(?:\([^()\n]{0,80}\)[ \t]*(?=\[))?(?:\[[^\[\]\n]{1,128}\](?!\()[*_]*[.,;]?)")
_BEGUN_CITATION = re.compile(r"[ \t]*(?:\([^()\n]{0,80}\)[ \t]*)?(?:\([^()\n]{0,80}|\[[^\[\]\n]{0,128})?\Z")
_WORD_BEFORE = re.compile(r"[^\s(\[“„\"«*_]+\Z")
_ABBREVIATIONS = frozenset(
    "inc ltd corp co llc plc no nos sec secs art arts para paras cl cls ch fig ex exh approx incl excl e.g i.e eg ie "
    "cf vs v etc "
    "mr mrs ms dr prof st jr sr hon jan feb mar apr jun jul aug sep sept oct nov dec p pp vol ed al "
    "abs nr nrn ziff z.b d.h u.a bzw ca ggf evtl inkl zzgl gem lit s ff sog usw vgl str mio mrd tsd i.d.r i.v.m "
    "n.v b.v s.a u.s u.k m al apdo pág núm art sra env p.ex c.-à-d".split()
)
_MONTHS = "januar februar märz april mai juni juli august september oktober november dezember jänner".split()
_MONTH_AFTER = re.compile(rf"[ \t]*(?:{'|'.join(_MONTHS)})\b", re.IGNORECASE)
_INITIAL_AFTER = re.compile(r"[ \t]*[^\W\d_]\.")
_ORDINAL_BEFORE = re.compile(r"\b(?:am|vom|zum|bis|der|des|den|dem|im|ab)[ \t]\d{1,2}\Z", re.IGNORECASE)
_LIST_NUMBER = re.compile(r"(?:\A|\n)[ \t>*_-]*(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\Z")
# An answer of a word, or one that begins with it and cites nothing, is told by what follows it.
_OPENER = re.compile(
    r"[\s*_>-]*(?:yes|no|ja|nein|oui|non|sí|sì|correct|right|exactly|it depends)\b(?:[\s.!*_]*|,[^\[\n]{1,200})\Z",
    re.IGNORECASE,
)


class SentenceSplitter:
    """Cuts a text that comes in pieces into its sentences. Joined together, the sentences are the text.

    A sentence ends with its line, or with a mark at its end and the numbers of sources that follow it. It does not end
    inside a quotation. A line that ends with a colon, and an answer such as `Yes.`, belong to the sentence that they
    introduce."""

    def __init__(self) -> None:
        self._rest = ""
        self._seen = 0

    def feed(self, piece: str) -> Sequence[str]:
        """The sentences that are complete with this piece."""
        self._rest += piece
        # Nothing can be complete where neither the piece nor the text before it has a mark.
        if self._seen == 0 and not _MARK.search(piece) and len(self._rest) < _MAX_SENTENCE_CHARS:
            return ()
        return list(self._cut(final=False))

    def finish(self) -> Iterator[str]:
        """The sentences that remain when the text has ended."""
        yield from self._cut(final=True)
        if self._rest:
            rest, self._rest = self._rest, ""
            yield rest

    def _cut(self, *, final: bool) -> Iterator[str]:
        while (end := sentence_end(self._rest, final=final)) is not None:
            sentence, self._rest = self._rest[:end], self._rest[end:]
            yield sentence
        self._seen = 1 if _MARK.search(self._rest) else 0


_MORE_NEEDED = -1


def sentence_end(text: str, *, final: bool) -> int | None:
    """Where the first sentence of the text ends, exclusive; None where that is not known yet."""
    closers, opened = "", 0
    has_fence = _FENCE in text
    for mark in _MARK.finditer(text):
        at, sign = mark.start(), mark[0]
        end = None
        if has_fence and text.count(_FENCE, 0, at) % 2:
            continue
        if closers:
            if sign in closers or (closers == '"' and text.startswith("\n\n", at)):
                closers = ""
                if sign == "\n" or _ends_inside(text[opened:at]):
                    end = _end_at(text, at, final=final)
        elif sign in _CLOSERS_OF or (sign == '"' and _opens(text, at)):
            closers, opened = _CLOSERS_OF.get(sign, '"'), at + 1
        else:
            end = _end_at(text, at, final=final)
        if end is not None and (end == _MORE_NEEDED or not _introduces(text[:end])):
            return None if end == _MORE_NEEDED else end
    if len(text) < _MAX_SENTENCE_CHARS:
        return None
    return text.rfind(" ", 0, _MAX_SENTENCE_CHARS) + 1 or _MAX_SENTENCE_CHARS


def _end_at(text: str, at: int, *, final: bool) -> int | None:
    """The end of the sentence that ends with the mark at `at`; None where it does not end there, and _MORE_NEEDED where
    that cannot be told yet."""
    if text[at] == "\n":
        return _end_after_block(text, at + 1, final=final) if text.endswith(_FENCE, 0, at) else at + 1
    if not final and text[at] == "." and _begins_a_date_or_name(text, at):
        return _MORE_NEEDED
    if (text[at] == "." and _is_inside(text, at)) or (text[at] in '“”„«»‹›❝❞「」『』"' and not _ends_inside(text[:at])):
        return None
    return _end_after(text, at, final=final)


def _end_after_block(text: str, end: int, *, final: bool) -> int:
    """The end of a block of code with the numbers of its sources, which may stand on the next line."""
    start = end
    while citation := _CITATION.match(text, end):
        end = citation.end()
    is_open = end == len(text) if end > start else _BEGUN_CITATION.match(text, end) is not None
    return _MORE_NEEDED if is_open and not final else end


def _ends_inside(quoted: str) -> bool:
    return quoted.rstrip()[-1:] in (".", "!", "?", "…")


def _end_after(text: str, at: int, *, final: bool) -> int | None:
    """As `_end_at`, for a mark that is no line's end. The numbers of sources behind it belong to the sentence."""
    matched = _AFTER_END.match(text, at)
    end = max(at + 1, matched.end() if matched else 0)
    while citation := _CITATION.match(text, end):
        end = citation.end()
    if end == len(text):
        return end if final else _MORE_NEEDED
    if not text[end].isspace():
        return end if text[at] in "。！？" else None
    if not final and _BEGUN_CITATION.match(text, end):
        return _MORE_NEEDED
    following = text[end:].lstrip(" \t")
    if following[:1].islower() and text[at] in ".…":
        return None
    return end


def _begins_a_date_or_name(text: str, at: int) -> bool:
    """Whether what follows a full stop may become the month of a day or a second initial."""
    following = text[at + 1 :].lstrip(" \t").lower()
    if text[at - 1 : at].isdigit():
        return any(month.startswith(following) for month in _MONTHS)
    return len(following) < 2 and text[at - 1 : at].isalpha() and not text[at - 2 : at - 1].isalpha()


def _is_inside(text: str, at: int) -> bool:
    """Whether a full stop is no end: it belongs to an abbreviation, a number, a date or the number of a list."""
    before = text[max(0, at - 40) : at]
    word = _WORD_BEFORE.search(before)
    last = word[0].lower() if word else ""
    if before.rfind("(") > before.rfind(")"):
        return True
    is_day = last.isdigit() and len(last) <= 2
    return (
        text[at + 1 : at + 2].isalnum()
        or (is_day and bool(_MONTH_AFTER.match(text, at + 1) or _ORDINAL_BEFORE.search(before)))
        or _LIST_NUMBER.search(text[:at]) is not None
        or (text[at + 1 : at + 2] != "\n" and _is_abbreviation(text, at, last))
    )


def _is_abbreviation(text: str, at: int, last: str) -> bool:
    if len(last) == 1 and last.isalpha() and (text[at - 1].isupper() or _INITIAL_AFTER.match(text, at + 1)):
        return True
    return re.split("[’']", last)[-1] in _ABBREVIATIONS


def _opens(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return not before or before.isspace() or before in "([{*_–—-:/"


def _introduces(text: str) -> bool:
    """Whether a piece of text only introduces what follows it."""
    bare = text.rstrip().rstrip("*_")
    return bare.endswith(":") or not bare or _OPENER.match(text) is not None


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quotation in a sentence: the words without their marks, and where it stands, with its marks."""

    text: str
    start: int
    end: int


_PAIRS = "“” «» »« ‹› ›‹ ❝❞ 「」 『』 〝〞".split()
_ENTITIES = "&quot;|&ldquo;|&rdquo;|&laquo;|&raquo;|&#34;"
# Of each pair of marks, the words between them. A quotation that the sentence does not close goes on to its end.
_QUOTED = re.compile(
    "|".join(rf"{pair[0]}([^{pair}]*+)(?:{pair[1]}|\Z)" for pair in _PAIRS)
    + r"|„([^„“”\"]*+)(?:[“”\"]|\Z)|(?<![^\W_])[\"＂]([^\"＂]*+)(?:[\"＂]|\Z)|``([^`']*+)''"
    r"|```[^\n`]*\n([^`{}]*+)(?:```|\Z)"
    r"|`([^`{}\n]++)`|(?<![^\W_])[‘‚]((?:[^‘’]|’(?=\w))*+)(?:[’‘]|\Z)"
    r"|(?<![^\W_])(?<!')'((?:[^'\n]|'(?=\w))*+)(?:'|\Z)|(?<![^\W_])''([^'\n]++)''|^[ \t]*>+[ \t]*([^\n]+)"
    rf"|(?:{_ENTITIES})([^&]*+)(?:{_ENTITIES}|\Z)|< ?(?:q|blockquote)\b[^>]*>([^<]*+)"
    r"|\b(?:says?|reads?|states?|lautet|heißt es|prévoit|dispose|dice)[:,]?\s+"
    r"[*_]{1,3}(?!that |dass |que )([^*_\n“”„«»\"]++)[*_]",
    re.MULTILINE | re.IGNORECASE,
)


def quotations_in(sentence: str) -> list[Quotation]:
    """The quotations of a sentence, in whatever marks, also as a quoted block of Markdown; short ones are left out."""
    found = []
    for match in _QUOTED.finditer(sentence):
        text = match[match.lastindex or 0]
        if len(text.strip()) >= MIN_QUOTE_CHARS:
            found.append(Quotation(text, match.start(), match.end()))
    return found
