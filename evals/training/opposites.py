"""Sentences turned into what contradicts them by one small change: a duty made a choice, parties swapped, another
number. They teach the judge to read such words, which otherwise matter little to what a text is about."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence

_NUMBER_SHARE = 0.15
_SWAP_SHARE = 0.3
_MOST_WORDS = 28
_LEAST_WORDS = 14
_PARTIES = 8
_LEAST_NAMED = 3

_CHANGES = [
    (re.compile(pattern, re.IGNORECASE), change)
    for pattern, change in (
        (r"\b(shall|will|would|should|may|can|could|does|do|is|are|has|have|was|were) not\b", r"\1"),
        (r"\bmust not\b", "may"),
        (r"\bcannot\b", "can"),
        (r"\b(shall|will|must)\b(?! not| have the right| be entitled| be permitted)", r"\1 not"),
        (r"\b(shall|must)\b(?! not)", "need not"),
        (r"\b(may|can|is|are)\b(?! not)", r"\1 not"),
        (r"\bnon-?exclusive\b", "exclusive"),
        (r"(?<!non)(?<!non-)\bexclusive\b", "non-exclusive"),
        (r"\bwithout\b", "only with"),
        (r"\b(?:prior to|before)\b", "after"),
        (r"\bafter\b", "before"),
        (r"\bat least\b", "at most"),
        (r"\b(no|not) less than\b", r"\1 more than"),
        (r"\b(no|not) more than\b", r"\1 less than"),
        (r"(?<!no )(?<!not )\bmore than\b", "less than"),
        (r"\bexceed\b", "fall below"),
        (r"\bincluding\b", "excluding"),
        (r"\bexcluding\b", "including"),
        (r"\b(?:each|either) party\b", "neither party"),
        (r"\bneither party\b", "either party"),
        (r"\bunless\b", "if"),
        (r"\birrevocable\b", "revocable"),
        (r"(?<!not )\b(entitled|obligated|required|permitted|liable|responsible|bound)\b", r"not \1"),
        (r"\bnot (entitled|obligated|required|permitted|liable|responsible|bound)\b", r"\1"),
    )
]
_NUMBER = re.compile(r"(?<!Section )(?<!Article )(?<!Exhibit )(?<!Clause )(?<!\d\.)\b[1-9]\d{0,2}(?:,\d{3})*\b(?!\.\d)")
_SUBJECT = re.compile(r"\b(?:the )?([A-Z][\w&'-]*(?: [A-Z][\w&'-]*)*)(?= (?:shall|will|may|must|agrees))")
_NO_PARTY = re.compile(r"(?:This|Any|Each|All|No|Such|If|The|Neither|Either|In|It|Agreement|Section|Party|Parties)\b")


def parties(sentences: Iterable[str]) -> list[str]:
    """What often does something in the sentences of a contract, most often first."""
    named = Counter(found.group(1) for text in sentences for found in _SUBJECT.finditer(text))
    return [name for name, times in named.most_common(_PARTIES) if times >= _LEAST_NAMED and not _NO_PARTY.match(name)]


def part_of(rng: random.Random, sentence: str) -> str:
    """A sentence, or a part of a long one."""
    if len(sentence.split()) <= _MOST_WORDS:
        return sentence
    parts = re.split(r"(?<=[;,:])\s+", sentence)
    at = rng.randrange(len(parts))
    words: list[str] = []
    while at < len(parts) and len(words) < _LEAST_WORDS:
        words += parts[at].split()
        at += 1
    return " ".join(words[:_MOST_WORDS]).strip(" ;,:")


def opposite_of(rng: random.Random, text: str, names: Sequence[str]) -> str | None:
    """A text with one change that makes it untrue, or None where there is nothing to change. `names` are parties."""
    drawn = rng.random()
    changed = None
    if drawn < _SWAP_SHARE:
        changed = _with_parties_swapped(rng, text, names)
    elif drawn < _SWAP_SHARE + _NUMBER_SHARE:
        changed = _with_another_number(rng, text)
    return changed or _with_a_word_changed(rng, text)


def _with_parties_swapped(rng: random.Random, text: str, names: Sequence[str]) -> str | None:
    held = [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)]
    if len(held) < 2:
        return None
    one, other = rng.sample(held, 2)
    if one in other or other in one:
        return None
    either = re.compile(rf"\b(?:{re.escape(one)}|{re.escape(other)})\b")
    return either.sub(lambda found: other if found.group() == one else one, text)


def _with_another_number(rng: random.Random, text: str) -> str | None:
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    found = rng.choice(numbers)
    number = int(found.group().replace(",", ""))
    others = (number * 2, number * 3, number + rng.choice((1, 5, 10)), number // 2 if number > 3 else number + 4)
    return f"{text[: found.start()]}{rng.choice(others):,}{text[found.end() :]}"


def _with_a_word_changed(rng: random.Random, text: str) -> str | None:
    places = [(found, change) for pattern, change in _CHANGES for found in pattern.finditer(text)]
    if not places:
        return None
    found, change = rng.choice(places)
    return text[: found.start()] + found.expand(change) + text[found.end() :]
