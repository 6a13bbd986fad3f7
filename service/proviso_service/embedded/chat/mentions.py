"""Finds the documents that a question names (`the services agreement`, `our NDA`, `Lease.pdf`) and matches them with
file names; and tells whether it points at the document on view or means several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proviso_service.embedded.chat.phrases import pattern, stem, stems, table, words
from proviso_service.reading import KINDS_OF_CONTRACTS, REQUEST_STOP_WORDS, joined_words

ABBREVIATIONS = table("abbreviations")
# Nouns that end the name of a document. Weak ones are as often a subject as a document ("insurance policy").
_KINDS = KINDS_OF_CONTRACTS | words("kinds")
_WEAK_KINDS = words("weak_kinds") | words("deal_kinds")
_KINDS_OF_CONTRACTS = frozenset(map(stem, KINDS_OF_CONTRACTS))
_NO_NAMES = KINDS_OF_CONTRACTS | {"deal", "deals"}
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_EXTENSION = re.compile(r"\.(?:pdf|docx?|txt|md|html?|rtf)$", re.IGNORECASE)
_TOKEN = re.compile(r"[\w&\u2019'.()-]*[\w&)]")
_PARTNER = re.compile(
    r"\s+(?:with|from|between|by)\s+((?:[A-Z][\w&.\u2019'-]*[\w])(?:(?:\s+and|,)?\s+[A-Z][\w&.\u2019'-]*\w)*)"
)
_LONG_FORMS = " ".join(ABBREVIATIONS.values()).split()
_COMMON_STEMS = frozenset(map(stem, (words("title_words") | _KINDS | _WEAK_KINDS).union(ABBREVIATIONS, _LONG_FORMS)))
_PROPER_WORD = re.compile(r"\b(?:\d?[A-Z][\w&\u2019'.-]*\w|[a-z]{1,3}-?\d[a-z]?\b)")
_BESIDE_ANOTHER = re.compile(r"\s+(?:vs?\.?|versus|and|or|und|oder|et|ou|y|e|o|&|/)\s+[A-Z]")
_HAS_NAME = re.compile(r".[a-z]*[A-Z]|.*['\u2019]s$")
_MAX_MODIFIERS = 4
_MIN_MATCH = 0.5
_MIN_INSIDE_CHARS = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A document that a question names: `phrase` as it is written there, from `start` to `end`. `firm` is true when
    the phrase can only mean a document. `stems` are those of its words, and `proper` those of the proper names among
    them."""

    phrase: str
    start: int
    end: int
    stems: frozenset[str]
    firm: bool
    proper: frozenset[str] = frozenset()

    @property
    def is_plural(self) -> bool:
        """Whether several documents of a kind are meant."""
        last = self.phrase.split()[-1].lower()
        return last.endswith("s") and (last in _KINDS or _is_weak(last) or last[:-1] in ABBREVIATIONS)

    def is_held_by(self, filename: str) -> bool:
        """Tells whether a file name holds all words of the mention."""
        return self.stems <= _filename_stems(filename)


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Returns the documents that `text` names, in order. `the agreement` alone names none."""
    found = [
        Mention(match[0], match.start(), match.end(), stems(match[0]) - {"of"}, firm=True)
        for match in pattern("compound_kinds").finditer(text)
    ]
    tokens = [(match.start(), match.group()) for match in _TOKEN.finditer(text)]
    for index in range(len(tokens)):
        mention = _mention_at(text, tokens, index)
        if mention and not any(mention.start < other.end and other.start < mention.end for other in found):
            found.append(mention)
    return tuple(sorted(found, key=lambda one: one.start))


def proper_words(question: str) -> tuple[str, ...]:
    """Returns the words of a question that are likely to be names: of parties, people and places."""
    found = []
    time = pattern("time")
    for match in _PROPER_WORD.finditer(question):
        word = match[0].strip(".'\u2019")
        before = question[: match.start()].rstrip()
        is_first = not re.search(r"\w", before) or (before[-1] in ".?!:" and not before.endswith(" vs."))
        common = REQUEST_STOP_WORDS.issuperset(joined_words(word)) or stem(word.lower()) in _COMMON_STEMS
        is_told = word.isupper() or any(map(str.isdigit, word)) or _HAS_NAME.match(word)
        is_name = is_told or not is_first or _BESIDE_ANOTHER.match(question, match.end())
        if is_name and not (common or time.fullmatch(word)):
            found.append(word)
    return tuple(dict.fromkeys(found))


def kinds_abroad(question: str) -> tuple[str, ...]:
    """Returns what kinds of agreements a question in another language names, in English."""
    found = (match["german"] or match["romance"] for match in pattern("kind_abroad").finditer(question))
    kinds = table("kinds_abroad")
    return tuple(kinds[key] for word in found for key in kinds if word.lower().startswith(key))


def points_at_view(question: str) -> bool:
    """Tells whether a question that names no document means the one on view: "this agreement", "here", "it"."""
    return bool(pattern("this").search(question) or pattern("the_one").search(question))


def means_several(question: str) -> bool:
    """Tells whether a question is about several documents or the whole matter."""
    return pattern("several").search(question) is not None


def without_mentions(text: str, mentions: Sequence[Mention], put: str = "") -> str:
    """Returns the question with each mention replaced by `put`."""
    for mention in sorted(mentions, key=lambda one: -one.start):
        text = text[: mention.start] + put + text[mention.end :]
    return text


def match_mention(mention: Mention, filenames: Sequence[str]) -> list[int]:
    """Returns the indices of the file names that fit best: none where nothing fits, several that fit equally well."""
    scored: list[tuple[float, int, int]] = []
    for index, filename in enumerate(filenames):
        own = _filename_stems(filename)
        held = mention.stems & own | {one for one in mention.stems if _is_inside(one, filename)}
        share = len(held) / len(mention.stems)
        if share >= _MIN_MATCH and (not mention.proper or mention.proper & held):  # not another company's
            extra = frozenset(map(stem, _name_words(filename))) - _KINDS_OF_CONTRACTS - mention.stems
            scored.append((share, -len([one for one in extra if not one.isdigit()]), index))
    best = max(scored, default=(0.0, 0))
    return [index for share, extra, index in scored if share == best[0] and (mention.is_plural or extra == best[1])]


def told_apart(mention: Mention) -> frozenset[str]:
    """Returns the stems of a mention's words that tell the document from others of its kind."""
    return mention.stems - _COMMON_STEMS


def _is_inside(wanted: str, filename: str) -> bool:
    """Tells whether a file name holds a stem inside a run of letters such as `ADAMSGOLFINC`."""
    return len(wanted) >= _MIN_INSIDE_CHARS and wanted in re.sub(r"[^a-z]", "", filename.lower())


def _filename_stems(filename: str) -> frozenset[str]:
    """Returns the stems of a file name's words. Abbreviations are there in both forms (`NDA`, `non-disclosure
    agreement`)."""
    own = _name_words(filename)
    expanded = [word for token in own for word in ABBREVIATIONS.get(token, "").split()]
    stemmed = frozenset(map(stem, own))
    short = [short for short, long in ABBREVIATIONS.items() if _is_spelled_out(long, stemmed)]
    return stemmed.union(map(stem, (*expanded, *short)))


def _is_spelled_out(long: str, stemmed: frozenset[str]) -> bool:
    needed = [stem(word) for word in long.split() if word != "confidentiality"]
    return all(word in stemmed for word in needed) or ("confidentiality" in long and "confid" in stemmed)


def _mention_at(text: str, tokens: list[tuple[int, str]], index: int) -> Mention | None:
    start, token = tokens[index]
    following = tokens[index + 1][1].lower() if index + 1 < len(tokens) else ""
    word = _POSSESSIVE.sub("", token.lower())
    is_file = _EXTENSION.search(token) is not None
    is_short = word.rstrip("s") in ABBREVIATIONS and (token[:2].isupper() or word.startswith(("nda", "msa", "sow")))
    is_kind = word in _KINDS or _is_weak(word)
    if not (is_file or is_short or is_kind) or following in words("subject_nouns"):
        return None
    is_verb = word == "deal" and following == "with" and pattern("verb_follows").search(text[:start])
    if is_verb or (_is_weak(word) and following in _KINDS):
        return None
    first, modifiers = _modifiers(tokens, index)
    own = [] if word in _NO_NAMES else _name_words(word.rstrip("s") if is_short else token)
    end = start + len(token)
    partner = _PARTNER.match(text, end)
    named = modifiers + own + (_name_words(partner[1]) if partner else [])
    specific = frozenset(stem(one) for one in named if one not in {"and", "inc", "ltd", "llc"})
    article = tokens[first - 1][1].lower() if first > 0 else ""
    if not specific or (article in words("indefinite") and not is_file):
        return None
    end = partner.end() if partner else end
    is_subject = is_short and following.isalpha() and following not in REQUEST_STOP_WORDS | words("verbs")
    is_told_apart = article in words("definite") or bool(modifiers) or is_short
    firm = is_file or (not _is_weak(word) and not is_subject and is_told_apart)
    at = tokens[first][0]
    proper = stems(" ".join(proper_words(f"the {text[at:end]}")))
    return Mention(text[at:end], at, end, specific, firm, proper & specific)


def _is_weak(word: str) -> bool:
    return word in _WEAK_KINDS or word.removesuffix("s") in words("deal_kinds")


def _modifiers(tokens: list[tuple[int, str]], index: int) -> tuple[int, list[str]]:
    """Returns the index of the name's first token, and the words in front of its noun that tell the document from
    others."""
    first, found = index, list[str]()
    for back in range(index - 1, max(-1, index - 1 - _MAX_MODIFIERS), -1):
        word = tokens[back][1].lower()
        between_end = tokens[back][0] + len(tokens[back][1])
        if word in REQUEST_STOP_WORDS or tokens[back + 1][0] - between_end > 1:
            break
        first = back
        if word not in words("empty_modifiers"):
            found = _name_words(word) + found
    return first, found


def _name_words(name: str) -> list[str]:
    bare = _EXTENSION.sub("", name)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-.]+|(?<=[A-Za-z]{3})(?=\d)", " ", bare)
    return joined_words(spaced)
