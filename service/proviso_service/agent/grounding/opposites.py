"""Tells whether a statement says the opposite of its source, as far as words show: an opposite, a negation on one side
only, a duty for a right, or parties that have changed places.

A statement is compared with sources in its own language only, and with the sentence that has most of its words. What is
put in other words is not noticed, and less of it in other languages than English."""

import re
from collections.abc import Iterator, Sequence

from proviso_service.agent.grounding.names import agent_of, defined_roles, parties_in, stated_roles
from proviso_service.agent.grounding.sources import Source
from proviso_service.agent.grounding.statement import Statement
from proviso_service.agent.grounding.twins import denies_its_twin, keeps_parties, swaps_figures, swaps_parties
from proviso_service.agent.grounding.words import content_stems

_MIN_STEMS = 3
_SEVERAL = re.compile(r"\A\W*(?:yes|no|it depends)\b[^.!]*[.!]\s+\w", re.IGNORECASE)
_MIN_SHARED = 0.6
_MOSTLY_SHARED = 0.7
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|without|cannot|none|nobody|n['’]t)\b|n['’]t\b", re.IGNORECASE)
_DENIAL = re.compile(r"\b(?:not|no|never|neither|nor|cannot)\b|n['’]t\b", re.IGNORECASE)
_LIMITS = re.compile(
    r"\b(?:not (?:to )?exceed|no (?:more|less|fewer|later|earlier) than|not (?:more|less|fewer|later|earlier) than|"
    r"not only|whether or not|not limited to)\b",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"\b(?:except|unless|other than|save|provided|only|until|if|but)\b", re.IGNORECASE)
_ON_CONDITION = re.compile(r"\b(?:only|unless|except)\b", re.IGNORECASE)
_MUST = re.compile(
    r"\b(?:must|shall|required|obliged|obligated|has to|have to|needs to|duty|agrees? to|will|undertakes?|"
    r"responsible|obligations?)\b",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"\b(?:may|can|entitled|permitted|allowed|rights?|free to|discretion|option|able to|authori[sz]ed|"
    r"licen[sc]e[sd]?|grants?)\b",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    (
        re.compile(rf"(?<![\w-])(?:{one})(?![\w-])", re.IGNORECASE),
        re.compile(rf"(?<![\w-])(?:{other})(?![\w-])", re.IGNORECASE),
    )
    for one, other in (
        ("unlimited|without (?:any )?limit(?:ation)?|uncapped", "limited|limit|limits|cap|capped|exceed"),
        ("non-exclusive|nonexclusive", "exclusive"),
        ("exclusive", "non-exclusive|nonexclusive"),
        ("irrevocable", "revocable"),
        ("revocable", "irrevocable"),
        ("perpetual", "terminable"),
        ("transferable", "non-transferable|nontransferable"),
        ("non-transferable", "transferable"),
        ("binding", "non-binding|nonbinding"),
        ("refundable", "non-refundable|nonrefundable"),
        ("before|prior to", "after|following"),
        ("after", "before|prior to"),
        ("at least|minimum|no less than", "at most|maximum|no more than|not exceed|up to"),
        ("at most|maximum|up to|no more than", "at least|minimum|no less than|not less than"),
        ("solely by|mutual|both parties", "unilateral"),
    )
)


_ONLY_WITH = re.compile(
    r"\b(?:not|neither|no|nor|never|cannot|nicht|kein\w*|weder|pas|ne|aucune?|ningun\w*)\b[^.;]*?"
    r"\b(without|ohne|sans|sin)\b",
    re.IGNORECASE,
)
_FREELY = re.compile(
    r"\b(?:freely|at will|without (?:any )?restrictions?|frei|beliebig|uneingeschränkt|librement|libremente)\b",
    re.IGNORECASE,
)
_NEEDLESS = re.compile(
    r"\b(?:(?:does|do|is|are|need) not (?:require|need|necessary|needed|required)|(?:requires?|needs?) no|"
    r"no (?:\w+ ){1,3}(?:is|are) (?:required|needed|necessary)|(?:braucht|bedarf|erfordert) keine\w*|"
    r"keine \w+ (?:nötig|erforderlich)|n['’](?:exige|est) pas|no (?:requiere|exige|es necesari\w+))\b",
    re.IGNORECASE,
)


def _exclusive(*kinds: str) -> "Iterator[tuple[re.Pattern[str], re.Pattern[str]]]":
    """Each kind of words with the others, which say something else."""
    for one in kinds:
        others = "|".join(other for other in kinds if other != one)
        yield re.compile(rf"\b(?:{one})\b", re.IGNORECASE), re.compile(rf"\b(?:{others})\b", re.IGNORECASE)


_EXCLUSIVE = (
    *_exclusive(r"higher|höhere\w*", r"lower|niedrigere\w*|geringere\w*"),
    *_exclusive(r"courts?|gerichte?n?|tribuna(?:l|ux|les)|juzgados?", r"arbitra\w+|schieds\w+"),
    *_exclusive(r"senior", r"junior"),
    *_exclusive(r"positive", r"negative", r"stable"),
    *_exclusive(
        r"oral(?:ly)?|verbal(?:ly)?|mündlich\w*|oralement|verbalmente",
        r"written|writing|schriftlich\w*|écrite?s?|escrit\w+",
    ),
    *_exclusive(
        r"daily|täglich\w*",
        r"weekly|wöchentlich\w*|hebdomadaires?",
        r"monthly|monatlich\w*|mensuel\w*|mensual\w*",
        r"quarterly|vierteljährlich\w*|trimestriel\w*|trimestral\w*",
        r"annual(?:ly)?|yearly|jährlich\w*|annuel\w*|anual\w*",
    ),
)


def is_opposite(statement: Statement, sources: Sequence[Source]) -> bool:
    """Whether a statement says the opposite of what the sources say, or has no word in common with them."""
    if not sources or statement.quotations or _SEVERAL.search(statement.text):
        return False
    alike = [source for source in sources if source.language == statement.language == "en"]
    return _differs_from_its_twin(statement, sources) or (bool(alike) and _is_opposite(statement, alike))


def _differs_from_its_twin(statement: Statement, sources: Sequence[Source]) -> bool:
    """What can be told in any language."""
    stems = statement.stems
    nearest = [(source, source.best_span(stems)) for source in sources]
    around = "\n\n".join(source.context_of(span) for source, span in nearest)
    near, span = max(nearest, key=lambda one: len(stems & content_stems(one[0].sentence_at(one[1]))))
    return (
        denies_its_twin(statement.unquoted, [sentence for source in sources for sentence in source.sentences])
        or swaps_parties(statement.unquoted, near.sentence_at(span))
        or (len(statement.values) > 1 and swaps_figures(statement.unquoted, statement.values, around))
        or any(_frees_what_is_bound(statement, one) for source in sources for one in source.sentences)
        or any(
            one.search(statement.text)
            and not other.search(statement.text)
            and not any(one.search(source.evidence) for source in sources)
            and any(other.search(source.evidence) for source in sources)
            for one, other in _EXCLUSIVE
        )
    )


def _frees_what_is_bound(statement: Statement, sentence: str) -> bool:
    """Whether a statement says `freely`, or that no consent is needed, of what a sentence forbids without consent."""
    bound = _ONLY_WITH.search(sentence)
    if bound is None or not statement.stems & content_stems(sentence[: bound.start(1)]):
        return False
    free, needless = _FREELY.search(statement.text), _NEEDLESS.search(statement.text)
    return (free is not None and not is_negated(statement.text)) or (
        needless is not None and bool(content_stems(sentence[bound.start(1) :]) & statement.stems)
    )


def _is_opposite(statement: Statement, alike: Sequence[Source]) -> bool:
    """What is told by English words."""
    stems = statement.stems
    if len(stems) >= _MIN_STEMS and not statement.names and not any(stems & source.stems for source in alike):
        return True
    text = "\n".join(source.evidence for source in alike)
    nearest = max((s.sentence_at(s.best_span(stems)) for s in alike), key=lambda one: len(stems & content_stems(one)))
    shared = len(stems & content_stems(nearest)) / max(1, len(stems))
    return (
        any(one.search(statement.text) and not one.search(text) and other.search(text) for one, other in _OPPOSITES)
        or (shared >= _MIN_SHARED and _are_swapped(statement.unquoted, nearest))
        or (shared >= _MOSTLY_SHARED and _denies_otherwise(statement, nearest))
        or (shared >= _MOSTLY_SHARED and _binds_otherwise(statement, nearest))
    )


def _denies_otherwise(statement: Statement, nearest: str) -> bool:
    if _EXCEPTION.search(nearest) or _ON_CONDITION.search(statement.text):
        return False
    denied, denied_there = _denied(statement.text), _denied(nearest)
    if (denied_there - denied) & statement.stems and not is_negated(statement.text):
        return True
    return bool(denied - denied_there) and denied <= content_stems(nearest) and not _NEGATION.search(nearest)


def _binds_otherwise(statement: Statement, nearest: str) -> bool:
    """Whether a duty of the source is a right in the statement, or a right a duty."""
    if is_negated(statement.text) or _EXCEPTION.search(nearest) or _ON_CONDITION.search(statement.text):
        return False
    return {_force(statement.text), _force(nearest)} == {"duty", "right"}


def _force(text: str) -> str:
    """Whether a text speaks of duties only, of rights only, or of neither or both."""
    is_duty, is_right = _MUST.search(text) is not None, _MAY.search(text) is not None
    return ("duty" if is_duty else "right") if is_duty != is_right else ""


def is_negated(text: str) -> bool:
    """Whether an English text denies something."""
    return _NEGATION.search(_without_limits(text)) is not None


_OF_STATE = re.compile(r"\b(?:is|are|was|were|be|been|being)\b", re.IGNORECASE)
_TURNED_ROUND = re.compile(
    r"\b(?:receives?|received|owed to|entitled to|due to|in favou?r of)\b|\b(?:by|from) (?:(?:the|either|"
    r"each) )?(?!\w+ \d)(?:[A-Z]|[a-z]+(?:er|or|ee|ant|ent)\b)"
)


def _are_swapped(claim: str, source: str) -> bool:
    """Whether the two parties of a statement have changed their places."""
    ours, theirs = parties_in(claim), parties_in(source)
    defined, stated = stated_roles(source) | defined_roles(source), stated_roles(claim)
    has_role = {role: name for name, role in defined.items()}
    if stated:
        return any(defined.get(name, role) != role or has_role.get(role, name) != name for name, role in stated.items())
    agent, agent_there = agent_of(claim), agent_of(source)
    if agent and agent_there and agent not in theirs and not _OF_STATE.search(claim):
        return True
    both = [party for party in ours if party in theirs]
    if len(both) != 2 or _TURNED_ROUND.search(claim) or _TURNED_ROUND.search(source):
        return False
    return theirs.index(both[0]) > theirs.index(both[1]) and not keeps_parties(claim, source)


def _without_limits(text: str) -> str:
    return _LIMITS.sub(" ", text)


def _denied(text: str) -> frozenset[str]:
    """The first telling word behind each negation, as in `shall not disclose`."""
    found: set[str] = set()
    for negation in _DENIAL.finditer(bare := _without_limits(text)):
        following = re.findall(r"[^\W\d_]{4,}", bare[negation.end() : negation.end() + 60])
        found |= next((stems for word in following[:3] if (stems := content_stems(word))), frozenset())
    return frozenset(found)
