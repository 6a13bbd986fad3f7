"""Which sentences state no facts, in the languages in which people ask."""

import pytest

from proviso_service.agent.grounding.wording import Talk, kind_of_talk


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        (
            Talk.COURTESY,
            [
                *("", "…", "Hello there.", "Good morning!", "You're welcome.", "**Sorry**, that is beyond me."),
                "I can look into the documents of this matter.",
                "Please name the one that you mean.",
                "Ich helfe Ihnen gern.",
                "Guten Tag!",
                "Vous pouvez me demander une clause.",
                "Puedo buscar en los documentos.",
            ],
        ),
        (
            Talk.QUESTION,
            [
                "Which of the two agreements do you mean?",
                "Quelle clause ?",
                "哪一条款？",
                '"What is the cap?"',
                "Welchen Vertrag meinen Sie?",
                "¿Qué contrato?",
            ],
        ),
        (
            Talk.REFUSAL,
            [
                "I don't have enough information in the current documentation to answer that.",
                "I found no passage on this.",
                "The documents do not mention a penalty.",
                "Dazu habe ich in den Dokumenten nichts gefunden.",
                "Die Dokumente enthalten keine Regelung dazu.",
                "Je n’ai trouvé aucune clause à ce sujet.",
                "Les documents ne contiennent aucune information à ce sujet.",
                "No he encontrado ninguna cláusula al respecto.",
                "Non ho trovato informazioni nei documenti.",
                "Não encontrei informações nos documentos.",
                "Ik heb geen informatie gevonden in de documenten.",
                "文書に情報が見つかりません。",
            ],
        ),
        (
            Talk.SEARCH,
            [
                "My search gave two passages.",
                "Die Suche ergab zwei Treffer.",
                "La recherche a donné deux passages.",
                "Here are the passages.",
            ],
        ),
    ],
)
def test_talk_is_known_by_its_kind(kind: Talk, sentences: list[str]) -> None:
    assert {sentence: kind_of_talk(sentence) for sentence in sentences} == dict.fromkeys(sentences, kind)


@pytest.mark.parametrize(
    "sentence",
    [
        "Ohio, most likely.",
        "The agreement is governed by the laws of Oregon.",
        "US law applies.",
        "Good faith is required.",
        "The supplier bears the risk.",
        "The Supplier does not indemnify the Customer.",
        "The second one is void.",
        "I can tell you that the cap is unlimited.",
        "I found no cap, but liability is unlimited.",
        "I don't have enough information, so the cap is unlimited.",
        "The cap is unlimited, isn't it?",
        "Sorry, the agreement is void.",
        "Le contrat est soumis au droit français.",
        "Sie endet mit Ablauf des Jahres.",
        "El contrato termina en junio.",
        "契約は終了します。",
        "Yes.",
    ],
)
def test_what_speaks_of_anything_else_states_facts(sentence: str) -> None:
    assert kind_of_talk(sentence) is None
