"""What states nothing may be said without a source."""

import pytest

from proviso_service.agent.grounding import is_conversational


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "…",
        "Hello there.",
        "Good morning!",
        "Which of the two agreements do you mean?",
        "Quelle clause ?",
        "哪一条款？",
        "I can look into the documents of this matter. Please name the one that you mean.",
        "You're welcome.",
        "Ich kann keine Bilder sehen. Guten Tag!",
        "Je ne peux pas voir les images.",
        "**Sorry**, that is beyond me.",
        '"What is the cap?"',
    ],
)
def test_talk_states_nothing(answer: str) -> None:
    assert is_conversational(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Ohio, most likely.",
        "The agreement is governed by the laws of Oregon.",
        "US law applies.",
        "Good faith is required.",
        "Hello. The supplier bears the risk.",
        "Which one? The second one is void.",
        "Le contrat est soumis au droit français.",
        "Sie endet mit Ablauf des Jahres.",
        "El contrato termina en junio.",
        "契約は終了します。",
        "Yes.",
    ],
)
def test_what_speaks_of_anything_else_is_a_statement(answer: str) -> None:
    assert not is_conversational(answer)
