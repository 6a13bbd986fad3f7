"""Tells the language that a person or a document writes in, by the small words that every sentence has."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

ENGLISH = "en"
OTHER_SCRIPT = "und"
"""The language of a text in a script other than Latin, of which nothing more can be told here."""

_NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
    OTHER_SCRIPT: "a script other than Latin",
}

_READ_CHARS = 2_000
"""So much of the beginning of a text is read. A question is shorter; what follows in a long message is often pasted."""

_PLACES, _PLACE_CHARS = 12, 250
_LEAST_SHARE, _LEAST_LEAD = 0.12, 1.3
_LAST_LATIN = "\u024f"
_LEAST_WORDS, _LEAST_ASKED_SHARE = 3, 0.3

_MOST_NAMED = 3
ASKED_NOTE = "This is asked in "
"""How a warning about the language of what is asked begins."""

_FUNCTION_WORDS: Mapping[str, str] = {
    "en": """
        a about all an and any are as at be been both but by can could did do does each every everything for from
        give had has have he her here him his how i if in into is it its just let list may me more most much must my
        no not of on only or other our out over please shall she should show so some such summarise summarize tell than
        that the their them then there these they this those to under until up upon us was we were what when where
        whether which who whom whose why will with within without would you your hello hi thanks thank yes""",
    "de": """
        aber alle allem allen aller alles als am an andere anderen auch auf aus bei beide beim bis bitte da damit dann
        darf das dass dein dem den denn der des die dies diese diesem diesen dieser dieses dir doch durch dürfen ein
        eine einem einen einer eines er es etwas euch fasse für gegen gelten genau gibt gilt haben habe hat hatte
        ich ihm ihn ihr ihre ihrem ihren im in ist ja jede jeden jeder jedes kann kein keine keinen können lang lange
        man mehr mein meine mich mir mit muss müssen nach nein nenne nicht nichts noch nur ob oder ohne seit sein seine
        sich sie sind so soll sollen sonst steht stehen über um und uns unser unsere unter vom von vor wann war waren
        warum was weil welche welchem welchen welcher welches wem wen wenn wer werden wie wieder wieviel wieviele wir
        wird wo worin wurde zeig zeige zu zum zur zwischen danke hallo guten""",
    "fr": """
        a à afin ai après as au aucun aucune aussi aux avant avec avez avoir avons c car ce ceci cela celle celui ces
        cet cette chaque chez comment d dans de depuis des deux donc donne du elle elles en encore entre est et étaient
        était être fait faut il ils j je jusqu l la le les leur leurs lesquelles lesquels lorsque m ma mais me mes
        moi mon montre n ne ni non nos notre nous on ont ou où oui par pas pendant peut peuvent plus pour pourquoi
        prévoit puis qu quand que quel quelle quelles quels qui quoi résume s sa sans se selon ses si son sont
        sous sur t ta
        te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y bonjour merci""",
    "es": """
        a al algún alguna antes así aún aunque cada como cómo con contra cual cuál cuales cuáles cuando cuándo cuanto
        cuánto cuántos cuántas de del desde después dice donde dónde dos durante e el él ella ellas ellos en entre era
        es esa ese eso esta está están estas este esto estos fue ha hace hasta hay la las le les lo los más me mi mis
        mucho muy ni ningún ninguna no nos nosotros nuestra nuestro o otra otro para pero por porque puede pueden pues
        que qué quien quién quiénes resume se según ser si sí sin sobre son su sus también te tiene tienen tienes todas
        todo todos tu tus un una unas uno unos usted y ya yo hola gracias""",
    "it": """
        a ad ai al alla alle anche c che chi ci come con cosa così da dal dalla dalle degli dei del della delle dello
        di dopo dove e è ed fra gli ha hanno i il in io l la le lo loro ma mi mio nel nella nelle non o ogni per però
        più può possono prima qual quale quali quando quanto quanti quanto questa queste questi questo qui se senza si
        sia sono su sua sul sulla suo suoi tra tutte tutti un una uno vi ciao grazie""",
    "nl": """
        aan al alle als bij dan dat de deze die dit door een en er geen geldt had heb hebben heeft het hij hoe hoeveel
        hun ik in is je kan kunnen maar me meer met mijn moet moeten na naar niet nog of om onder ons onze ook op over
        staat te tot u uit van voor waar waarom wanneer was wat we welk welke werd wie wij wordt worden zal ze zich zij
        zijn zonder zou hallo dank""",
    "pt": """
        a ao aos as até com como da das de depois do dos e é ela ele em entre era essa esse esta está este eu foi há
        isso isto já mais mas me meu minha muito na nas não nem no nos nós o onde os ou para pela pelo pode podem por
        porque qual quais quando quanto quantos que quem são se sem ser seu sua sobre também tem têm um uma umas uns
        você olá obrigado""",
}


def _by_word(words: Mapping[str, str]) -> dict[str, list[str]]:
    languages: dict[str, list[str]] = {}
    for language, own in words.items():
        for word in own.split():
            languages.setdefault(word, []).append(language)
    return languages


_LANGUAGES_OF = _by_word(_FUNCTION_WORDS)
_LETTERS_OF = {"de": "ßäöü", "fr": "œçêèû", "es": "ñ¿¡", "pt": "ãõ"}
"""Letters and marks that decide where the words leave several languages, or where there are none."""

_TERMS = {
    "en": r"\w{3,}ility|law|cap|fees?|term|termination|governing|exclusivity|warranty",
    "de": r"\w{3,}(?:ung|ungen|keit|heit|frist|fristen|pflicht|pflichten|vertrag|vertrags|klausel|sstand|grenze|recht|"
    r"wahl|ersatz|strafe|verzug|ziel|laufzeit)|laufzeit|klausel|haftet",
    "fr": r"\w{3,}(?:ité|ités|isseur|naux)|résiliation|droit|durée|préavis|contrat|pénale|"
    r"combien|paie|peux",
    "es": r"\w{3,}(?:ción|sión|dad|dades)|ley|plazo|preaviso|contrato|fecha|explica|resuma",
}
"""Words and endings of what contracts are asked about. They decide where the small words of a question do not, as
in "Plazo de preaviso"; those of one language are no words of another."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\S)\S*(?:_\S*|\.(?:pdf|docx?|md|txt|html?)\b)')
_WORD = re.compile(r"[^\W\d_]+")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\w*[^\W\d_]\d\w*\b")
"""A UUID or another word of letters with figures among them, whose letters would be read as small words."""


def language_of(*texts: str) -> str:
    """The language of the first of these texts whose language can be told, as a code of ISO 639-1, else English ("en").
    So a message is given first and earlier ones of the same person after it. What stands in quotation marks, or in the
    name of a file, is somebody else's words and counts only where there are no others."""
    return next((language for text in texts if (language := told_language(text))), ENGLISH)


@lru_cache(maxsize=64)  # a turn asks several times for the language of its message
def told_language(text: str) -> str:
    """The language of the text; empty where its words do not tell it."""
    beginning = _ID.sub(" ", text[:_READ_CHARS].lower())
    own = _QUOTED.sub(" ", beginning)
    return _most_likely(own) or _by_terms(own) or _most_likely(beginning)


def _by_terms(text: str) -> str:
    """The language that the text has most terms of, among those that its small words leave; empty where it has none, or
    as many of another."""
    open_ones = likely_languages(text) or tuple(_TERMS)
    found = Counter(
        language
        for word in _WORD.findall(text)
        for language, terms in _TERMS.items()
        if language in open_ones and re.fullmatch(terms, word)
    ).most_common(2)
    is_told = found and (len(found) == 1 or found[0][1] > found[1][1])
    return found[0][0] if is_told else ""


def _most_likely(text: str) -> str:
    likely = likely_languages(text)
    return likely[0] if len(likely) == 1 else ""


def written_in(text: str) -> str:
    """The language of a document, told by places all over its text, OTHER_SCRIPT or empty where it cannot be told."""
    step = max(_PLACE_CHARS, len(text) // _PLACES)
    sample = " ".join(text[at : at + _PLACE_CHARS] for at in range(0, len(text), step))
    letters = [char for char in sample if char.isalpha()]
    if sum(char > _LAST_LATIN for char in letters) * 2 > len(letters):
        return OTHER_SCRIPT
    words = _WORD.findall(sample.lower())
    (first, most), (_, next_most) = [*_points(words).most_common(2), ("", 0), ("", 0)][:2]
    return first if most > max(_LEAST_SHARE * len(words), _LEAST_LEAD * next_most) else ""


_PASSAGE_CHARS = 4_096
"""How much of a passage tells its language."""


def is_english(text: str) -> bool:
    """Tells whether a passage, or a question, is read as English: by its small words, and where these do not tell, it
    is."""
    words = " ".join(word for word in text[:_PASSAGE_CHARS].split() if not any(map(str.isdigit, word)))
    return (written_in(words) or language_of(words)) in (ENGLISH, OTHER_SCRIPT)


def unread_warnings(
    asked: Sequence[str], documents: Sequence[tuple[str, str]], reads: Collection[str]
) -> tuple[str, ...]:
    """What to know where models that read the languages `reads` are asked in another one, or about documents, each a
    file name and its language, in others. Where `reads` is empty, nothing is known of the models."""
    if not reads:
        return ()
    known = _listed(reads)
    languages = {language for text in asked if (language := _asked_in(text))} - {*reads}
    found = [f"{ASKED_NOTE}{_listed(languages)}, but the models here read {known}."] if languages else []
    others = [(name, language) for name, language in documents if language and language not in reads]
    if others:
        names = ", ".join(name for name, _ in others[:_MOST_NAMED])
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        written = _listed({language for _, language in others})
        found.append(
            f"{names}{more} {'is' if len(others) == 1 else 'are'} in {written}, but the models here read {known}: what "
            f"they find or miss there is not reliable."
        )
    return tuple(found)


def _asked_in(text: str) -> str:
    """The language of a question, told by several of its small words; empty where they do not tell it surely, as in a
    few words to search for."""
    words = _WORD.findall(text.lower())
    (first, most), (_, next_most) = [*_points(words).most_common(2), ("", 0), ("", 0)][:2]
    return first if most >= _LEAST_WORDS and most > max(next_most, _LEAST_ASKED_SHARE * len(words)) else ""


def _listed(languages: Collection[str]) -> str:
    return ", ".join(sorted(_NAMES.get(one, one) for one in languages))


def _points(words: Sequence[str]) -> Counter[str]:
    return Counter(language for word in words for language in _LANGUAGES_OF.get(word, ()))


@lru_cache(maxsize=64)
def likely_languages(text: str) -> tuple[str, ...]:
    """The languages that most words of the text belong to, each as likely as the others; none where no word or letter
    tells anything. A word of several languages counts for each of them, so the words that only one of them has decide.
    """
    beginning = text[:_READ_CHARS].lower()
    points = _points(_WORD.findall(beginning))
    most = max(points.values(), default=0)
    likely = tuple(language for language in _FUNCTION_WORDS if points[language] == most)
    if len(likely) == 1:
        return likely
    marked = tuple(one for one in likely if any(mark in beginning for mark in _LETTERS_OF.get(one, "")))
    return marked or (likely if most else ())


def is_function_word(word: str, language: str) -> bool:
    """Whether the word, in lower case, is one of the small words that sentences of the language have whatever they are
    about."""
    return language in _LANGUAGES_OF.get(word, ())
