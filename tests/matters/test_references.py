"""References to clauses in queries, and the clauses that they mean."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.reading.model import Chunk
from proviso_service.reading.references import MAX_REFERENCES, clause_named, clause_ranks, references_in


def _named(query: str) -> list[str]:
    return [f"{one.kind} {'.'.join(one.levels)}".strip() for one in references_in(query).clauses]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("clause 12.3", ["12.3"]),
        ("Clause 12.3.", ["12.3"]),
        ("clause no. 12", ["12"]),
        ("section 4(b)", ["4.b"]),
        ("section 10.1 (a) (ii)", ["10.1.a.ii"]),
        ("Sections 4 and 5", ["4", "5"]),
        ("clauses 3, 4 and 7.2(a)", ["3", "4", "7.2.a"]),
        ("sections 4 to 7", ["4", "5", "6", "7"]),
        ("§§ 7.1–7.3", ["7.1", "7.2", "7.3"]),
        ("§7.1", ["7.1"]),
        ("Article IV", ["article IV"]),
        ("article iv of the lease", ["article IV"]),
        ("para 3", ["3"]),
        ("paragraph (b)", ["b"]),
        ("cl. 9", ["9"]),
        ("s.4 or s 12A", ["4", "12A"]),
        ("Schedule 2", ["schedule 2"]),
        ("exhibit a", ["exhibit A"]),
        ("Exhibits B-1 and C", ["exhibit B.1", "exhibit C"]),
        ("Appendices A and B", ["appendi A", "appendi B"]),
        ("paragraph 3 of Schedule 2", ["3", "schedule 2"]),
        ("12.3", ["12.3"]),
        (" 4(b)? ", ["4.b"]),
        ("12", []),
        ("is 12.3 right", []),
        ("schedule a meeting", []),
        ("the tenant's 12 months", []),
        ("particular 4", []),
        ("section 12% of", []),
        ("a class 9 vehicle", []),
        ("clauses", []),
    ],
)
def test_references_are_read_as_lawyers_write_them(query: str, named: list[str]) -> None:
    assert _named(query) == named


@given(st.text(st.sampled_from("clausesection §129.(abiv)IVA,-–to and\n"), max_size=120) | st.text(max_size=60))
def test_references_of_any_text_are_few_and_apart(query: str) -> None:
    references = references_in(query)
    assert len(references.clauses) <= MAX_REFERENCES
    assert all(0 <= span.start < span.end <= len(query) for span in references.spans)
    assert all(before.end <= after.start for before, after in pairwise(references.spans))


@given(st.text(max_size=30))
def test_what_names_a_clause_is_a_number(text: str) -> None:
    clause = clause_named(text)
    assert clause is None or all(clause.levels)


def _chunk(ordinal: int, *numbers: str, path: tuple[str, ...] = (), text: str = "text") -> Chunk:
    return Chunk(ordinal, 0, len(text), text, 0, path, numbers)


def _order(query: str, *chunks: tuple[str, Chunk]) -> list[int]:
    """Indexes of the chunks that the query means, best first."""
    ranks = clause_ranks(references_in(query).clauses, chunks)
    return sorted((index for index, rank in enumerate(ranks) if rank is not None), key=lambda index: ranks[index] or 0)


def test_a_clause_comes_before_what_is_below_it_and_no_other_number_counts() -> None:
    chunks = [
        _chunk(n, number) for n, number in enumerate(["12.3.1", "2.3", "112.3", "12.30", "12.3", "12", "12.3(a)"])
    ]
    assert _order("clause 12.3", *(("d", chunk) for chunk in chunks)) == [4, 0, 6]


def test_the_parts_of_a_long_clause_come_in_reading_order_and_documents_take_turns() -> None:
    chunks = [("a", _chunk(7, "3")), ("a", _chunk(6, "3")), ("b", _chunk(1, "3"))]
    ranks = clause_ranks(references_in("section 3").clauses, chunks)
    assert ranks == [1, 0, 0]


def test_a_schedule_is_told_from_a_clause_of_its_number() -> None:
    clause = _chunk(0, "2", path=("2. Term",))
    schedule = _chunk(1, "2", path=("Schedule 2 - Prices",))
    inside = _chunk(2, "2", "2.1", path=("SCHEDULE 2", "2.1 Discounts"))
    chunks = [("d", clause), ("d", schedule), ("d", inside)]
    assert _order("Schedule 2", *chunks) == [1, 2]
    assert _order("clause 2", *chunks)[0] == 0
    assert _order("paragraph 2.1 of Schedule 2", *chunks)[0] == 2


def test_the_number_of_an_exhibit_is_no_clause() -> None:
    filing = _chunk(0, "99.1", path=("Exhibit 99.1",))
    clause = _chunk(1, "99.1", "9", path=("Exhibit 99.1", "9. Notices"))
    assert _order("section 99", ("d", filing), ("d", clause)) == []
    assert _order("section 9", ("d", filing), ("d", clause)) == [1]
    assert _order("Exhibit 99.1", ("d", filing), ("d", clause)) == [0, 1]


def test_an_article_is_found_by_either_numeral() -> None:
    chunks = [("d", _chunk(0, "4")), ("d", _chunk(1, "IV")), ("d", _chunk(2, "VI"))]
    assert _order("Article IV", *chunks) == [1, 0]
    assert _order("Article 4", *chunks) == [0, 1]
    assert _order("clause 4", *chunks) == [0]


def test_letters_are_told_by_their_case() -> None:
    assert _order("paragraph (b)", ("d", _chunk(0, "B")), ("d", _chunk(1, "b"))) == [1]
