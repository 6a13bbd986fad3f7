"""What one matter's index finds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from bm25s import BM25
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proviso_service.matters.model import DocumentHits
from proviso_service.matters.packing import PackedDocument, PackedWords
from proviso_service.matters.search_index import K1, METHOD, B, MatterIndex
from proviso_service.reading import SearchTerms
from proviso_service.reading.references import levels_of
from tests.support.indexed import NOWHERE, answer_to, index_of, packed, packed_chunks, worded
from tests.support.stored import a_text, vectors_of

HOSTILE = [
    '"',
    "'; DROP TABLE chunks; --",
    "rent AND",
    "NEAR(rent due, 2)",
    "((((rent",
    "body:rent",
    "rent*",
    "-rent",
    "=1/2",
    "😀 🏛️",
    "\0",
    "rent\0due",
    "\u202erent",
    "the of and is it",
    "",
    "   \n\t ",
    "§ 12 ¶ (a)(ii)",
    "a" * 10_000,
    "rent " * 5_000,
    " ".join(f"word{i}" for i in range(5_000)),
]


def found_in(*passages: str, query: str) -> list[int]:
    """The ordinals of the passages that the query's words bring up, best first."""
    return [int(one.rpartition(":")[2]) for one in worded(answer_to(index_of(packed("d", *passages)), query))]


@pytest.mark.parametrize("query", HOSTILE)
def test_a_query_is_words_and_nothing_else(query: str) -> None:
    found = found_in("Rent is due monthly.", "Nothing of interest.", query=query)
    assert found == ([0] if "rent" in query else [])


@settings(max_examples=80, deadline=None)
@given(query=st.text(max_size=80))
@example("ﬁ ß İ ŉ")
@example("\ud800")
def test_any_text_can_be_searched_for(query: str) -> None:
    answer = answer_to(index_of(packed("d", "Rent is due monthly.")), query)
    assert len(worded(answer)) <= 1
    assert len(answer.matching) == sum(bool(one.lexical and one.lexical.all_terms) for one in answer.found)


@pytest.mark.parametrize(
    ("query", "passage"),
    [
        ("Who insures the building?", "The landlord shall maintain insurance."),
        ("terminating early", "Either party may terminate this agreement."),
        ("RENT", "The rent is due."),
        ("resume", "The résumé is attached."),
        ("résumé", "The re\u0301sume\u0301 is attached."),
        ("Straße", "An der STRASSE gelegen."),
        ("第三条", "第三条 租金"),
        ("がく", "がく を払う"),
        ("किराया", "किराया देय है"),
        ("аренда", "Аренда подлежит оплате."),
        ("12.3", "Clause 12.3 applies."),
        ("12", "Clause 12.3 applies."),
        ("1,000", "A fee of 1,000.50 is due."),
    ],
)
def test_words_match_in_other_forms(query: str, passage: str) -> None:
    assert found_in("Nothing of the kind.", passage, query=query) == [1]


SET_OTHERWISE = "Termi-\nnation of the o\ufb03ce licen\u00adsing; the tenant\u02bcs re\u0301sume\u0301."


@pytest.mark.parametrize("query", ["termination", "nation", "office", "licensing", "tenant", "résumé"])
def test_words_are_found_however_they_are_set(query: str) -> None:
    assert found_in(SET_OTHERWISE, "Nothing of the kind.", query=query) == [0]


def test_passages_with_more_and_rarer_words_come_first() -> None:
    filler = [f"The tenant does thing number {i} and the rent is unrelated." for i in range(20)]
    rare = ("The indemnity survives whatever comes after that.", "The tenant gives an indemnity for rent.")
    answer = answer_to(index_of(packed("d", *filler, *rare)), "tenant indemnity for rent", limit=5)
    assert worded(answer)[:2] == ["d:21", "d:20"]
    hits = sorted((one.lexical for one in answer.found if one.lexical), key=lambda hit: hit.rank)
    assert [hit.rank for hit in hits] == [0, 1, 2, 3, 4]
    assert [hit.all_terms for hit in hits] == [True, False, False, False, False]


def test_passages_with_little_else_come_first() -> None:
    others = ["Nothing."] * 4
    assert found_in("Rent rent rent.", "Rent and much more of no use here.", *others, query="rent") == [0, 1]


def test_equal_passages_come_in_the_order_of_upload() -> None:
    index = index_of(*(packed(name, "Rent is due.", "Rent is due.") for name in "cab"))
    assert worded(answer_to(index, "rent")) == ["c:0", "c:1", "a:0", "a:1", "b:0", "b:1"]
    assert worded(answer_to(index, "rent", limit=3)) == ["c:0", "c:1", "a:0"]


def test_a_search_can_be_limited_to_documents() -> None:
    index = index_of(*(packed(name, f"Rent is due. {name}") for name in "abc"))
    inside = index.of_documents(["c", "b", "absent"])
    assert worded(answer_to(index, "rent", inside=inside)) == ["b:0", "c:0"]
    [found] = answer_to(index, "rent", inside=index.of_documents(["a"])).matching
    assert found == DocumentHits("a", "a.txt", 1)
    nothing = answer_to(index, "rent", vector=index.vectors[0], inside=index.of_documents(["absent"]))
    assert (nothing.found, nothing.matching) == ([], [])


def test_documents_are_counted_by_passages_that_hold_every_word() -> None:
    one = packed("one", "Rent is due.", "Rent was paid.")
    two = packed("two", "Rent is due.", "Rent falls due.", "Due dates.")
    index = index_of(one, two, packed("none", "Rent.", "Due."))
    matching = answer_to(index, "When is the rent due?").matching
    assert matching == [DocumentHits("two", "two.txt", 2), DocumentHits("one", "one.txt", 1)]


def test_the_nearest_are_those_of_an_exact_comparison() -> None:
    passages = [f"Passage {n}." for n in range(300)]
    index = index_of(packed("a", *passages[:100]), packed("b", *passages[100:]))
    query = vectors_of(a_text("Some question.")[1])[0]
    exact = np.argsort(-(vectors_of(a_text(*passages)[1]) @ query), kind="stable")[:20]
    wanted = [f"a:{row}" if row < 100 else f"b:{row - 100}" for row in exact]
    answer = answer_to(index, vector=query, limit=20)
    assert [one.chunk_id for one in answer.found] == wanted
    assert (answer.near, answer.least_near) == (20, answer.found[-1].similarity)
    assert answer.found[0].similarity == pytest.approx(float((index.vectors @ query).max()))


def test_passages_of_another_model_are_found_by_their_words_alone() -> None:
    other = replace(packed("other", "Rent is due."), vectors=np.empty((0, 4), dtype=np.float32))
    index = index_of(packed("own", "Deposit."), other)
    answer = answer_to(index, "rent", vector=index.vectors[0])
    assert [(one.chunk_id, bool(one.lexical)) for one in answer.found] == [("own:0", False), ("other:0", True)]
    assert answer.near == 1


def clauses_in(index: MatterIndex, *numbers: str, limit: int = 50) -> list[int]:
    answer = answer_to(index, clauses=[levels_of(number) for number in numbers], limit=limit)
    return [one.ordinal for one in answer.found[answer.near :]]


def test_clauses_are_found_by_number_and_then_those_below_it() -> None:
    numbers = [("12.3(b)",), ("2.3",), ("112.3",), ("12.30",), ("12", "12.3"), ("IV",), ()]
    chunks = [replace(c, clause_numbers=own) for c, own in zip(a_text(*["A."] * 7)[1], numbers, strict=True)]
    index = index_of(replace(packed_chunks("d", chunks), vectors=np.empty((0, 4), dtype=np.float32)))
    assert clauses_in(index, "12.3") == [4, 0]
    assert clauses_in(index, "12.3(b)") == [0]
    assert clauses_in(index, "iv", "2.3") == [1, 5]
    assert clauses_in(index, "9") == clauses_in(index) == []
    assert clauses_in(index, "12", limit=1) == [4]
    assert worded(answer_to(index, "12.3")) == []


def test_passages_that_hold_all_words_of_a_phrase_are_those_to_look_at() -> None:
    index = index_of(packed("d", "The rent is due.", "Due is the rent.", "The rent.", "Rents are due, is the word."))
    assert index.chunk_ids(index.holding(["the", "rent", "is", "due"], None)) == ["d:0", "d:1", "d:3"]
    assert index.chunk_ids(index.holding(["absent", "rent"], None)) == []
    assert index.chunk_ids(index.holding(["rent"], np.array([1, 2]))) == ["d:1", "d:2"]


def test_an_index_of_nothing_finds_nothing() -> None:
    for index in (index_of(), index_of(packed("d"))):
        answer = answer_to(index, "rent", vector=NOWHERE + 1, clauses=[("1",)])
        assert (answer.found, answer.matching, len(index)) == ([], [], 0)


WORDS = st.lists(st.sampled_from(["rent", "due", "lease", "tenant", "pays", "12.3", "£"]), max_size=12).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(documents=st.lists(st.lists(WORDS, max_size=4), max_size=5), query=WORDS)
def test_the_weights_are_those_of_the_formula(documents: Sequence[Sequence[str]], query: str) -> None:
    """BM25 as the library itself computes it from lists of words."""
    terms = SearchTerms()
    texts = [[list(Counter(terms.counts(passage)).elements()) for passage in passages] for passages in documents]
    flat = [terms for passages in texts for terms in passages]
    index = index_of(*(packed(str(n), *passages) for n, passages in enumerate(documents)))
    known = sorted({term for terms in flat for term in terms})
    assert set(index.terms) == set(known)
    if not known:
        return
    library = BM25(k1=K1, b=B, method=METHOD)
    library.index(flat, show_progress=False, create_empty_token=False)
    for term in known:
        mine = index.ranking.get_scores_from_ids([index.terms[term]])
        assert mine == pytest.approx(library.get_scores([term]), rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(passages=st.lists(st.text(max_size=60), max_size=6))
def test_packed_words_are_the_same_when_they_are_unpacked(passages: Sequence[str]) -> None:
    words = PackedWords.of(a_text(*passages)[1])
    again = PackedWords.unpacked(words.packed())
    assert list(again.terms) == list(words.terms)
    for name in ("lengths", "counts", "ordinals", "frequencies"):
        assert np.array_equal(getattr(again, name), getattr(words, name))


def test_what_an_index_keeps_is_counted() -> None:
    small, large = index_of(packed("d", "Rent.")), index_of(packed("d", *(f"Rent {n}." for n in range(1_000))))
    assert large.size_bytes > small.size_bytes + 1_000 * 4 * 4


def test_vectors_are_kept_once() -> None:
    first: PackedDocument = packed("d", "Rent.")
    index = index_of(first)
    assert np.shares_memory(index.documents[0].vectors, index.vectors)
    again = index_of(*index.documents, packed("e", "Due."))
    assert np.shares_memory(again.documents[0].vectors, again.vectors)
