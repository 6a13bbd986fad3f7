"""The language of a question is told from its small words, also of short questions and of ones with foreign terms."""

import time

import pytest

from proviso_service.language import is_english, language_of, told_language, unread_warnings, written_in

ENGLISH = """
What is the governing law?
Can the supplier terminate for convenience?
Who are the parties
List all documents in this matter.
Does the agreement limit liability to direct damages?
Which clause covers "Höhere Gewalt" and what does it say?
Is there a non-compete?
Was the notice period extended?
May Müller and Höfer GmbH terminate?
summarise the lease
Compare the governing law of A and B
What does "la responsabilité du prestataire est limitée" mean?
""".strip().splitlines()

GERMAN = """
Welches Recht gilt für diesen Vertrag?
Was ist die Kündigungsfrist?
Kann der Lieferant ohne Grund kündigen?
Wer sind die Parteien?
Wie hoch ist die Haftungsobergrenze?
Gibt es eine Klausel über Change of Control?
Liste alle Dokumente auf
Wann endet der Vertrag
Steht im Vertrag "limitation of liability for the supplier"?
Worin haftet die Beklagte?
Fasse den Mietvertrag zusammen.
Was war der Preis?
Kündigungsfrist?
""".strip().splitlines()

FRENCH = """
Quel est le droit applicable au contrat ?
Qui sont les parties ?
Le prestataire peut-il résilier sans motif ?
Quelle est la durée du préavis ?
Y a-t-il une clause de force majeure ?
Combien de jours pour contester une facture ?
Résume le bail.
Que dit l'article 12 ?
Montre-moi les clauses de confidentialité
Est-ce qu'il y a un plafond de responsabilité ?
""".strip().splitlines()

SPANISH = """
¿Cuál es la ley aplicable?
Quiénes son las partes
¿Puede el proveedor rescindir sin causa?
¿Qué plazo de preaviso hay?
¿Hay una cláusula de fuerza mayor?
Resume el contrato de arrendamiento
Cuántos días tiene el cliente para reclamar?
¿El contrato limita la responsabilidad?
Muestra todos los documentos
Cuando termina el contrato
""".strip().splitlines()


@pytest.mark.parametrize(
    ("language", "text"),
    [(language, text) for language, texts in
     (("en", ENGLISH), ("de", GERMAN), ("fr", FRENCH), ("es", SPANISH)) for text in texts],
)  # fmt: skip
def test_the_language_of_a_question_is_told(language: str, text: str) -> None:
    assert language_of(text) == language
    assert language_of(text.upper()) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("it", "Qual è la legge che si applica al contratto?"),
        ("nl", "Welk recht is van toepassing op deze overeenkomst?"),
        ("pt", "Qual é a lei que se aplica a este contrato e quem são as partes?"),
    ],
)
def test_a_neighbouring_language_is_not_taken_for_one_of_them(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "   ", "12.3?", "Force majeure", "準拠法は何ですか", "GmbH", "\ud800"])
def test_a_text_without_small_words_counts_as_english(text: str) -> None:
    assert language_of(text) == "en"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Haftungsobergrenze?"),
        ("de", "Gerichtsstand Services Agreement"),
        ("de", "Force Majeure Klausel vorhanden?"),
        ("fr", "Droit applicable"),
        ("fr", "Clause de confidentialité"),
        ("es", "Plazo de preaviso"),
        ("es", "Duración del Consulting Agreement"),
        ("es", "Resuma Services_Agreement.md"),
        ("en", "Summarise Liefervertrag_der_Parteien_und_des_Kunden.pdf"),
        ("en", "Liability cap in Dienstleistungsvertrag?"),
        ("en", "Conciliation, affiliation, LOI"),
    ],
)
def test_a_question_of_few_words_is_told_by_its_legal_terms_and_not_by_the_name_of_a_file(
    language: str, text: str
) -> None:
    assert language_of(text) == language


def test_where_the_message_does_not_tell_the_earlier_one_does() -> None:
    assert language_of("Force majeure", "Welche Klausel regelt das?") == "de"
    assert language_of("", "", "¿Qué dice el contrato?") == "es"
    assert language_of("What is it?", "Was ist das?") == "en"


def test_only_the_beginning_of_a_long_message_is_read() -> None:
    question = "Was bedeutet die folgende Klausel in diesem Vertrag? " + "ich und du " * 200
    assert language_of(question + "the party of the first part shall have all rights " * 10_000) == "de"


def test_the_letters_of_an_id_are_no_words() -> None:
    marker = '[CONTEXT] The user has selected matter "Loan" (matter_id: {}).'
    ids = "0c1d2c3d-4c5d-4d6c-8c7d-0d1c2d3c4d5c", "9c8d7c6d-5c4d-4d3c-8c2d-1d0c9d8c7d6c"
    assert language_of("\n".join(map(marker.format, ids))) == "en"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "This Agreement is made by and between the parties, and each of them shall be bound by it."),
        ("de", "Dieser Vertrag wird zwischen den Parteien geschlossen, und jede von ihnen ist daran gebunden."),
        ("fr", "Le présent contrat est conclu entre les parties, et chacune d'elles est liée par ses termes."),
        ("es", "Este contrato se celebra entre las partes, y cada una de ellas queda obligada por él."),
        ("it", "Il presente contratto è concluso tra le parti, e ciascuna di esse ne è vincolata."),
        ("und", "Договор аренды заключен между сторонами, and nothing else."),
        ("", "Zone Industrielle 1267 Coinsins | Frankfurter Str. 250 | 1,200.00 | 3.5 %"),
        ("", ""),
    ],
)
def test_the_language_of_a_document_is_told_by_its_text_or_not_at_all(language: str, text: str) -> None:
    assert written_in(text) == language
    assert written_in(f"{text}\n" * 400) == language


def test_a_document_in_several_languages_is_in_that_of_most_of_its_text() -> None:
    english = "The tenant shall pay the rent to the landlord on the first day of each month. "
    german = "Die Miete ist an den Vermieter am ersten Tag eines jeden Monats zu zahlen. "
    assert written_in(german + english * 300) == "en"
    assert written_in(english + german * 300) == "de"


def test_warnings_name_the_languages_and_the_first_documents() -> None:
    documents = [("a.md", "de"), ("b.md", ""), ("c.md", "en"), ("d.md", "fr"), ("e.md", "de"), ("f.md", "und")]
    asked = ("Wie hoch ist die Miete?", "Miete")
    assert unread_warnings(asked, documents, {"en"}) == (
        "This is asked in German, but the models here read English.",
        (
            "a.md, d.md, e.md and 1 more are in French, German, a script other than Latin, but the models here read "
            "English: what they find or miss there is not reliable."
        ),
    )
    assert unread_warnings(("Miete",), [("c.md", "en")], {"en"}) == ()
    assert unread_warnings(asked, documents, set()) == ()


def test_the_language_of_a_word_without_end_is_told_at_once() -> None:
    started = time.perf_counter()
    assert is_english("x" * 1_000_000)
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("text", ["x9v8b7n6m5", "INV-N7D3", "de305d54-75b4-431b-adb2-eb6b9e546014"])
def test_letters_among_figures_tell_no_language(text: str) -> None:
    assert told_language(text) == ""
