"""Numbers, units, currencies and months in English, German, French and Spanish words."""

import re
from collections.abc import Mapping

ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
    "dix-huit dix-neuf",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve",
}
TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
}


def _number_words() -> dict[str, int]:
    words: dict[str, int] = {}
    for ones, tens in ((ONES[language].split(), TENS[language].split()) for language in ONES):
        words |= {word: value for value, word in enumerate(ones)}
        words |= {word: 10 * value for value, word in enumerate(tens, 2)}
    german = ONES["de"].split()[1:10]
    units = ["ein", *german[1:]]
    words |= {f"{u}und{t}": 10 * i + n for n, u in enumerate(units, 1) for i, t in enumerate(TENS["de"].split(), 2)}
    words |= {"quatre-vingt": 80, "dreissig": 30, "zwo": 2, "ein": 1, "eine": 1, "einem": 1, "einen": 1, "einer": 1}
    words |= {"eines": 1, "une": 1, "una": 1, "a": 1, "an": 1}
    words |= {f"{word}mal": value for word, value in words.items() if value <= 20 and word in ONES["de"].split()}
    words |= {"einmal": 1, "once": 1, "twice": 2, "thrice": 3, "dozen": 12, "dutzend": 12, "douzaine": 12, "docena": 12}
    return words


WORDS = _number_words()
ARTICLES = frozenset({"a", "an", "ein", "eine", "einem", "einen", "einer", "eines", "un", "une", "una", "uno", "one"})
"""Words that are a number only before a unit of time or a power of ten: `ein Monat`, `a million`, but not `a party`."""
NOT_ALONE = frozenset({"neuf", "six", "once", "einmal", "mal"})
"""Words that are something else, too, and count only before a unit: `neuf` is also new."""

POWERS = {
    **dict.fromkeys(("hundred", "hundert", "cent", "cents", "cien", "ciento", "cientos"), 100),
    **dict.fromkeys(("thousand", "tausend", "mille", "mil", "tsd", "k"), 1_000),
    **dict.fromkeys(("million", "millions", "millionen", "mio", "millón", "millones", "m", "mn", "mm"), 10**6),
    **dict.fromkeys(("billion", "billions", "milliarde", "milliarden", "milliard", "milliards", "mrd", "bn"), 10**9),
}
LINKS = frozenset({"and", "und", "et", "y", "de"})
PLURAL = re.compile(r"\s+\w{3,}s\b")
SHORT_POWERS = frozenset({"k", "m", "mn", "mm", "bn", "cents"})
CURRENCIES = {
    **dict.fromkeys(("usd", "us$", "$", "dollar", "dollars", "dólar", "dólares"), "usd"),
    **dict.fromkeys(("eur", "€", "euro", "euros"), "eur"),
    **dict.fromkeys(("gbp", "£", "pound", "pounds", "pfund", "livre", "livres", "libra", "libras"), "gbp"),
    **dict.fromkeys(("chf", "franken", "francs"), "chf"),
    **dict.fromkeys(("jpy", "yen", "¥"), "jpy"),
}
PERCENT = frozenset({"%", "percent", "per cent", "prozent", "pour cent", "por ciento", "percentage points"})
TIMES = {
    **dict.fromkeys(("time", "times", "mal", "fois", "veces", "vez"), "time"),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "kilometern", "km", "kilomètres"), "km"),
    **dict.fromkeys(("mile", "miles", "meile", "meilen", "millas"), "mile"),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "metern", "mètres", "metros"), "metre"),
    **dict.fromkeys(("kilogram", "kilograms", "kilogramm", "kg", "kilo", "kilos", "kilogrammes"), "kg"),
    **dict.fromkeys(("tonne", "tonnes", "ton", "tons", "tonnen"), "tonne"),
    **dict.fromkeys(
        ("second", "seconds", "sekunde", "sekunden", "seconde", "secondes", "segundo", "segundos"), "second"
    ),
    **dict.fromkeys(("minute", "minutes", "minuten", "minuto", "minutos"), "minute"),
    **dict.fromkeys(("hour", "hours", "stunde", "stunden", "heure", "heures", "hora", "horas"), "hour"),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen", "jour", "jours", "día", "días"), "day"),
    **dict.fromkeys(("kalendertag", "kalendertage", "kalendertagen"), "day"),
    **dict.fromkeys(("werktag", "werktage", "werktagen", "arbeitstag", "arbeitstage", "arbeitstagen"), "business day"),
    **dict.fromkeys(("bankarbeitstag", "bankarbeitstage", "bankarbeitstagen", "geschäftstage"), "business day"),
    **dict.fromkeys(("week", "weeks", "woche", "wochen", "semaine", "semaines", "semana", "semanas"), "week"),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten", "mois", "mes", "meses"), "month"),
    **dict.fromkeys(("quarter", "quarters", "quartal", "quartale", "quartalen", "trimestre", "trimestres"), "quarter"),
    **dict.fromkeys(
        ("year", "years", "jahr", "jahre", "jahren", "an", "ans", "année", "années", "año", "años"), "year"
    ),
}
BUSINESS = ("business", "working", "banking", "trading")
MONTHS: Mapping[str, int] = {
    name: number
    for language in (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jänner feber maerz apr mai juni juli aug sept okt nov dez",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    )
    for number, name in enumerate(language.split(), 1)
}

ORDINALS = {
    word: number
    for language in (
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth",
        "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften",
        "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
    )
    for number, word in enumerate(language.split(), 1)
} | {"twentieth": 20, "thirtieth": 30, "twenty-first": 21, "twenty-fifth": 25}
