"""Messages in other languages, word by word in English."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.selection.glossary import Glossary
from proviso_service.language import likely_languages

GLOSSARY = Glossary.read()


def english(message: str, *known: str) -> str:
    """What the message is in English; empty where it stays as it is."""
    likely = likely_languages(message)
    return " ".join(GLOSSARY.in_english(message, likely, lambda word: word in known).texts[1:])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Wie kündigen wir den Mietvertrag?", {"terminate", "rent"}),
        ("Was ist die Kündigungsfrist?", {"termination", "period"}),
        ("Gibt es eine Haftungsobergrenze?", {"liability", "cap"}),
        ("Quelle est la clause de résiliation ?", {"termination"}),
        ("J'ai oublié mon mot de passe.", {"password"}),
        ("¿Quién paga los daños y perjuicios?", {"pay", "damages"}),
        ("CONTRASEÑA", {"password"}),
        ("Kuendigung? Schönes Wetter, oder? Haftung!", {"liability"}),
    ],
)
def test_words_phrases_and_the_parts_of_compounds_are_translated(message: str, words: set[str]) -> None:
    assert words <= set(english(message).split())


@pytest.mark.parametrize(
    "message",
    [
        "",
        "?!",
        "Hallo!",
        "Bitte mach weiter.",
        "Merci !",
        "¿Qué es eso?",
        "Quanto costa la locazione dell'immobile?",
        "法律",
    ],
)
def test_small_talk_and_other_languages_stay_as_they_are(message: str) -> None:
    said = GLOSSARY.in_english(message, likely_languages(message), lambda _: False)
    assert (said.texts, said.words) == ((message,), message)


def test_a_message_of_single_words_keeps_those_that_the_items_have() -> None:
    assert english("accord pension", "accord", "pension") == ""
    assert english("reset contraseña", "reset") == "password reset"


def test_small_words_are_no_words_to_search_for() -> None:
    words = GLOSSARY.in_english("Die Haftung war nicht begrenzt.", ["de"], lambda _: False).words.split()
    assert {"liability", "haftung", "begrenzt"} <= set(words)
    assert not {"die", "war", "nicht"} & set(words)


@given(st.text(max_size=200), st.sampled_from(["", "Wie ", "Le ", "¿Qué "]))
def test_no_message_breaks_it(text: str, start: str) -> None:
    said = GLOSSARY.in_english(start + text, likely_languages(start), lambda _: False)
    assert said.texts[0] == start + text
    assert 1 <= len(said.texts) <= 2
