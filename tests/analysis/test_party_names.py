"""Parties are found by the names that each document defines for them, and by no other document's."""

import pytest

from proviso_service.analysis.party_names import EACH_PARTY, definitions_in
from tests.support.analysis_world import AnalysisWorld

OBLIGATING = "This clause imposes an obligation or duty on {}."
SUPPLY = (
    'This Supply Agreement (the "Agreement") is made on 3 May 2021 (the "Effective Date") by and between Acme Robots,'
    ' Inc., a Delaware corporation with offices in Dover (the "Supplier" or "Acme"), and Orchard & Sons Ltd.'
    " (hereinafter referred to as “the Customer”)."
)


@pytest.mark.parametrize(
    ("text", "asked", "names"),
    [
        (SUPPLY, "Acme Robots, Inc.", ("Supplier", "Acme")),
        (SUPPLY, "acme robots", ("Supplier", "Acme")),
        (SUPPLY, "Acme's", ("Supplier",)),
        (SUPPLY, "the Suppliers", ("Acme",)),
        (SUPPLY, "Orchard", ("Customer",)),
        (SUPPLY, "Customer", ()),
        (SUPPLY, "Robots", ()),
        (SUPPLY, "Dover", ()),
        (SUPPLY, "", ()),
        ('Acme Inc. ("Supplier") and Orchard Ltd. ("Customer") agree.', "Acme", ("Supplier",)),
        ('ACME INC., hereinafter the "Supplier", sells.', "Acme", ("Supplier",)),
        ('; and Acme Freight plc, whose office is at 4 Parade, Leeds LS1 (the "Customer").', "Acme", ("Customer",)),
        ("Acme Inc. (the ‘Supplier’) sells.", "Acme Incorporated", ("Supplier",)),
        ('**Acme Inc.** (the "**Supplier**") sells.', "Acme", ("Supplier",)),
        ('The Acme Company (the "Company") sells.', "Acme", ("Company",)),
        ('Acme Inc. and Bolt LLC (each a "Seller" and together the "Sellers") sell.', "Bolt", ("Seller",)),
        ('Acme Inc. (the "Supplier") delivers Acme Software (the "Software").', "Acme Software", ()),
        (
            'Between Acme Inc. ("Supplier") and Orchard Ltd. ("Customer"), each a "Party" and together the "Parties".',
            "Orchard",
            ("Customer", EACH_PARTY),
        ),
        ('Acme Inc. ("Supplier") and Orchard Ltd. ("Customer") (each a "Party").', "Supplier", (EACH_PARTY,)),
        (
            'Acme Inc. ("Supplier") and Orchard Ltd. ("Customer"). WHEREAS, Acme Farms (the "Farms") sow.',
            "Acme Farms",
            (),
        ),
        ("Acme Inc. sells.", "Acme", ()),
        ('EXHIBIT 10.28 SUPPLY AGREEMENT WHEREAS, Acme Inc. (the "Company") sells.', "Acme", ("Company",)),
        ('THIS SUPPLY AGREEMENT Acme Inc. (the "Company") sells.', "Acme", ("Company",)),
        ('as set out in Section 5.3 ("Fees") below', "Section", ()),
        ('of 12 Dock Street, Leeds (the "Supplier")', "12 Dock Street", ()),
        ('3M Company (the "Supplier") sells.', "3M Company", ("Supplier",)),
        ('This Amendment Agreement (the "Amendment")', "Amendment Agreement", ()),
    ],
)
def test_a_contract_defines_what_it_calls_its_parties(text: str, asked: str, names: tuple[str, ...]) -> None:
    assert definitions_in(text).other_names(asked) == names


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What must Acme Robots, Inc. pay?", "What must Supplier pay?"),
        ("What is Acme Robots' job, and what is Orchard's?", "What is Supplier' job, and what is Customer's?"),
        ("Acme pays Orchard & Sons?", "Supplier pays Customer?"),
        ("What must the Supplier do for Acme?", "What must the Supplier do for Acme?"),
        ("Who is in the orchard in Dover?", "Who is in the orchard in Dover?"),
        ("", ""),
    ],
)
def test_a_question_is_put_in_the_words_of_the_contract(question: str, asked: str) -> None:
    assert definitions_in(SUPPLY).in_own_words(question) == asked


def test_a_term_is_put_in_whatever_characters_it_has() -> None:
    defined = definitions_in(r'Acme Inc. (the "Sup\1\g<x>plier") and Orchard Ltd. (the "Customer") agree.')
    assert defined.in_own_words("What does Acme pay?") == r"What does Sup\1\g<x>plier pay?"


def test_a_usual_word_alone_is_no_name() -> None:
    defined = definitions_in('First National Bank (the "Lender") and General Motors LLC ("GM") agree.')
    assert defined.in_own_words("First, who pays? General terms?") == "First, who pays? General terms?"
    assert defined.in_own_words("What does First National pay General Motors?") == "What does Lender pay GM?"


@pytest.mark.parametrize("piece", ["(", '("a")', "A ", "A, ", 'hereinafter "', "each ", "A and ", '"'])
def test_hostile_openings_are_read_as_fast_as_others(piece: str) -> None:
    """The time limit of tests decides."""
    definitions_in(f"{piece * 20_000}").other_names("A")
    definitions_in(f'{piece * 2_000} ("B")' * 5).other_names("A")


async def test_a_party_is_obliged_by_what_its_defined_term_must_do(world: AnalysisWorld) -> None:
    await world.add(
        'Acme Inc. (the "Supplier") and others agree.', "imposes an obligation or duty on Supplier", filename="a.txt"
    )
    await world.add(
        'Acme Inc. (the "Buyer") and others agree.', "imposes an obligation or duty on Supplier", filename="b.txt"
    )
    first, second = (await world.ask('{IS clause obligating "Acme"}', explain=True, min_score=0.9)).results
    assert (first.match_count, second.match_count) == (1, 0)
    assert [one.statement for one in first.statement_scores] == [OBLIGATING.format("Acme")]
    assert first.statement_scores[0].score == first.score > second.score
    asked = {statement for statement, _ in world.asked()}
    assert asked == {OBLIGATING.format(name) for name in ("Acme", "Supplier", "Buyer")}


async def test_no_document_is_asked_about_the_names_of_another(world: AnalysisWorld) -> None:
    await world.add('Acme Inc. (the "Supplier").', filename="a.txt")
    await world.add('Acme Inc. (the "Buyer").', filename="b.txt")
    await world.ask('{IS clause obligating "Acme"} AND {IS clause entitling "Supplier"}')
    pairs = {(s, "Buyer" in passage) for s, passage in world.asked() if s.startswith("This clause imposes")}
    assert (OBLIGATING.format("Supplier"), True) not in pairs
    assert (OBLIGATING.format("Buyer"), False) not in pairs


async def test_scores_of_defined_terms_are_kept_like_others(world: AnalysisWorld) -> None:
    await world.add('Acme Inc. (the "Supplier").', "Supplier obligation")
    before = await world.ask_one('{IS clause obligating "Acme"}')
    world.asked()
    again = await world.ask_one('{IS clause obligating "Acme"}')
    assert world.asked() == []
    world.restart()
    assert (await world.ask_one('{IS clause obligating "Acme"}')) == again == before
    assert world.asked() == []


async def test_a_query_is_warned_of_what_it_was_probably_not_meant_to_say(world: AnalysisWorld) -> None:
    await world.add("rent")
    outcome = await world.ask("{is payment clause}")
    (warning,) = outcome.summary.warnings
    assert warning.endswith("write {IS payment clause}")
