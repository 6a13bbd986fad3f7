"""Which questions IQL answers, and the query that each becomes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.chat.clause_queries import clause_query
from proviso_service.iql import TemplateCatalog, canonical_text, parse
from tests.support.chat_utterances import HELD_OUT, TUNED

CATALOG = TemplateCatalog.load()


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Find termination clauses", "{IS termination clause}"),
        ("Find clauses obligating the Customer", '{IS clause obligating "Customer"}'),
        (
            "Find unilateral clauses that limit liability",
            '{IS unilateral clause} AND {IS clause that "limits liability"}',
        ),
        ("Which is more about confidentiality?", "{IS confidentiality clause}"),
    ],
)
def test_the_contracts_four_kinds_of_question_become_queries(question: str, query: str) -> None:
    found = clause_query(question)
    assert found is not None
    assert found.iql == query
    assert found.compares == question.startswith("Which")


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("please show me all the limitation of liability clauses", "{IS liability limitation clause}"),
        ("Find termination for convenience clauses in the agreements", "{IS termination for convenience clause}"),
        ("Locate any arbitration clauses.", "{This is an arbitration clause.}"),
        ("Find termination or indemnification clauses", "{IS termination clause} OR {IS indemnity clause}"),
        ("List representation and warranty provisions", "{IS representation or warranty clause}"),
        ("find one-sided termination clauses", "{IS unilateral clause} AND {IS termination clause}"),
        ("Find clauses that oblige the Supplier", '{IS clause obligating "Supplier"}'),
        ("Find clauses imposing obligations on the Tenant", '{IS clause obligating "Tenant"}'),
        ("Find provisions that entitle the Landlord", '{IS clause entitling "Landlord"}'),
        ("Find clauses that require the Tenant to insure", '{IS clause that "requires the Tenant to insure"}'),
        ("Find clauses that carry interest", '{IS clause that "carries interest"}'),
        ("Find clauses that may be waived", '{IS clause that "may be waived"}'),
        ("Find clauses limiting liability", '{IS clause that "is limiting liability"}'),
        ("Find termination clauses that are not unilateral", "{IS termination clause} AND NOT {IS unilateral clause}"),
        ("Find clauses called 'Fees'", '{IS clause called "Fees"}'),
        ("Which agreement is most about data protection?", "{This is about data protection.}"),
    ],
)
def test_other_wordings_become_queries_too(question: str, query: str) -> None:
    found = clause_query(question)
    assert found is not None
    assert found.iql == query


@pytest.mark.parametrize(
    "question",
    [
        "What types of clauses are here?",
        "Search for references to payment",
        "What is the notice period?",
        "Show me the full document",
        "Find passages about insurance",
        "Find all clauses",
        "Find clauses about data protection",
        "Show me the clauses of section 4",
        "Which agreement has the longer notice period?",
    ],
)
def test_other_questions_are_for_other_tools(question: str) -> None:
    assert clause_query(question) is None


def test_questions_that_are_searched_stay_so() -> None:
    assert [question for question, _ in TUNED + HELD_OUT if clause_query(question)] == []


@given(st.text(max_size=300) | st.text(alphabet='IS \\{}"()+<>that clauses', max_size=100))
def test_whatever_is_asked_the_query_is_sound(words: str) -> None:
    for question in (
        f"Find {words} clauses that {words}",
        f"Which is more about {words}?",
        f"Find clauses called {words}",
    ):
        found = clause_query(question)
        if found:
            assert canonical_text(parse(found.iql, CATALOG)) == found.iql
