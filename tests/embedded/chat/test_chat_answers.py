"""What answers look like: whole clauses, one line a document, no headings and no markup in quotes."""

import json
from dataclasses import replace

import pytest

from proviso_service.embedded import EmbeddedChatModel, EmbeddedExtractor, MiniLmEmbedder
from proviso_service.embedded.chat.answers import answer
from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.wording import said
from proviso_service.tool_results import ExtractedAnswer, ExtractedAnswers
from tests.support.scripted_matter import (
    LEASE,
    NDA,
    SERVICES,
    Chunks,
    ScriptedMatter,
    assert_grounded,
    exchange,
    quotes_of,
    run_turn,
)
from tests.support.word_embedder import WordEmbedder

CALIFORNIA = "This Lease is governed by the laws of the State of California."
LIABILITY = (
    "11.1 Nothing in this Agreement limits liability for fraud. "
    "11.2 Neither party is liable for indirect loss. "
    "11.3 The total liability of each party in any contract year shall not exceed 125 per cent of the Fees."
)
TERMINATION = (
    "15.1 Either party may terminate this Agreement by giving one hundred and eighty (180) days' written notice. "
    "15.2 Either party may terminate this Agreement if a breach is not remedied within ten days of notice."
)
SUPPLY: Chunks = (
    ("13. Limitation of Liability", LIABILITY),
    ("14. Term", "14.1 This Agreement begins on 2 December 2024 and continues for four years."),
    (
        "15. Termination",
        TERMINATION,
    ),
)


@pytest.fixture(scope="module")
def model(embedder: MiniLmEmbedder) -> EmbeddedChatModel:
    return EmbeddedChatModel(embedder=embedder)


@pytest.fixture
def matter(embedder: MiniLmEmbedder) -> ScriptedMatter:
    return ScriptedMatter(embedder)


@pytest.fixture
def whole(embedder: MiniLmEmbedder, extractor: EmbeddedExtractor) -> ScriptedMatter:
    """The matter with all tools that look for answers."""
    return ScriptedMatter(embedder, extractor)


@pytest.fixture
def supply(embedder: MiniLmEmbedder) -> ScriptedMatter:
    return ScriptedMatter(embedder, documents={"Supply Agreement.md": SUPPLY})


async def test_what_a_document_says_about_a_subject_is_its_whole_clause(
    model: EmbeddedChatModel, supply: ScriptedMatter
) -> None:
    turn = await run_turn(model, supply, "What does the supply agreement say about limitation of liability?")
    assert [quote for quote, _ in quotes_of(turn.answer)] == [LIABILITY.removeprefix("11.1 ")]
    assert_grounded(turn)


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What is the notice period of the supply agreement?", "one hundred and eighty (180) days"),
        ("What is the liability cap in the supply agreement?", "125 per cent"),
    ],
)
async def test_the_sentence_with_the_figure_is_quoted(
    model: EmbeddedChatModel, supply: ScriptedMatter, question: str, part: str
) -> None:
    turn = await run_turn(model, supply, question)
    [(quote, _)] = quotes_of(turn.answer)
    assert part in quote


async def test_one_document_is_not_put_side_by_side(model: EmbeddedChatModel, whole: ScriptedMatter) -> None:
    history = exchange("Compare the governing law of the services agreement and the NDA.", "Side by side: ...")
    turn = await run_turn(model, whole, "And what about the lease?", history=history)
    assert "Side by side" not in turn.answer
    assert next(quote for quote, _ in quotes_of(turn.answer)) == CALIFORNIA


async def test_a_question_about_each_agreement_is_answered_for_each(
    model: EmbeddedChatModel, matter: ScriptedMatter
) -> None:
    turn = await run_turn(model, matter, "What notice must be given to terminate each agreement?")
    assert "sixty (60) days" in turn.answer
    assert "thirty (30) days" in turn.answer
    assert_grounded(turn)


async def test_another_companys_agreement_of_the_same_kind_is_not_meant(
    model: EmbeddedChatModel, matter: ScriptedMatter
) -> None:
    turn = await run_turn(model, matter, "What is the governing law of the Bravatek services agreement?")
    assert turn.answer.startswith("No document in this matter has a name that matches")
    assert quotes_of(turn.answer) == []


async def test_a_topic_alone_does_not_answer_a_question_about_something_else(
    model: EmbeddedChatModel, matter: ScriptedMatter
) -> None:
    turn = await run_turn(model, matter, "What happens to the deposit if the satellite launch is delayed?")
    assert turn.answer.startswith(said("no_answer"))


async def test_documents_that_stay_without_room_are_counted(model: EmbeddedChatModel, matter: ScriptedMatter) -> None:
    results = [
        {"ref": number, "filename": name, "document_id": name, "heading": "Law", "text": "Governed by the law of Iowa."}
        for number, name in enumerate((SERVICES, NDA, LEASE), start=1)
    ]
    reply = json.dumps({"query": "law", "total_found": 20, "documents_found": 11, "results": results})
    listing = json.dumps({"total_count": 3, "documents": []})
    filled = replace(matter, replies={"isaacus_search": reply, "list_matter_documents": listing})
    turn = await run_turn(model, filled, "What is the governing law?")
    assert "\n\nAt least 8 more documents have passages that came close" in turn.answer


@pytest.mark.parametrize(
    ("asked", "defined"),
    [("Obvious Defect", "Obvious Defects"), ("Defects", "Defect"), ("Losses", "Loss"), ("Parties", "Party")],
)
async def test_a_term_is_found_where_it_is_defined_in_another_number(asked: str, defined: str) -> None:
    text = f'The Buyer shall report "{defined}" at once. "{defined}" means whatever an inspection shows.'
    found = ExtractedAnswers(alternatives=(ExtractedAnswer(ref=1, filename="a.txt", text=text),))
    request = UserRequest(Intent.FACT, f'What is an "{asked}"?', term=asked)
    written = await answer(request, TargetDocuments(), Evidence(extracted=(found,)), WordEmbedder())
    assert [quote for quote, _ in quotes_of(written)] == [f'"{defined}" means whatever an inspection shows.']


async def test_where_several_documents_define_a_term_each_is_quoted() -> None:
    texts = {"a.txt": '"Territory" means Iowa.', "b.txt": "The Territory is large.", "c.txt": '"Territory" means Ohio.'}
    answers = tuple(
        ExtractedAnswer(ref=ref, document_id=name, filename=name, text=text)
        for ref, (name, text) in enumerate(texts.items(), 1)
    )
    evidence = Evidence(extracted=(ExtractedAnswers(alternatives=answers),))
    request = UserRequest(Intent.FACT, 'What does "Territory" mean?', term="Territory")
    assert (await answer(request, TargetDocuments(), evidence, WordEmbedder())).splitlines() == [
        "The documents say:",
        '- a.txt: “"Territory" means Iowa.” [1]',
        '- c.txt: “"Territory" means Ohio.” [3]',
    ]
