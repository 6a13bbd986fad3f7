"""Resolves names of parties in each document by its own definitions, such as `Acme Inc. (the "Supplier")`. What one
document defines means nothing in another."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proviso_service.analysis.scores import ScoreStore
from proviso_service.matters import Document, chunk_id
from proviso_service.reading import REQUEST_STOP_WORDS, Chunk

EACH_PARTY = "each Party"
"""The name of every party to a contract that defines "Party" as each of them."""

_OPENING_CHUNKS = 16
"""Parties are defined on the first pages."""

_MAX_CHARS = 20_000
_MAX_CHARS_BEFORE = 600
"""A definition stands behind the name, the address and the kind of company of a party."""

_MAX_NAMES = 4
_MIN_NAME_CHARS = 3
_MAX_KNOWN_NAMES = 4_096
_USUAL_FIRST_WORDS = frozenset(
    """
    advanced american bank capital first general global great international master national new pacific state the united
    world
    """.split()  # noqa: SIM905  # a list of 18 literals is no easier to read
)
_MAX_KNOWN_DOCUMENTS = 20_000

_TERM = r"[\"\u201c\u2018](?P<term>\w[^\"\u201c\u201d\u2018\u2019()]{0,60}?),?[\"\u201d\u2019]"
_QUOTED = re.compile(_TERM)
_DEFINITION = re.compile(
    r"\((?P<inside>[^()]{0,80}[\"\u201c\u2018][^()]{0,160})\)"
    r"|\bhereinafter\b(?P<after>[^().;\"\u201c\u2018]{0,50}(?:[\"\u201c\u2018][^\"\u201c\u201d\u2018\u2019]{1,60}"
    r"[\"\u201d\u2019](?: (?:or|and) (?:the )?)?){1,3})"
)
_COLLECTIVE = re.compile(r"\b(?:each|collectively|together|jointly|individually|either|both)\b", re.IGNORECASE)
_EACH_IS_A_PARTY = re.compile(
    rf"{_COLLECTIVE.pattern}[^.;()]{{0,100}}[\"\u201c\u2018]part(?:y|ies),?[\"\u201d\u2019]", re.IGNORECASE
)
_NO_PARTY = re.compile(
    r"(?:act|agreement|contract|date|information|laws?|part(?:y|ies)|products?|property|services?|software|term|territory)"
    r"$",
    re.IGNORECASE,
)
_RECITALS = re.compile(r"\b(?:WHEREAS|RECITALS|W ?I ?T ?N ?E ?S ?S ?E ?T ?H)\b")
_NEXT_NAME = re.compile(
    r"[,;:)] and (?=[A-Z])|\b(?:between|among|amongst)\b:?|(?:^|\bby) and (?=[A-Z])|\bby (?=[A-Z])|[;:]|\(\w{1,3}\) "
)
_AND = re.compile(r"\band (?=[A-Z])")
_TITLE = re.compile(
    r"\b(?:WHEREAS|RECITALS|WITNESSETH|AGREEMENT|EXHIBIT [\d.]+|BETWEEN|AMONG|AMENDMENT)\b[,:]?|\bThis\b[\w ]*"
)
"""What may stand right before the name of a party: the end of a title or of an opening."""

_NO_NAME = re.compile(
    r"^\d+(?:[\s,.]|$)|^(?:section|schedule|exhibit|page|pages)\b|\b(?:agreement|avenue|street|suite|floor|source|summary|plan)$"
    r"|\b(?:avenue|street|suite|floor),",
    re.IGNORECASE,
)
_WORD = r"[A-Z0-9&][\w&.'\u2019/-]*"
_NAME = rf"{_WORD}(?:,? (?:{_WORD}|of|the|and|de|van|von|for|plc|inc|ltd|llc))*"
_LEADING_NAME = re.compile(rf"(?P<name>{_NAME}),?(?: \(| (?:an?|with|having|whose|located|organi[sz]ed)\b|, | ?$)")
_LAST_NAME = re.compile(rf"(?P<name>{_WORD}(?:,? (?:{_WORD}|of|de|van|von))*),? ?$")
_COMPANY_FORMS = frozenset(
    """
    ab ag bv co company corp corporation dac gmbh inc incorporated limited llc llp lp ltd na nv plc pty sa sarl
    """.split()  # noqa: SIM905  # a list of 22 literals is no easier to read
)


@dataclass(frozen=True, slots=True)
class Definition:
    """The name of a party, and the terms by which a contract calls it."""

    name: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of one document. With `each_party`, "each Party" is all of those whom it defines."""

    parties: tuple[Definition, ...] = ()
    each_party: bool = False

    def other_names(self, asked: str) -> tuple[str, ...]:
        """Returns by which other names the document calls a party; none where it does not define it. A name may be
        asked for by its first words."""
        words = _words(asked)
        exact = (one for one in self.parties if words in map(_words, (one.name, *one.terms)))
        begun = (one for one in self.parties if words and _words(one.name)[: len(words)] == words)
        party = next(exact, None) or next(begun, None)
        if party is None:
            return ()
        others: dict[str, str] = {}  # by what names are compared by, so that "Sellers" is no other than "Seller"
        for name in (*party.terms, *([EACH_PARTY] if self.each_party else ())):
            others.setdefault(" ".join(_words(name)), name)
        others.pop(" ".join(words), None)
        return tuple(others.values())[:_MAX_NAMES]

    def in_own_words(self, question: str) -> str:
        """Returns a question with the terms by which the document calls its parties in place of their names, or of the
        first words of these."""
        for party in self.parties:
            term = party.terms[0]
            if not re.search(rf"\b{re.escape(term)}\b", question):
                question = _beginnings(party.name).sub(term.replace("\\", r"\\"), question)
        return question


def definitions_in(text: str) -> Definitions:
    """Reads the definitions of parties in the opening of a contract. Where two stand before the recitals, what follows
    defines other things."""
    read = " ".join(re.sub(r"[*_]+", "", text[:_MAX_CHARS]).split())
    recitals = _RECITALS.search(read)
    parties: dict[str, dict[str, None]] = {}
    last = 0
    for found in _DEFINITION.finditer(read):
        if recitals and found.start() > recitals.start() and len(parties) > 1:
            break
        inside = found["inside"] or found["after"]
        terms = [
            term
            for match in _QUOTED.finditer(inside)
            if not _NO_PARTY.search(term := match["term"].strip().removeprefix("the "))
        ]
        if terms:
            known = {term.lower() for some in parties.values() for term in some}
            for name in _names(read[last : found.start()], are_several=_COLLECTIVE.search(inside) is not None):
                if known.isdisjoint(_words(name)[:1]):
                    parties.setdefault(name, {}).update(dict.fromkeys(terms))
        last = found.end()
    named = tuple(Definition(name, tuple(terms)) for name, terms in parties.items())
    return Definitions(named, _EACH_IS_A_PARTY.search(read) is not None)


def _names(before: str, *, are_several: bool) -> Iterator[str]:
    """Yields the name that a definition behind the text is about, or all in the text for a definition of several."""
    pieces = _NEXT_NAME.split(before[-_MAX_CHARS_BEFORE:])
    several = [name for piece in pieces for name in _AND.split(piece)] if are_several else pieces[-1:]
    for piece in (_TITLE.split(piece)[-1].strip(" ,.") for piece in several):
        match = _LEADING_NAME.match(piece) or _LAST_NAME.search(piece)
        if match and not _NO_NAME.search(match["name"]):
            yield match["name"].removesuffix(",")


@lru_cache(maxsize=_MAX_KNOWN_NAMES)
def _beginnings(name: str) -> re.Pattern[str]:
    """Matches a name and its first words, the longest first. One word alone has to be no usual one."""
    words = [word.strip(",.") for word in name.split()]
    stands_alone = len(words[0]) >= _MIN_NAME_CHARS and words[0].lower() not in _USUAL_FIRST_WORDS | REQUEST_STOP_WORDS
    shortest = 1 if stands_alone else 2
    phrases = [r"\.?,?\s+".join(map(re.escape, words[:count])) for count in range(len(words), shortest - 1, -1)]
    return re.compile(rf"\b(?:the )?(?:{'|'.join(phrases)})(?!\w)(?:\.(?=\s+[a-z]))?" if phrases else r"(?!)")


def _words(name: str) -> list[str]:
    """Returns a name's words by which it is compared: in lower case and the singular, without article and "Inc."."""
    plain = re.sub(r"['\u2019]s?\b|(?<=\w)\.(?=\w\b)", "", name.lower())
    words = [word for word in re.findall(r"[\w&]+", plain) if word not in _COMPANY_FORMS] or plain.split()
    words = words[1:] if len(words) > 1 and words[0] == "the" else words
    return [*words[:-1], re.sub(r"(?<!s)s$", "", re.sub(r"ies$", "y", words[-1]))] if words else []


@dataclass(frozen=True, slots=True)
class PartyStatement:
    """A statement about a party, whose name is `asked`; `with_name` says it of another one."""

    statement: str
    asked: str
    with_name: Callable[[str], str]


Variants = Mapping[str, Mapping[str, Sequence[str]]]
"""By document and statement, the same statement of the party's other names."""


class PartyNames:
    """Knows how documents call the parties that statements are about. What a document defines is read once."""

    def __init__(self, store: ScoreStore) -> None:
        self._store = store
        self._known: OrderedDict[str, Definitions] = OrderedDict()

    async def variants(self, tenant: str, documents: Sequence[Document], parties: Sequence[PartyStatement]) -> Variants:
        """Returns what is to be scored beside the statements. Documents without any are left out."""
        if not parties:
            return {}
        definitions = await self.definitions(tenant, [document.document_id for document in documents])
        found = {
            document_id: {
                one.statement: [one.with_name(name) for name in names]
                for one in parties
                if (names := defined.other_names(one.asked))
            }
            for document_id, defined in definitions.items()
        }
        return {document_id: variants for document_id, variants in found.items() if variants}

    async def definitions(self, tenant: str, document_ids: Sequence[str]) -> Mapping[str, Definitions]:
        """Returns what each of the documents defines."""
        known = {one: self._known[one] for one in document_ids if one in self._known}
        opening = {
            one: [chunk_id(one, at) for at in range(_OPENING_CHUNKS)] for one in document_ids if one not in known
        }
        if opening:
            chunks = await self._store.matched_chunks(tenant, [one for some in opening.values() for one in some])
            read = await asyncio.to_thread(_read, opening, chunks)
            self._known |= read
            known |= read
        while len(self._known) > _MAX_KNOWN_DOCUMENTS:
            self._known.popitem(last=False)
        return known


def _read(opening: Mapping[str, Sequence[str]], chunks: Mapping[str, Chunk]) -> dict[str, Definitions]:
    """Reads the definitions of documents in their first chunks, which are given by id."""
    return {
        document_id: definitions_in("\n\n".join(chunks[one].text for one in some if one in chunks))
        for document_id, some in opening.items()
    }
