"""What reads like a template or an operator and is neither: the query is valid, and a note says how it is read."""

import pytest

from proviso_service.iql import TemplateCatalog, misreadings, parse

CATALOG = TemplateCatalog.load()


def notes_on(query: str) -> list[str]:
    return list(misreadings(parse(query, CATALOG), CATALOG))


@pytest.mark.parametrize(
    ("query", "call"),
    [
        ("{is confidentiality clause}", "{IS confidentiality clause}"),
        ("is confidentiality clause", "{IS confidentiality clause}"),
        ("{Is  Limitation of Liability clause}", "{IS liability limitation clause}"),
        ("{confidentiality clause}", "{IS confidentiality clause}"),
        ("{audit clause}", "{IS audit rights clause}"),
        ("{is representation or warranty clause}", "{IS representation or warranty clause}"),
        ('{is clause obligating "Customer"}', '{IS clause obligating "Customer"}'),
        ('{clause called "Fees"}', '{IS clause called "Fees"}'),
        ("{is clause obligating Customer}", '{IS clause obligating "Customer"}'),
        ("{is confidentialty clause}", "{IS confidentiality clause}"),
        ("{is not confidentiality clause}", "NOT {IS confidentiality clause}"),
        ("{is not confidentialty clause}", "NOT {IS confidentiality clause}"),
        ("{not confidentiality clause}", "NOT {IS confidentiality clause}"),
        ("confidentiality clause and payment clause", "{IS confidentiality clause} AND {IS payment clause}"),
        ("{is right && not is obligation}", "{IS right} AND NOT {IS obligation}"),
        ("payment clause > indemnity clause", "{IS payment clause} > {IS indemnity clause}"),
    ],
)
def test_words_that_read_like_a_template_are_noted_with_the_call(query: str, call: str) -> None:
    (note,) = notes_on(query)
    assert "is read as a statement in words" in note
    assert note.endswith(f"write {call}")
    assert notes_on(call) == []


@pytest.mark.parametrize(
    ("query", "statements"),
    [
        ("The fee is due AND it is fixed", "{The fee is due} AND {it is fixed}"),
        ("{Rent is due || fees are due}", "{Rent is due} OR {fees are due}"),
        ("Rent is due AND NOT deferred", "{Rent is due} AND NOT {deferred}"),
        ("NOT a lease", "NOT {a lease}"),
        ("payment clause AND it is due", "{IS payment clause} AND {it is due}"),
        (r"The \{fee\} is due OR waived", r"{The \{fee\} is due} OR {waived}"),
    ],
)
def test_operators_among_words_are_noted_with_the_statements_that_they_would_join(query: str, statements: str) -> None:
    (note,) = notes_on(query)
    assert "is read as one statement in words" in note
    assert note.endswith(f"write {statements}")
    assert notes_on(statements) == []


@pytest.mark.parametrize(
    "query",
    [
        "{IS confidentiality clause} and {This clause limits liability and caps it.}",
        r"{\IS confidentiality clause}",
        "Is there a confidentiality clause?",
        "{Is this a confidentiality clause}",
        "is it a payment clause",
        "{venue}",
        "{The Customer and the Supplier shall NOT compete.}",
        "{NEITHER PARTY IS LIABLE FOR LOSS OF PROFITS AND DATA.}",
        "The fee is > 100 and it is due",
        "{This is a confidentiality clause.}",
    ],
)
def test_plain_words_are_not_noted(query: str) -> None:
    assert notes_on(query) == []


def test_each_statement_has_its_own_note_on_one_short_line() -> None:
    first, second = notes_on(f"{{is payment clause}} AND {{a\n{'b' * 100} OR c}}")
    assert first.startswith('"is payment clause"')
    assert "\n" not in second.split(" is read")[0]
    assert "..." in second


@pytest.mark.parametrize("piece", ["not ", "is not ", "and not ", "right and ", "is clause ", "NOT ", "a AND "])
def test_hostile_words_are_read_like_others(piece: str) -> None:
    assert len(notes_on(f"is {piece * (3_900 // len(piece))}x")) <= 1
