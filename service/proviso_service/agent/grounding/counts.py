"""Figures that a source need not hold as they are: counts of documents and of items of a list, factors and rests."""

import re

from proviso_service.reading import Figure, Value

_COUNTED = re.compile(
    r"\s+(?:(?:of|von|de|des|der|the|such|more|weitere[rns]?|other|andere[rn]?|autres?|otros)\s+)*(?:(?:\w+|three|"
    r"two)\s+){0,2}?(?P<noun>documents?|agreements?|contracts?|files?|passages?|clauses?|match(?:es)?|hits?|pages?|"
    r"results?|types?|sections?|"
    r"dokumente?n?|verträge[n]?|stellen|klauseln|treffer|passagen|seiten?|ergebnisse?|contrats?|fichiers?|résultats?|"
    r"clauses?|documentos?|contratos?|cláusulas?|pasajes?|"
    r"resultados?|páginas?|points?|items?|duties|obligations?|rights?|cases?|conditions?|grounds?|reasons?|ways?|"
    r"steps?|exceptions?|remedies|requirements?|things?|situations?|events?|circumstances|"
    r"punkte[n]?|pflichten|rechte|fälle[n]?|gründe[n]?|voraussetzungen|ausnahmen|cas|droits|motifs|casos|derechos|"
    r"motivos)\b",
    re.IGNORECASE,
)
_OF_DOCUMENTS = frozenset(
    "document documents agreement agreements contract contracts file files dokument dokumente dokumenten "
    "verträge verträgen contrat contrats fichier fichiers documento documentos contrato contratos".split()
)
_OF_SEARCHES = _OF_DOCUMENTS | frozenset(
    "passage passages clause clauses match matches result results page pages hit hits type types klausel "
    "klauseln stelle stellen treffer passagen seiten seite ergebnis ergebnisse résultats résultat pages "
    "cláusulas pasajes resultados páginas".split()
)
_FEW = 12
_MAX_LISTED = 20
_REST = re.compile(
    r"\b(?:more|other|others|further|remaining|rest|not quoted|weitere[rns]?|übrige[rn]?|autres?|restants?|otros|"
    r"restantes)\b",
    re.IGNORECASE,
)


def noun_behind(figure: Figure, text: str) -> str:
    """The noun that a figure counts, such as `documents`; empty where it counts nothing of that kind."""
    noun = _COUNTED.match(text, figure.end)
    return noun["noun"].lower() if noun else ""


def is_count(figure: Figure, text: str, counts: set[int]) -> bool:
    """Whether a figure of a statement counts documents, clauses or the items of a list that follows, and is right as
    far as the `counts` of what was found tell."""
    noun = "" if figure.unit else noun_behind(figure, text)
    if not noun:
        return False
    amount = min(figure.amounts)
    return amount in counts or (amount <= _MAX_LISTED and ":" in text and noun not in _OF_DOCUMENTS)


def is_known_count(figure: Figure, text: str, counts: set[int]) -> bool | None:
    """Whether a figure without a unit is a count of what was found, or the rest of one; None where it counts nothing
    that a search finds."""
    if noun_behind(figure, text) in _OF_SEARCHES:
        is_rest = _REST.search(text) is not None
        return bool(figure.amounts & counts) or is_rest
    return True if figure.amounts & counts else None


def is_small_word(figure: Figure, text: str) -> bool:
    """Whether a figure is a small number in words that counts nothing in particular, as in `one moment`."""
    is_word = not any(map(str.isdigit, text[figure.start : figure.end]))
    return is_word and not figure.unit and min(figure.amounts) <= _FEW and not noun_behind(figure, text)


def is_factor(value: Value, figures: tuple[Figure, ...]) -> bool:
    """Whether a number is the factor of a product that the sentence shows, as in `two cost 2 x 310 = 620`."""
    if not isinstance(value, Figure) or not 1 < min(value.amounts) <= _FEW:
        return False
    factor, amounts = min(value.amounts), [max(one.amounts) for one in figures if one.unit]
    return any(factor * amount in amounts for amount in amounts)
