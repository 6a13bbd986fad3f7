"""What a type of clause stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.analysis.classification import DEFAULT_CLAUSE_TYPES, ClauseTypes
from proviso_service.errors import InvalidRequest
from proviso_service.iql import TemplateCatalog

CATALOG = TemplateCatalog.load()
TYPES = ClauseTypes(CATALOG)
TERMINATION = "This is a termination clause: it permits a party to terminate the contract in certain circumstances."


def statement_of(clause_type: str) -> str:
    [statement] = TYPES.statements([clause_type]).values()
    return statement


def violations_of(*clause_types: str) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        TYPES.statements(clause_types)
    return {violation.field: violation.description for violation in caught.value.violations}


def test_without_types_the_usual_fifteen_are_meant() -> None:
    found = TYPES.statements([])
    assert tuple(found) == DEFAULT_CLAUSE_TYPES
    assert len(set(found.values())) == 15
    assert all(statement.startswith("This ") and statement.endswith(".") for statement in found.values())


@pytest.mark.parametrize(
    ("clause_type", "statement"),
    [
        ("Termination", TERMINATION),
        ("TERMINATION clauses", TERMINATION),
        ("termination clause", TERMINATION),
        ("choice of venue", "This clause specifies the court or place in which disputes must be resolved."),
        ("obligation", "This clause imposes an obligation or duty on a party."),
        ("Limitation on Liability", "This clause limits or excludes the liability of a party."),
        ("Source code", "This is a clause about source code."),
        ("Price Review provisions", "This is a clause about price review."),
        ("  IP\n ownership ", "This is a clause about IP ownership."),
        ("clause obligating", "This is a clause about clause obligating."),
        ("The Customer may assign.", "The Customer may assign."),
        ("This limits liability", "This limits liability"),
        ("{IS termination clause}", TERMINATION),
        ('{IS clause obligating "Customer"}', "This clause imposes an obligation or duty on Customer."),
        ("{The Customer may assign.}", "The Customer may assign."),
    ],
)
def test_a_type_is_judged_by_a_statement(clause_type: str, statement: str) -> None:
    assert statement_of(clause_type) == statement


def test_a_type_that_is_asked_for_twice_counts_once() -> None:
    assert list(TYPES.statements(["Notice", " Notice ", "Insurance"])) == ["Notice", "Insurance"]


def test_every_type_that_is_none_is_named() -> None:
    found = violations_of("Notice", " ", "Notice", "{a} OR {b}", "{IS rent clause}", "}")
    assert set(found) == {f"clause_types[{index}]" for index in (1, 3, 4, 5)}
    assert found["clause_types[1]"] == "must not be blank"
    assert found["clause_types[3]"] == "must be one statement, without operators"
    assert "unknown template" in found["clause_types[4]"]


@given(st.text(max_size=200))
def test_any_text_is_a_statement_or_is_refused(text: str) -> None:
    if " ".join(text.split()) and "{" not in text and "}" not in text:
        assert statement_of(text).strip()
    else:
        assert set(violations_of("Notice", text, " ")) >= {"clause_types[2]"}
