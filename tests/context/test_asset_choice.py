"""Which of a message's assets enter."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.backends.memory import MemoryVectorCache
from proviso_service.context.assets import AssetConfig, choose_documents, choose_images, document_line
from proviso_service.context.model import AssetKind, AssetUse, DocumentSummary
from proviso_service.context.selection.request_items import estimated_tokens
from proviso_service.context.selection.search import TextSimilarity
from proviso_service.embedded import MiniLmEmbedder
from proviso_service.errors import NotReady
from proviso_service.models import Embedder, Vectors
from tests.support.selection_world import ToldEmbedder
from tests.support.word_embedder import WordEmbedder

NOT_SELECTED = "it is not among the selected assets"
SAME = "it is the same as an earlier one"
SETTINGS = AssetConfig()
LEASE = DocumentSummary("lease.pdf", "pdf", "Lease of an office in Leeds.")
DEED = DocumentSummary("deed.pdf", "pdf", "Deed of a house in York.")
NOTE = DocumentSummary("note.md", "md", "Minutes of a meeting.")
THREE = (LEASE, DEED, NOTE)


def line(document: DocumentSummary) -> str:
    return document_line(document, SETTINGS.summary_chars)


def with_room(*documents: DocumentSummary, **limits: float) -> AssetConfig:
    """Room for just the characters of these."""
    room = sum(len(line(document)) for document in documents)
    return SETTINGS.model_copy(update={"documents_chars": room} | limits)


async def chosen(
    documents: Sequence[DocumentSummary],
    *selected: str,
    embedder: Embedder | None = None,
    settings: AssetConfig = SETTINGS,
) -> tuple[AssetUse, ...]:
    similarity = TextSimilarity(embedder or ToldEmbedder({}), MemoryVectorCache(100))
    return await choose_documents(documents, "Which office?", selected, similarity, settings)


def kept(uses: Sequence[AssetUse]) -> list[str]:
    return [use.name for use in uses if use.included]


def notes(uses: Sequence[AssetUse]) -> list[str]:
    return [use.note for use in uses]


async def test_all_documents_enter_with_their_lines_and_nothing_is_embedded() -> None:
    embedder = ToldEmbedder({})
    assert await chosen(THREE, embedder=embedder, settings=with_room(*THREE)) == tuple(
        AssetUse(AssetKind.DOCUMENT, document.filename, included=True, text=line(document)) for document in THREE
    )
    assert not embedder.embedded
    assert await chosen(()) == ()


async def test_of_equal_documents_the_first_enters() -> None:
    changed = DocumentSummary("lease.pdf", "pdf", "Another summary.")
    uses = await chosen((LEASE, DEED, LEASE, changed))
    assert notes(uses) == ["", "", SAME, ""]
    assert [use.included for use in uses] == [True, True, False, True]
    assert uses[2] == AssetUse(AssetKind.DOCUMENT, "lease.pdf", included=False, note=SAME)


async def test_only_selected_documents_enter_and_take_room() -> None:
    settings = with_room(DEED, NOTE)
    uses = await chosen((*THREE, DEED), "note.md", "https://a.example/1.png", "deed.pdf", settings=settings)
    assert notes(uses) == [NOT_SELECTED, "", "", SAME]
    assert notes(await chosen(THREE, "https://a.example/1.png")) == [NOT_SELECTED] * 3


async def test_over_the_budget_those_closest_to_the_message_are_kept_in_the_given_order() -> None:
    embedder = ToldEmbedder({line(LEASE): 0.6, line(DEED): 0.2, line(NOTE): 0.9})
    settings = with_room(LEASE, NOTE)
    uses = await chosen(THREE, embedder=embedder, settings=settings)
    assert kept(uses) == ["lease.pdf", "note.md"]
    limit = f"{settings.documents_chars} characters or 1,000 tokens"
    assert uses[1].note == f"the summaries together have more than {limit}; those closest to the message were kept"
    assert uses[1].text == ""


async def test_of_equally_close_documents_the_earlier_ones_are_kept() -> None:
    embedder = ToldEmbedder({line(document): 0.5 for document in THREE})
    assert kept(await chosen(THREE, embedder=embedder, settings=with_room(LEASE, DEED))) == ["lease.pdf", "deed.pdf"]


async def test_a_short_document_enters_where_a_closer_long_one_has_no_room() -> None:
    long = DocumentSummary("long.md", "md", "x" * 100)
    embedder = ToldEmbedder({line(LEASE): 0.9, line(long): 0.8, line(NOTE): 0.1})
    uses = await chosen((NOTE, long, LEASE), embedder=embedder, settings=with_room(NOTE, DEED, LEASE))
    assert kept(uses) == ["note.md", "lease.pdf"]


async def test_a_document_that_is_over_the_budget_alone_says_so_and_leaves_the_room_to_others() -> None:
    long = DocumentSummary("long.md", "md", "x" * 150)
    embedder = ToldEmbedder({line(long): 0.9})
    uses = await chosen((long, LEASE, NOTE), embedder=embedder, settings=with_room(LEASE, NOTE))
    assert kept(uses) == ["lease.pdf", "note.md"]
    assert uses[0].note.startswith("its line alone has more than ")
    assert not embedder.embedded


async def test_tokens_have_a_limit_of_their_own() -> None:
    room = estimated_tokens(line(LEASE)) + estimated_tokens(line(DEED))
    embedder = ToldEmbedder({line(LEASE): 0.1, line(DEED): 0.2})
    for tokens, expected in ((room, ["lease.pdf", "deed.pdf"]), (room - 1, ["deed.pdf"])):
        settings = SETTINGS.model_copy(update={"documents_tokens": tokens})
        assert kept(await chosen((LEASE, DEED), embedder=embedder, settings=settings)) == expected


class Failing(ToldEmbedder):
    async def embed_query(self, text: str) -> Vectors:
        raise NotReady("closed")


class Stuck(ToldEmbedder):
    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("embedder", [Failing({}), Stuck({})], ids=["failing", "too slow"])
async def test_where_the_search_fails_the_earlier_ones_are_kept_and_the_note_says_so(embedder: Embedder) -> None:
    settings = with_room(LEASE, DEED, documents_time_limit_s=0.01)
    uses = await chosen(THREE, embedder=embedder, settings=settings)
    assert kept(uses) == ["lease.pdf", "deed.pdf"]
    assert uses[2].note.endswith("; they could not be compared with the message, and the earlier ones were kept")


async def test_cancelling_the_turn_cancels_the_search() -> None:
    choosing = asyncio.ensure_future(chosen(THREE, embedder=Stuck({}), settings=with_room(LEASE)))
    await asyncio.wait([choosing], timeout=0)
    choosing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await choosing


async def test_the_lines_of_a_sessions_documents_are_embedded_once() -> None:
    embedder = ToldEmbedder({line(LEASE): 0.9})
    similarity = TextSimilarity(embedder, MemoryVectorCache(100))
    for message in ("Which office?", "Which house?"):
        await choose_documents(THREE, message, (), similarity, with_room(LEASE))
    assert embedder.embedded == [line(document) for document in THREE]


async def test_the_embedded_model_knows_which_documents_are_close(embedder: MiniLmEmbedder) -> None:
    documents = [
        DocumentSummary("fees.md", "md", "What the customer pays each month, and when invoices are due."),
        DocumentSummary("leave.md", "md", "Holidays, parental leave and sick days of employees."),
        DocumentSummary("breach.md", "md", "How the parties report a data breach to the authorities."),
        DocumentSummary("rent.md", "md", "The rent of the office and the deposit that the tenant gives."),
    ]
    similarity = TextSimilarity(embedder, MemoryVectorCache(100))
    for message, name in (
        ("How many days off do I have?", "leave.md"),
        ("Whom do we tell when personal data is lost?", "breach.md"),
        ("What does the landlord get?", "rent.md"),
    ):
        uses = await choose_documents(documents, message, (), similarity, with_room(documents[3]))
        assert kept(uses) == [name]


WORDS = st.lists(st.sampled_from(["cap", "court", "notice", "rent", "法"]), max_size=6).map(" ".join)
DOCUMENTS = st.lists(
    st.builds(DocumentSummary, st.sampled_from(["a.md", "b.md", "c.md"]), st.just("md"), WORDS), max_size=8
)
LIMITS = st.builds(AssetConfig, documents_chars=st.integers(0, 120), documents_tokens=st.sampled_from([1_000, 20, 0]))


@given(DOCUMENTS, WORDS, st.lists(st.sampled_from(["a.md", "b.md"]), max_size=2), LIMITS)
def test_every_document_is_accounted_for_and_what_enters_fits(
    documents: list[DocumentSummary], message: str, selected: list[str], settings: AssetConfig
) -> None:
    similarity = TextSimilarity(WordEmbedder(), MemoryVectorCache(100))
    uses = asyncio.run(choose_documents(documents, message, selected, similarity, settings))
    assert [use.name for use in uses] == [document.filename for document in documents]
    for use, document in zip(uses, documents, strict=True):
        assert (use.included, use.text) == (not use.note, "" if use.note else line(document))
    taken = [line(document) for use, document in zip(uses, documents, strict=True) if use.included]
    assert fits(taken, settings)
    assert len({document for use, document in zip(uses, documents, strict=True) if use.included}) == len(taken)
    for use, document in zip(uses, documents, strict=True):
        if use.note not in {"", SAME, NOT_SELECTED}:
            assert not fits([*taken, line(document)], settings), "there was room for it"


def fits(lines: Sequence[str], settings: AssetConfig) -> bool:
    tokens = sum(estimated_tokens(one) for one in lines)
    return sum(map(len, lines)) <= settings.documents_chars and tokens <= settings.documents_tokens


ONE, TWO, SIX = (f"https://a.example/{number}.png" for number in (1, 2, 6))


@pytest.mark.parametrize(
    ("urls", "selected", "expected"),
    [
        ((), (), ()),
        ((ONE, TWO), (), ("", "")),
        ((ONE, TWO, ONE, ONE), (), ("", "", "it is the same as image 1", "it is the same as image 1")),
        ((SIX, TWO, TWO), (TWO, "note.md"), (NOT_SELECTED, "", "it is the same as image 2")),
        ((ONE,), ("note.md",), (NOT_SELECTED,)),
    ],
)
def test_images_that_are_the_same_or_not_selected_are_noted_by_their_numbers(
    urls: Sequence[str], selected: Sequence[str], expected: tuple[str, ...]
) -> None:
    assert choose_images(urls, selected) == expected
