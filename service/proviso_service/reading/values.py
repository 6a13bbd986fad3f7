"""The figures of a text: amounts, percentages, periods and dates, in digits and in English, German, French and Spanish
words, in the form in which two texts can be compared.

Equal values written differently are equal: `USD 1,000,000` and `one million dollars`, `5 %` and `five percent`,
`1 January 2025`, `01.01.2025` and `2025-01-01`. Values with other units are not: 30 days are not one month, and 30
business days are not 30 days, because a contract may mean something else by them."""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import chain

from proviso_service.reading.number_words import (
    ARTICLES,
    BUSINESS,
    CURRENCIES,
    LINKS,
    MONTHS,
    NOT_ALONE,
    ORDINALS,
    PERCENT,
    PLURAL,
    POWERS,
    SHORT_POWERS,
    TIMES,
    WORDS,
)

CURRENCY_UNITS = frozenset(CURRENCIES.values())

_MAX_VALUES = 2_000
"""The most values that are read from one text."""

_PLACE_WORD = r"(?!(?:WITHOUT|EXCLUDING|EXCLUSIVE|APPLICABLE|SHALL|EXCEPT|AS|AND ALL|REGARDLESS)\b)[A-Z][\w.\u2019'-]*"
LAW = re.compile(
    r"\b(?i:(?:the\s+)?(?:internal\s+|substantive\s+|federal\s+)?laws?\s+(?:of|in)\s+(?:the\s+)?"
    r"(?:(?:state|commonwealth|province|republic|country|people\u2019s republic)\s+of\s+(?:the\s+)?)?)"
    rf"(?P<place>{_PLACE_WORD}(?:,?\s+(?:(?i:of|the|and)\s+){{0,2}}{_PLACE_WORD}){{0,6}})"
    r"|\b(?P<whose>[A-Z][a-z]+(?:\s[A-Z][a-z]+)?)\s+laws?\b"
)
"""The law of a place, as in `the laws of the State of New York` (`place`) and `Delaware law` (`whose`)."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit: `%`, a currency such as `usd`, a time such as `day`, or nothing. `amounts` are the
    numbers that it may mean: 1.500 is one and a half to some and fifteen hundred to others. `near` are the units that
    stand close to a number without one, as in `two or three years` and `Notice (days): 30`; `per` is the time that a
    rate is for, as in `4 % per annum`."""

    amounts: frozenset[Decimal]
    unit: str
    start: int
    end: int
    near: frozenset[str] = frozenset()
    per: str = ""


@dataclass(frozen=True, slots=True)
class Date:
    """A day, or a month of a year where `days` is empty. `days` has two members where it is open which of the numbers
    of 03/04/2025 is the month."""

    days: frozenset[tuple[int, int]]
    month: int
    year: int
    start: int
    end: int


Value = Figure | Date


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_MONTH = rf"(?:{_any(MONTHS)})\.?"
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})\b",
        r"\b(?P<a>\d{1,2})[./-](?P<b>\d{1,2})[./-](?P<y>\d{4})\b",
        rf"\b{_DAY.format('d')}\s+(?:day\s+)?(?:of\s+|de\s+|d[’'])?(?P<n>{_MONTH})\s*,?\s*(?:of\s+|"
        rf"del?\s+)?(?P<y>\d{{4}})\b",
        rf"\b(?P<n>{_MONTH})\s+{_DAY.format('d')}\s*,?\s+(?P<y>\d{{4}})\b",
        rf"\b(?P<n>{_MONTH})\s*,?\s+(?:of\s+|del?\s+)?(?P<y>\d{{4}})\b",
        r"(?<![\d.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?![\d%])",
        rf"\b(?P<n>{_MONTH})\s+{_DAY.format('d')}(?![\d.,]*\d)",
        rf"\b{_DAY.format('d')}\s+(?:of\s+|de\s+)?(?P<n>{_MONTH})(?!\w)",
    )
)

_DIGITS = r"\d+(?:[.,'’\u00a0\u202f ]\d{3})*(?:[.,]\d+)?"
_COMPOUND = r"[^\W\d_]*(?:hundert|tausend)(?:[^\W\d_]+)?"
_WORD_NUMBER = rf"(?<![^\W\d_])(?:{_any(WORDS)}|{_any(POWERS.keys() - SHORT_POWERS)}|{_COMPOUND})(?![^\W\d_])"
_JOINED = rf"{_WORD_NUMBER}(?:(?:[\s-]+(?:and\s+|und\s+|et\s+|y\s+|de\s+)?){_WORD_NUMBER})*"
_POWER = rf"(?:{_any(POWERS)})(?![^\W\d_])\.?"
_UNIT_BEFORE = r"(?:(?P<before>US\$|[$€£¥]|(?<![^\W\d_])(?:usd|eur|gbp|chf|jpy)(?![^\W\d_]))\s*)?"
_UNIT_AFTER = (
    rf"(?:(?:\s*\(\s*(?:{_DIGITS}|{_JOINED})\s*(?:%|percent)?\s*\))?\.?[\s\u00a0-]*"
    rf"(?:(?P<kind>{'|'.join(BUSINESS)}|calendar|consecutive|full|whole|volle[rn]?)[\s-]+)?"
    rf"(?P<after>%|[$€£¥]|(?:{_any(PERCENT)}|{_any(CURRENCIES)}|{_any(TIMES)})(?![^\W\d_])))?"
    r"(?P<later>\s+(?:ouvrables?|ouvrés?|hábiles?|laborables?))?"
)
_FIGURE = re.compile(
    rf"{_UNIT_BEFORE}(?:(?P<digits>(?<![\w.,]){_DIGITS})|(?P<words>{_JOINED}))"
    rf"(?P<powers>(?:[\s-]*{_POWER})*){_UNIT_AFTER}",
    re.IGNORECASE,
)
_FIGURE_WORDS = frozenset(
    {*WORDS, *POWERS, "us", "usd", "eur", "gbp", "chf", "jpy"} | {word.split("-")[0] for word in WORDS}
)
_PER = re.compile(
    rf"\s*(?:of )?(?:per|an?|each|every|pro|im|je|par|al|por|/)\s*(?:calendar )?(?P<time>{_any(TIMES)}|annum)(?!\w)",
    re.IGNORECASE,
)
_COMPOUND_WORD = re.compile(r"-[^\W\d_]")
_NEAR_CHARS = 80
_UNIT_WORD = re.compile(r"[%$€£¥]|[^\W\d_]+")
_UNIT_OF = {**dict.fromkeys(("%", "percent", "prozent", "cent", "ciento", "percentage"), "%"), **CURRENCIES, **TIMES}
_DIGIT = re.compile(r"\d")
_SEPARATED = re.compile(r"[.,'’\u00a0\u202f ]")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+")


def values_of(text: str, *, is_source: bool = False) -> list[Value]:
    """The values of a text, in order. In a source an article before a unit counts as one, as in `an hour`. Numbers
    inside words and of lists, such as `1.` at the start of a line, are no values."""
    # Every date and time of day has a digit.
    dates: list[Value] = [*_dates(text), *_times_of_day(text)] if _DIGIT.search(text) else []
    dates += [one for one in _others(text) if not any(date.start < one.end and one.start < date.end for date in dates)]
    taken = [(date.start, date.end) for date in dates]
    figures = (
        figure
        for figure in _figures(text, is_source=is_source)
        if not any(s < figure.end and figure.start < e for s, e in taken)
    )
    found: list[Value] = sorted([*dates, *figures], key=lambda value: value.start)
    return found[:_MAX_VALUES]


def stands_in(value: Value, others: list[Value]) -> bool:
    """Whether a value is one of those of a source."""
    return any(_same(value, other) for other in others)


def is_total(figure: Figure, shown: list[Figure]) -> bool:
    """Whether the figure is worked out from others that are shown: the sum or the difference of two or of all of one
    unit, a multiple or a part of one, or so many percent of one."""
    like = [one for one in shown if one.unit == figure.unit and one is not figure]
    amounts = [max(one.amounts) for one in like]
    if len(amounts) > 2 and sum(amounts) in figure.amounts:
        return True
    factors = [max(one.amounts) for one in shown if not one.unit]
    products = {amount * factor for amount in amounts for factor in factors}
    shares = {a * max(one.amounts) / 100 for a in amounts for one in shown if one.unit == "%"}
    quotients = {amount / factor for amount in amounts for factor in factors if factor}
    if figure.unit and figure.amounts & (products | quotients | shares):
        return True
    pairs = ((a, b) for i, a in enumerate(amounts) for b in amounts[i + 1 :])
    return any(a + b in figure.amounts or abs(a - b) in figure.amounts for a, b in pairs)


def _same(value: Value, other: Value) -> bool:
    if isinstance(value, Date):
        return isinstance(other, Date) and _same_date(value, other)
    if isinstance(other, Date):
        return not value.unit and other.year in value.amounts
    is_of_unit = value.unit in ("", other.unit) or (not other.unit and value.unit in other.near)
    is_of_time = not (value.per and other.per) or value.per == other.per
    return is_of_unit and is_of_time and bool(value.amounts & other.amounts)


def _same_date(one: Date, other: Date) -> bool:
    if one.year and other.year and one.year != other.year:
        return False
    if one.year and not other.year:
        return False
    if not one.days:
        return one.month == other.month or any(month == one.month for _, month in other.days)
    return bool(one.days & other.days)


_CANDIDATE = re.compile(r"[$€£¥]|\d|[^\W\d_]+")


def _candidates(text: str, words: Container[str]) -> Iterator[int]:
    """Where a value may begin: at a digit, a sign of a currency, or one of these words. Looking only there is many
    times faster than to try every position."""
    for token in _CANDIDATE.finditer(text):
        word = token[0].lower()
        if not word.isalpha() or word in words or "hundert" in word or "tausend" in word:
            yield token.start()


def _dates(text: str) -> list[Date]:
    found: list[Date] = []
    done = 0
    for start in _candidates(text, MONTHS):
        if start < done or len(found) == _MAX_VALUES:
            continue
        matches = (pattern.match(text, start) for pattern in _DATES)
        date = next((date for match in matches if match and (date := _date_of(match))), None)
        if date is not None:
            found.append(date)
            done = date.end
    return found


def _date_of(match: re.Match[str]) -> Date | None:
    parts = match.groupdict()
    year = int(parts["y"]) if parts.get("y") else 0
    if parts.get("a"):
        a, b = int(parts["a"]), int(parts["b"])
        days = {(day, month) for day, month in ((a, b), (b, a)) if 1 <= day <= 31 and 1 <= month <= 12}
        return Date(frozenset(days), 0, year, *match.span()) if days else None
    month = MONTHS[parts["n"].lower().rstrip(".")] if parts.get("n") else int(parts["m"])
    day = int(parts["d"]) if parts.get("d") else 0
    if not 1 <= month <= 12 or day > 31 or (parts.get("n", "").lower() == "may" and not year):
        return None
    return Date(frozenset({(day, month)}) if day else frozenset(), month, year, *match.span())


_CLOCK = re.compile(
    r"(?<![\d.,:])(?P<h>\d{1,2})(?:[:.](?P<m>\d{2}))?\s*(?P<half>[ap]\.?\s?m\b\.?|uhr\b|o['’]clock|h(?=\s|[.,;)]|"
    r"\Z))|(?<![\d.,:])(?P<h2>\d{1,2}):(?P<m2>\d{2})(?![\d:])",
    re.IGNORECASE,
)


_ORDINAL = re.compile(
    rf"(?<!\w)(?:(?P<d>\d{{1,3}})(?:st|nd|rd|th|\.|er|e|ème)|"
    rf"(?P<w>{_any(ORDINALS)}))\s+(?:\([^()\n]{{1,8}}\)\s+)?(?:business |working |"
    rf"calendar )?(?P<unit>{_any(TIMES)}|anniversary)(?!\w)",
    re.IGNORECASE,
)
_ENGLISH_TIME = re.compile(r"(?:hour|day|week|month|quarter|year)s?", re.IGNORECASE)
_SPANS = {
    "decade": ("10", "year"),
    "jahrzehnt": ("10", "year"),
    "fortnight": ("2", "week"),
    "half a year": ("6", "month"),
}
_SPAN = re.compile(rf"(?<!\w)(?:{_any(_SPANS)})(?!\w)", re.IGNORECASE)
_FRACTIONS = {
    "half of": "0.5",
    "half the": "0.5",
    "a third of": "0.33",
    "one third of": "0.33",
    "two thirds of": "0.67",
}
_FRACTIONS |= {
    "a quarter of": "0.25",
    "one quarter of": "0.25",
    "three quarters of": "0.75",
    "die hälfte": "0.5",
    "la moitié": "0.5",
}
_FRACTION = re.compile(rf"(?<!\w)(?:{_any(_FRACTIONS)})(?!\w)", re.IGNORECASE)


def _others(text: str) -> Iterator[Figure]:
    """Ordinals of days and months, spans with a name of their own, and fractions."""
    for match in _ORDINAL.finditer(text):
        if match["d"] and text[match.end("d")] == "." and _ENGLISH_TIME.fullmatch(match["unit"]):
            continue  # of a heading, such as "5. Hours of Work"; in German "5. Tag" is a day
        number = int(match["d"]) if match["d"] else ORDINALS[match["w"].lower()]
        unit = TIMES.get(match["unit"].lower(), match["unit"].lower())
        yield Figure(frozenset({Decimal(number)}), f"nth {unit}", *match.span())
    for match in _SPAN.finditer(text):
        amount, unit = _SPANS[match[0].lower()]
        yield Figure(frozenset({Decimal(amount)}), unit, *match.span())
    for match in _FRACTION.finditer(text):
        yield Figure(frozenset({Decimal(_FRACTIONS[match[0].lower()])}), "fraction", *match.span())


def _times_of_day(text: str) -> Iterator[Figure]:
    for match in _CLOCK.finditer(text):
        hour, minute = int(match["h"] or match["h2"]), int(match["m"] or match["m2"] or 0)
        half = (match["half"] or "").lower()[:1]
        if half in ("a", "p"):
            hour = hour % 12 + (12 if half == "p" else 0)
        if hour <= 24 and minute < 60:
            yield Figure(frozenset({Decimal(60 * hour + minute)}), "o'clock", *match.span())


def _figures(text: str, *, is_source: bool) -> Iterator[Figure]:
    count = done = 0
    for start in _candidates(text, _FIGURE_WORDS):
        match = _FIGURE.match(text, start) if start >= done else None
        figure = _figure_of(match, text, is_source=is_source) if match else None
        if match is None or figure is None:
            continue
        done = match.end()
        if is_source and not figure.unit:
            figure = replace(figure, near=_units_near(text, figure))
        yield figure
        count += 1
        if count == _MAX_VALUES:
            return


def _units_near(text: str, figure: Figure) -> frozenset[str]:
    around = f"{text[max(0, figure.start - _NEAR_CHARS) : figure.start]} {text[figure.end : figure.end + _NEAR_CHARS]}"
    found = (_UNIT_OF.get(match[0].lower()) for match in _UNIT_WORD.finditer(around))
    return frozenset(unit for unit in found if unit)


def _figure_of(match: re.Match[str], text: str, *, is_source: bool) -> Figure | None:
    unit = _unit(match)
    if (match["words"] or "").lower() == "once" and text[: match.start()].lower().endswith("at "):
        return None
    if match["words"] and (word := match["words"].lower().split()[0]).endswith(("mal", "once", "twice", "thrice")):
        unit = unit if word == "mal" else "time"
    if (match["words"] or "").lower() in NOT_ALONE and not unit and PLURAL.match(text, match.end()):
        return Figure(frozenset({Decimal(WORDS[match["words"].lower()])}), "", *match.span())
    powers = re.findall(r"[^\W\d_]+", (match["powers"] or "").lower())
    if match["digits"]:
        if _is_list_number(match, text):
            return None
        amounts = _amounts(match["digits"])
        # "5 m" may be five metres: a short power counts right after the digits or beside a currency only.
        if powers and powers[0] in SHORT_POWERS and not unit and not match["before"]:
            powers = []
    else:
        if _COMPOUND_WORD.match(text, match.end()):
            return None  # "three-party"
        amount = _in_words(match["words"], unit, articles=is_source)
        if amount is None:
            return None
        amounts = frozenset({amount})
    for power in powers:
        amounts = frozenset(amount * POWERS[power] for amount in amounts)
    rate = _PER.match(text, match.end())
    per = TIMES.get(rate["time"].lower(), "year") if rate and unit else ""
    return Figure(amounts, unit, *match.span(), per=per) if amounts else None


def _is_list_number(match: re.Match[str], text: str) -> bool:
    """Whether the digits number a line of a list, as in `1. Fees` or `(2) Term`."""
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    if "#" in line or "§" in line:
        return line.strip(" \t*_(#>§-") == ""
    rest = text[match.end() : match.end() + 2]
    return line.strip(" \t*_(#>-") == "" and bool(re.match(r"[.)](?:\s|$)", rest)) and len(match["digits"]) <= 2


def _unit(match: re.Match[str]) -> str:
    if match["digits"] and match["after"] and match.string.startswith(".", match.end("digits")):
        return ""  # of a heading, such as "5. Hours of Work"
    after = (match["after"] or "").lower()
    if after == "an" and (match["words"] or match["digits"]).lower() not in ("un", "1"):
        after = ""  # the English article
    if match["after"] == "TAG":
        after = ""  # a name in capitals below a clause's number, not the German day
    if after in PERCENT:
        return "%"
    if after in TIMES:
        unit = TIMES[after]
        is_business = (match["kind"] or "").lower() in BUSINESS or bool(match["later"])
        return f"business {unit}" if is_business and unit == "day" else unit
    before = (match["before"] or "").lower()
    return CURRENCIES.get(before) or CURRENCIES.get(after) or ""


def _amounts(digits: str) -> frozenset[Decimal]:
    readings = set()
    if _GROUPED.fullmatch(digits):
        readings.add(_SEPARATED.sub("", digits))
    marks = [mark for mark in digits if mark in ".,"]
    if not marks:
        readings.add(_SEPARATED.sub("", digits))
    elif len(marks) == 1 or len(set(marks)) == 2:
        whole, *parts = re.split(r"[.,](?=\d+$)", digits, maxsplit=1)
        if not parts:  # two columns of a table, as in "64,700 101"
            return frozenset().union(*map(_amounts, re.split(r"[^\d.,]", digits)))
        if parts != ["000"]:  # 40,000 is not 40
            readings.add(f"{_SEPARATED.sub('', whole)}.{parts[0]}")
    else:
        readings.add(_SEPARATED.sub("", digits))
    try:
        return frozenset(Decimal(reading).normalize() for reading in readings)
    except InvalidOperation:
        return frozenset()


def _in_words(written: str, unit: str, *, articles: bool) -> Decimal | None:
    """The number that words such as `two hundred forty-five` mean; None where they are no number here."""
    whole = written.lower()
    words = [whole] if whole in WORDS else [word for word in re.split(r"[\s-]+", whole) if word not in LINKS]
    if words[-1] in ("a", "an") and len(words) > 1:
        words = words[:-1]
    if words[0] in ("a", "an") and len(words) > 1 and words[1] not in POWERS:
        words = words[1:]
    if len(words) == 1 and words[0] in ARTICLES | NOT_ALONE:
        is_article = words[0] in ("a", "an") and not articles
        if not unit or unit == "%" or is_article:
            return None
    if words[-1] in ("cent", "mil", "mille") and len(words) == 1 and not unit:
        return None
    total = current = 0
    for word in chain.from_iterable(map(_simple_words, words)):
        power = POWERS.get(word, 0)
        if power == 100:
            current = max(1, current) * power
        elif power:
            total, current = total + max(1, current) * power, 0
        elif word in WORDS:
            current += WORDS[word]
        else:
            return None
    return Decimal(total + current)


def _simple_words(word: str) -> list[str]:
    """The parts of a German compound: `zwei hundert fünfzig` for `zweihundertfünfzig`; any other word by itself."""
    if word in WORDS or word in POWERS:
        return [word]
    return [part for part in re.split(r"(hundert|tausend)(?:und)?", word) if part]
