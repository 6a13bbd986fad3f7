"""The parties, persons and places that a sentence speaks of: proper names, roles such as `the Supplier`, and the places
whose law and courts contracts choose."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from proviso_service.agent.grounding.words import STOP_WORDS

_ROLES: tuple[tuple[str, ...], ...] = tuple(
    tuple(words.split())
    for words in (
        "customer client buyer purchaser subscriber kunde kunden kundin auftraggeber auftraggeberin käufer besteller "
        "acheteur client cliente comprador acquirente",
        "supplier vendor seller provider contractor lieferant lieferanten anbieter auftragnehmer verkäufer "
        "dienstleister fournisseur prestataire vendeur proveedor vendedor prestador fornitore",
        "consultant adviser advisor berater consultor conseil",
        "licensor lizenzgeber concédant licenciante licenziante",
        "licensee lizenznehmer licencié licenciatario licenziatario",
        "landlord lessor vermieter bailleur arrendador locatore",
        "tenant lessee mieter locataire arrendatario conduttore",
        "employer arbeitgeber employeur empleador",
        "employee employees arbeitnehmer salarié empleado",
        "lender darlehensgeber prêteur prestamista",
        "borrower darlehensnehmer emprunteur prestatario",
        "franchisor franchisegeber franchiseur franquiciador",
        "franchisee franchisenehmer franchisé franquiciado",
        "discloser",
        "recipient empfänger destinataire receptor",
        "distributor reseller vertriebspartner händler distributeur distribuidor",
        "manufacturer hersteller fabricant fabricante",
        "guarantor bürge garant garante",
        "insurer versicherer assureur asegurador",
        "insured versicherte versicherungsnehmer assuré asegurado",
        "sublicensee unterlizenznehmer",
        "publisher verlag éditeur editor",
        "shareholder shareholders aktionär gesellschafter actionnaire accionista",
    )
)
_ROLE_OF = {word: number for number, words in enumerate(_ROLES) for word in words}
_PLACES: tuple[tuple[str, ...], ...] = tuple(
    tuple(words.split("|"))
    for words in (
        "england|english|englisch|englisches|englischem|englischen|anglais|anglaise|inglés|inglesa|angleterre|inglaterra",
        "wales|welsh",
        "scotland|scottish|schottland|écosse|escocia",
        "ireland|irish|irland|irisches|irischem|irlande|irlanda",
        "germany|german|deutschland|deutsch|deutsches|deutschem|deutschen|deutsche|allemagne|allemand|allemande|alemania|alemán|alemana",
        "france|french|frankreich|französisch|französisches|französischem|französischen|français|française|francia|francés|francesa",
        "spain|spanish|spanien|spanisches|spanischem|espagne|espagnol|españa|español|española",
        "italy|italian|italien|italienisches|italienischem|italie|italia|italiano",
        "switzerland|swiss|schweiz|schweizer|schweizerisches|schweizerischem|suisse|suiza|suizo",
        "austria|austrian|österreich|österreichisches|österreichischem|autriche|austriaco",
        "netherlands|dutch|niederlande|niederländisches|niederländischem|pays-bas|néerlandais|países bajos",
        "belgium|belgian|belgien|belgisches|belgique|belge|bélgica",
        "luxembourg|luxemburg|luxemburgisches|luxemburgo",
        "japan|japanese|japanisches|japon|japonais|japón",
        "china|chinese|chinesisches|chine|chinois",
        "india|indian|indien|indisches|inde|indio",
        "canada|canadian|kanada|kanadisches|canadien",
        "australia|australian|australien|australisches|australie",
        "singapore|singapur|singapour",
        "hong kong|hongkong",
        "israel|israeli|israelisches|israël",
        "brazil|brazilian|brasilien|brésil|brasil",
        "mexico|mexican|mexiko|mexique|méxico",
        "poland|polish|polen|polnisches|pologne|polonia",
        "sweden|swedish|schweden|schwedisches|suède|suecia",
        "denmark|danish|dänemark|dänisches|danemark|dinamarca",
        "norway|norwegian|norwegen|norwegisches|norvège|noruega",
        "finland|finnish|finnland|finnisches|finlande|finlandia",
        "new york|new yorker",
        "california|kalifornien|kalifornisches|californie",
        "delaware",
        "texas",
        "florida|floride",
        "illinois",
        "massachusetts",
        "washington",
        "oregon",
        "utah",
        "nevada",
        "ohio",
        "georgia",
        "virginia|virginie",
        "pennsylvania|pennsylvanie",
        "new jersey",
        "colorado",
        "minnesota",
        "michigan",
        "arizona",
        "maryland",
        "connecticut",
        "wisconsin",
        "missouri",
        "tennessee",
        "indiana",
        "north carolina",
        "south carolina",
        "kansas",
        "louisiana|louisiane",
        "kentucky",
        "alabama",
        "idaho",
        "iowa",
        "nebraska",
        "hawaii",
        "ontario",
        "quebec|québec",
        "british columbia",
        "alberta",
        "london|londres|londra",
        "paris",
        "berlin",
        "munich|münchen",
        "frankfurt|francfort",
        "hamburg",
        "zurich|zürich",
        "geneva|genf|genève|ginebra",
        "vienna|wien|vienne|viena",
        "madrid",
        "barcelona",
        "rome|rom|roma",
        "milan|mailand",
        "amsterdam",
        "brussels|brüssel|bruxelles|bruselas",
        "dublin",
        "edinburgh",
        "tokyo|tokio",
        "chicago",
        "boston",
        "los angeles",
        "san francisco",
        "stockholm",
        "copenhagen|kopenhagen",
        "warsaw|warschau",
    )
)
_PLACE_OF = {word: number for number, words in enumerate(_PLACES) for word in words}
_PLACE = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(map(re.escape, _PLACE_OF), key=len, reverse=True))})(?!\w)")
_TOKEN = re.compile(r"[^\W\d_][\w&.’'-]*[^\W_]|[^\W\d_]")
_BEGINNING = re.compile(
    r"(?:\A|[.!?:;]\s+|\n|\|)[\s>*_#¿¡“„«\"'(‘\-–—•·|]*(?:(?:\d{1,3}|[a-z])[.)]\s+)?[*_“„«\"'(‘]*\Z"
)
_SUFFIXES = frozenset(
    "lp lllp pty oyj asa ltda pc pllc kgaa ug inc ltd llc llp plc corp gmbh ag kg se sa sas sarl srl spa bv nv ab oy "
    "as co limited incorporated "
    "corporation company".split()
)
_ELIDED = re.compile(r"\A(?:l|d|qu|j|n|s|c|m|t|un|dell|all|nell)[’']", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?\Z")
# Capitalised words that name nobody.
_COMMON = frozenset(
    "i agreement agreements contract contracts section sections sec clause clauses article articles art paragraph "
    "paragraphs part parts party parties schedule schedules exhibit exhibits "
    "annex appendix attachment addendum amendment document documents act acts term terms effective date dates page "
    "pages monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december recital recitals preamble "
    "table figure note english german french spanish pdf iql url id "
    "proviso yes no matter matters image images file files summary answer question sir madam vertrag vereinbarung "
    "ziffer absatz abschnitt artikel contrat accord clause section annexe contrato acuerdo cláusula sección "
    "anexo usd eur gbp chf jpy us$ us "
    "mr mrs ms dr prof mme herr frau judge justice vat tva mwst ust iva "
    "jan feb mar apr jun jul aug sep sept oct nov dec i.e e.g dollar dollars us-dollar us-dollars euro euros "
    "franken mio mrd".split()
)
_VERBS_AFTER = (
    r"(?:may|shall|must|will|can|is|are|was|has|have|had|owes?|pays?|agrees?|grants?|warrants?|indemnif\w+|bears?|"
    r"receives?|provides?|retains?|owns?|undertakes?|needs?|guarantees?|licenses?|terminat\w+|"
    r"darf|muss|kann|ist|hat|haftet|wird|soll|zahlt|schuldet|trägt|gewährt|garantiert|doit|peut|est|garantit|paie|"
    r"verse|accorde|debe|puede|es|paga|garantiza|tiene)"
)
_SUBJECT = re.compile(rf"\A['’s]*\s+(?:\w+ )?{_VERBS_AFTER}\b")
_ABSTRACT = re.compile(
    r"(?:tion|sion|ment|ing|ity|ness|ance|ence|ship|ism|age|ure|ty|als?|ung|heit|keit|schaft|tät|té|dad|ción|s)\Z",
    re.IGNORECASE,
)
_GENERIC_SUBJECTS = frozenset(
    "it this that these those there they he she both each either neither all any one none some such what which who "
    "notice payment everything nothing everyone nobody anyone "
    "es er sie dies das diese dieser beide jede jeder alle keiner niemand wer was man il elle ce cela ceci ils elles "
    "chacun chaque tout rien on nul qui "
    "leider derzeit daher somit also hier dort außerdem zudem jedoch allerdings deshalb demnach unfortunately "
    "currently therefore moreover additionally "
    "thus malheureusement cependant ainsi lamentablemente desafortunadamente además "
    "ello esto eso ambos cada todo nada nadie se quien however further also then here interest rent title law".split()
)
_ENGLISH_STEM_CHARS = 5


_DERIVED = frozenset(
    _ROLE_OF[word] for word in ("insurer", "manufacturer", "distributor", "guarantor", "publisher", "supplier")
)
"""Roles that a source may name by what the party does: whoever grants insurance is the insurer."""


_ROLE_OF_FORM = {
    word + ending: role
    for ending in reversed(("", "s", "in", "innen", "n", "e", "es"))
    for word, role in _ROLE_OF.items()
}
"""The roles by their words in the singular and plural, of whatever gender; the word itself goes before its forms."""


def _role_of(word: str) -> int | None:
    """The role that a word in small letters means, in any of its forms."""
    return _ROLE_OF_FORM.get(word)


def roles_in(text: str) -> frozenset[int]:
    """The roles of parties that a text speaks of, as numbers; words of several languages for one role are the same."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return frozenset(role for word in words if (role := _role_of(word)) is not None)


def missing_roles(text: str, roles: frozenset[int], known: frozenset[str]) -> bool:
    """Whether a text speaks of a role that is not among `roles`, those of its source, whose words are `known`."""
    for word in re.findall(r"[^\W\d_]+", text.lower()):
        role = _role_of(word)
        if role is None or role in roles:
            continue
        if role not in _DERIVED or not any(other.startswith(word[:5]) for other in known):
            return True
    return False


_SUFFIX = rf"(?i:{'|'.join(sorted(_SUFFIXES, key=len, reverse=True))})"
_ROLE = rf"(?i:{'|'.join(sorted(_ROLE_OF, key=len, reverse=True))})"
_ARTICLE = "The|A|An|Der|Die|Das|Le|La|El"
_PARTY = re.compile(
    rf"(?<!\w)(?P<name>(?:(?!(?:{_ARTICLE}|{_ROLE}s?)\b)[A-ZÀ-Þ][\w&'’-]*,? +){{1,5}}{_SUFFIX}\b\.?)"
    rf"|(?<!\w)(?P<role>{_ROLE}s?)(?!\w)"
)


def parties_in(text: str) -> list[str]:
    """The parties that a text speaks of, by role or by name, in the order in which they come first."""
    return list(dict.fromkeys(_party_key(match) for match in _PARTY.finditer(text)))


def party_places(text: str) -> Iterator[tuple[str, int, int]]:
    """Every mention of a party, with where it stands."""
    return ((_party_key(match), *match.span()) for match in _PARTY.finditer(text))


def _party_key(match: "re.Match[str]") -> str:
    return f"role {_role_of(match['role'].lower())}" if match["role"] else match["name"].split()[0].casefold()


def defined_roles(text: str) -> dict[str, str]:
    """Which party has which role, as in `Acme Inc. (the "Seller")`."""
    found: dict[str, str] = {}
    matches = list(_PARTY.finditer(text))
    for one, other in pairwise(matches):
        between = text[one.end() : other.start()]
        if one["name"] and other["role"] and re.fullmatch(r"[^()\n]{0,80}\(\W*(?:\w+\W+)?", between):
            found[_party_key(one)] = _party_key(other)
    return found


def stated_roles(text: str) -> dict[str, str]:
    """Which party a statement says to have which role, as in `the Seller is Acme Inc.`."""
    found: dict[str, str] = {}
    matches = list(_PARTY.finditer(text))
    for one, other in pairwise(matches):
        between = text[one.end() : other.start()]
        if bool(one["name"]) != bool(other["name"]) and re.fullmatch(
            r",?\s*(?:is|are|acts? as|as|being|ist|als|est|es|é|è)?\s*\(?(?:the |der |die |le |la |l['’]|el )?[\"“„«]?",
            between,
        ):
            name, role = (one, other) if one["name"] else (other, one)
            found[_party_key(name)] = _party_key(role)
    return found


def spells(acronym: str, text: str) -> bool:
    """Whether the letters of an acronym begin words that follow each other in a text, as VAT for value added tax."""
    if not (1 < len(acronym) <= _MAX_ACRONYM and acronym.isupper() and acronym.isalpha()):
        return False
    return (
        re.search(r"\w*[ -](?:of |and |the )?\b".join(rf"\b{letter}" for letter in acronym), text, re.IGNORECASE)
        is not None
    )


def agent_of(text: str) -> str:
    """The party that acts in a statement: the one behind `by` in the passive voice, else the first. It is empty where
    there is none."""
    passive = _PASSIVE.search(text)
    acting = parties_in(text[passive.end() :]) if passive else []
    return next(iter(acting or parties_in(text)), "")


def begins_with_a_role(sentence: str) -> bool:
    """Whether the subject of a sentence is a party, as in `The Supplier does not ...`."""
    return any(word in _ROLE_OF for word in re.findall(r"[^\W\d_]+", sentence.lower())[:3])


def places_in(text: str) -> set[int]:
    """The countries, states and cities that a text names, as numbers; adjectives and translations are the same."""
    return {_PLACE_OF[match[0]] for match in _PLACE.finditer(text.lower())}


def names_in(sentence: str, *, has_noun_capitals: bool) -> Iterator[str]:
    """The words of a sentence that look like names of parties, persons and products. `has_noun_capitals` says that the
    language writes all nouns with a capital, as German does: then only words that no noun looks like are taken."""
    for match in _TOKEN.finditer(sentence):
        if match[0].islower():
            continue
        word = _ELIDED.sub("", _POSSESSIVE.sub("", match[0]).rstrip("."))
        folded = word.casefold()
        if (
            not word[:1].isupper()
            or _role_of(folded) is not None
            or folded in _COMMON
            or folded in STOP_WORDS
            or folded.strip(".") in _SUFFIXES
        ):
            continue
        if (
            _is_mixed(word)
            or _TITLE.search(sentence[max(0, match.start() - _TITLE_CHARS) : match.start()])
            or _has_suffix(sentence, match.end())
        ):
            yield word
        elif _BEGINNING.search(sentence[: match.start()]) and has_noun_capitals:
            continue
        elif _BEGINNING.search(sentence[: match.start()]):
            follows = _SUBJECT.match(sentence[match.end() :])
            if follows and folded not in _GENERIC_SUBJECTS and not _ABSTRACT.search(word):
                yield word
        elif not has_noun_capitals:
            yield word


_MAX_ACRONYM = 6
_PASSIVE = re.compile(
    r"\b(?:is|are|be|been|was|were) (?:\w+ ){0,2}\w+(?:ed|en|ne|id|ught|de|nt|lt) (?:[^.;]{0,40} )?"
    r"by (?=(?:the )?[A-Za-z])"
)
_TITLE_CHARS = 80
_TITLE = re.compile(
    r"(?<!\w)(?:herrn?|frau|dr\.|prof\.|mr\.?|mrs\.?|ms\.?|mme\.?|monsieur|madame|sra?\.|señora?|signora?|judge|"
    r"richter(?:in)?|justice) ?(?:dr\. ?|prof\. ?|[A-Z]\w+ )?\Z",
    re.IGNORECASE,
)


def _is_mixed(word: str) -> bool:
    letters = [letter for letter in word if letter.isalpha()]
    return len(letters) > 1 and sum(letter.isupper() for letter in letters) > 1


def _has_suffix(sentence: str, end: int) -> bool:
    following = _TOKEN.match(sentence, end + 1)
    return following is not None and following[0].casefold().rstrip(".") in _SUFFIXES


def missing_names(names: Iterable[str], known: frozenset[str]) -> list[str]:
    """The names none of whose forms is among the words that are `known`, in small letters."""
    return [name for name in names if not _is_known(name.casefold(), known)]


def _is_known(name: str, known: frozenset[str]) -> bool:
    if name in known:
        return True
    parts = re.findall(r"[^\W_]+", name)
    if parts and all(part in known or part in _COMMON for part in parts):
        return True
    stem = name.removesuffix("s")
    beginning = stem[: max(_ENGLISH_STEM_CHARS, len(stem) - 3)]
    return len(stem) > _ENGLISH_STEM_CHARS and any(word.startswith(beginning) for word in known)
