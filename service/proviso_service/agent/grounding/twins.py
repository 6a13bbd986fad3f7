"""Compares a statement with a sentence of its source that has its words, in whatever language: whether one denies what
the other states, whether a duty has become a right, and whether two parties or two figures have changed places."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from proviso_service.agent.grounding.names import defined_roles, party_places
from proviso_service.agent.grounding.words import content_stems
from proviso_service.reading import Figure, Value, stands_in, values_of

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DENIALS = frozenset(
    "not no never neither nor nobody none cannot nicht nie niemals kein keine keinen keinem keiner keines weder ne pas "
    "jamais aucun aucune ni nunca tampoco ningún ninguna ninguno non nessun nessuna mai".split()
)
_EITHER = {"neither": "either", "cannot": ""}
_MODALS = frozenset(
    "may shall must can could will would should cannot need needs does do did is are was were be been being darf "
    "dürfen kann können muss müssen soll sollen wird werden ist sind peut peuvent pourra pourront doit doivent devra "
    "devront est sont podrá podrán puede pueden deberá deberán debe deben son será serán può possono deve".split()
)
_MIN_CHARS = 4
_STEM_CHARS = 5
_MIN_WORDS = 3
_DUTIES = re.compile(
    r"\b(?:must|shall|muss|müssen|doit|doivent|devra|devront|deberá|deberán|debe|deben)\b", re.IGNORECASE
)
_RIGHTS = re.compile(
    r"\b(?:may|can|darf|dürfen|kann|können|peut|peuvent|pourra|pourront|podrá|podrán|puede|pueden)\b", re.IGNORECASE
)


@lru_cache(maxsize=4_096)
def _denials_in(sentence: str) -> tuple[tuple[str, bool], ...]:
    """The longer words of a sentence, in order, each with whether a negation stands right before it. Auxiliary verbs
    are left out."""
    found: list[tuple[str, bool]] = []
    is_denied = False
    for match in _WORD.finditer(sentence):
        word = match[0].lower()
        if word in _DENIALS:
            is_denied = True
            word = _EITHER.get(word, "")
        if len(word) >= _MIN_CHARS and word not in _MODALS:
            found.append((word[:_STEM_CHARS], is_denied))
            is_denied = False
    return tuple(found)


def denies_its_twin(statement: str, sentences: Sequence[str]) -> bool:
    """Whether a sentence has all words of the statement in its order, and one of them denies what the other states, or
    makes a right of a duty or a duty of a right. It does not count where another sentence agrees with the statement."""
    ours = _denials_in(statement)
    if len(ours) < _MIN_WORDS:
        return False
    differs = False
    for sentence in sentences:
        matched = _matched(ours, _denials_in(sentence))
        if matched is None:
            continue
        if any(is_denied for _, is_denied in ours) == any(is_denied for _, is_denied in matched) and not _binds(
            statement, sentence
        ):
            return False
        differs = True
    return differs


def _matched(ours: Sequence[tuple[str, bool]], theirs: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]] | None:
    """The words of a sentence that are those of the statement, in its order; None where one is missing."""
    found = []
    rest = iter(theirs)
    for stem, _ in ours:
        twin = next((one for one in rest if one[0] == stem), None)
        if twin is None:
            return None
        found.append(twin)
    return found


def _binds(statement: str, sentence: str) -> bool:
    return {_force(statement), _force(sentence)} == {"duty", "right"}


def _force(text: str) -> str:
    is_duty, is_right = _DUTIES.search(text) is not None, _RIGHTS.search(text) is not None
    return ("duty" if is_duty else "right") if is_duty != is_right else ""


_TURNING = re.compile(r"[.;:]\s|\b(?:by|from|and|or|von|vom|durch|und|oder|par|et|ou|por|y|o)\b", re.IGNORECASE)
_OBJECT = re.compile(r"\b(?:dem|den|einem|einen|an|to|from|by|au|aux|al|von|vom|zu|für)\s+\Z", re.IGNORECASE)


def swaps_parties(statement: str, sentence: str) -> bool:
    """Whether two parties have changed places: each stands beside the words that the other stands beside in the
    sentence, as in `the Client pays the Provider` and `the Provider pays the Client`."""
    acts, acts_there = _who_acts(statement, sentence), _who_acts(sentence, sentence)
    if acts and acts_there and acts[:2] == acts_there[1::-1] and acts[2] & acts_there[2]:
        return True
    ours, theirs = dict(_beside_parties(statement)), dict(_beside_parties(sentence))
    shared = [(party, key) for party, key in ours.items() if party in theirs]
    return any(
        party != other and (keys - theirs[party]) & theirs[other] and (others - theirs[other]) & theirs[party]
        for party, keys in shared
        for other, others in shared
    )


def keeps_parties(statement: str, sentence: str) -> bool:
    """Whether every party of the statement stands beside a word beside which it stands in the sentence."""
    theirs = dict(_beside_parties(sentence))
    return all(keys & theirs.get(party, frozenset()) for party, keys in _beside_parties(statement))


def _who_acts(text: str, source: str) -> tuple[str, str, frozenset[str]] | None:
    """The first party of a text, the second, and the words between them; None where it may be the other that acts. The
    source tells which party has which role."""
    roles = defined_roles(source)
    places = [(roles.get(party, party), start, end) for party, start, end in party_places(text)]
    later = next((at for at, place in enumerate(places) if place[0] != places[0][0]), 0)
    if not later:
        return None
    between = text[places[later - 1][2] : places[later][1]]
    if _TURNING.search(between) or _OBJECT.search(text[: places[0][1]]):
        return None
    words = frozenset(
        word[:_STEM_CHARS] for word in _WORD.findall(between) if len(word) >= _MIN_CHARS and word.islower()
    )
    return places[0][0], places[later][0], words - _MODALS


def _beside_parties(text: str) -> Iterator[tuple[str, frozenset[tuple[str, str, str]]]]:
    """The parties of a text, each with the telling words before and behind it, and the small word right before it."""
    words = [(match.start(), match[0].lower()) for match in _WORD.finditer(text)]
    found: dict[str, set[tuple[str, str, str]]] = {}
    for party, start, end in party_places(text):
        before = [word for at, word in words if at < start]
        small = before[-1] if before and len(before[-1]) < _MIN_CHARS else ""
        left = next((word for word in reversed(before) if len(word) >= _MIN_CHARS), "")
        right = next((word for at, word in words if at >= end and len(word) >= _MIN_CHARS), "")
        keys = found.setdefault(party, set())
        if left:
            keys.add(("before", small, left[:_STEM_CHARS]))
        if right:
            keys.add(("behind", small, right[:_STEM_CHARS]))
    yield from ((party, frozenset(keys)) for party, keys in found.items())


_BOUNDARY = re.compile(r"[;:.|\n](?=\s)|,|\b(?:and|plus|while|und|sowie|et|y|e)\b")
_BOUNDARY_CHARS = 40
_CLEARLY_CHARS = 12
_MOST_FIGURES = 12
_MOST_PLACES = 4


def swaps_figures(statement: str, values: Sequence[Value], around: str) -> bool:
    """Whether two figures have changed places: in the statement each stands nearest to words to which the other stands
    nearest in the text `around` its source's sentence, as in `10 % on Mondays, 20 % on Fridays`."""
    there = values_of(around, is_source=True)
    known = _different([value for value in values if _has_unit(value) and stands_in(value, there)])
    if len(known) < 2:
        return False
    keys, keys_there = _keys(statement, values), _keys(around, there)
    shared = keys.keys() & keys_there.keys()
    ours, theirs = _Boundaries(statement), _Boundaries(around)
    alike = [_like(value, there) for value in known]
    for number, one in enumerate(known):
        for later, other in enumerate(known[number + 1 :], number + 1):
            moved = [
                (near, near_there)
                for key in shared
                if not {(one.start, one.end), (other.start, other.end)} & set(keys[key])
                if (near := ours.nearer(keys[key], [one], [other]))
                and (near_there := theirs.nearer(keys_there[key], alike[number], alike[later]))
            ]
            crossed = [nears for nears in moved if nears[0] != nears[1]]
            if len(set(crossed)) == 2 and 2 * len(crossed) > len(moved):
                return True
    return False


def _different(values: Sequence[Value]) -> list[Value]:
    """The first of equal values, of as many as a sentence that compares figures may have."""
    found: list[Value] = []
    for value in values:
        if len(found) < _MOST_FIGURES and not stands_in(value, found):
            found.append(value)
    return found


def _has_unit(value: Value) -> bool:
    return not isinstance(value, Figure) or bool(value.unit)


def _like(value: Value, others: Sequence[Value]) -> list[Value]:
    return [other for other in others if stands_in(value, [other])]


def _keys(text: str, values: Sequence[Value]) -> dict[str, list[tuple[int, int]]]:
    """Where the telling words and the figures of a text stand. What stands everywhere tells nothing."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(text):
        if not any(value.start <= match.start() < value.end for value in values):
            for stem in content_stems(match[0]):
                found.setdefault(stem, []).append(match.span())
    for value in values:
        if isinstance(value, Figure):
            found.setdefault(f"{min(value.amounts)} {value.unit}", []).append((value.start, value.end))
    return {key: places for key, places in found.items() if len(places) <= _MOST_PLACES}


class _Boundaries:
    """The distances in a text; a boundary between two places counts like forty characters."""

    def __init__(self, text: str) -> None:
        self._starts = [match.start() for match in _BOUNDARY.finditer(text)]

    def nearer(self, places: Sequence[tuple[int, int]], ones: Sequence[Value], others: Sequence[Value]) -> int:
        """1 where a word stands clearly nearer to the first value, 2 where to the second, 0 where to neither."""
        to_one, to_other = (min(self._distance(place, v) for place in places for v in vs) for vs in (ones, others))
        if abs(to_one - to_other) < _CLEARLY_CHARS:
            return 0
        return 1 if to_one < to_other else 2

    def _distance(self, place: tuple[int, int], value: Value) -> int:
        start, end = (place[1], value.start) if place[1] <= value.start else (value.end, place[0])
        between = bisect_left(self._starts, max(start, end)) - bisect_left(self._starts, start)
        return max(0, end - start) + _BOUNDARY_CHARS * between
