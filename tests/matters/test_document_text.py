"""Reading a document's text by position, page and heading."""

import re

import pytest

from proviso_service.errors import InvalidRequest, ProvisoError
from proviso_service.matters.document_text import TextPart
from proviso_service.matters.model import DocumentText, Matter
from proviso_service.reading.model import Place
from tests.support.matters_world import TENANT, MattersWorld

LEASE = """\
# Lease

Between the parties.

## 1. Rent

The rent is due monthly.

### 1.1 Deposit

One month.

## 2. Term

Two years.
"""
PAGES = "PARTIES\n\nFirst page.\f\f\n\nTERM\n\nThird page, which is the longest.\n"


async def read(world: MattersWorld, matter: Matter, filename: str, part: TextPart) -> DocumentText:
    return await world.matters.document_text(TENANT, matter.matter_id, filename=filename, part=part)


async def test_a_section_is_read_with_those_below_it(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE})
    rent = await read(world, matter, "lease.md", TextPart(heading="rent"))
    assert rent.text == LEASE[LEASE.index("## 1. Rent") : LEASE.index("## 2. Term")]
    assert LEASE[rent.start :].startswith(rent.text)
    assert (rent.truncated, rent.page, rent.section_path) == (False, 0, ("Lease", "1. Rent"))
    deposit = await read(world, matter, "lease.md", TextPart(heading="clause 1.1", max_length=8))
    assert (deposit.text, deposit.truncated) == ("### 1.1 ", True)
    assert deposit.section_path == ("Lease", "1. Rent", "1.1 Deposit")
    term = await read(world, matter, "lease.md", TextPart(heading="2"))
    assert term.text == LEASE[LEASE.index("## 2. Term") :]


async def test_a_page_is_read_whole_and_says_where_it_is(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"scan.txt": PAGES})
    first = await read(world, matter, "scan.txt", TextPart(page=1))
    assert (first.text.rstrip("\f"), first.page, first.section_path) == ("PARTIES\n\nFirst page.", 1, ("PARTIES",))
    assert not first.truncated
    third = await read(world, matter, "scan.txt", TextPart(page=3, max_length=10))
    assert PAGES[third.start :].startswith(third.text)
    assert (len(third.text), third.page, third.section_path, third.truncated) == (10, 3, ("TERM",), True)


async def test_a_part_from_a_position_says_where_it_starts(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "scan.txt": PAGES})
    part = await read(world, matter, "lease.md", TextPart(start=LEASE.index("One month")))
    assert part.section_path == ("Lease", "1. Rent", "1.1 Deposit")
    assert (await read(world, matter, "scan.txt", TextPart(start=PAGES.index("Third")))).page == 3
    beyond = await read(world, matter, "scan.txt", TextPart(start=len(PAGES) + 1))
    assert (beyond.text, beyond.truncated) == ("", False)


async def test_a_part_says_where_its_pages_and_sections_begin(world: MattersWorld) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "scan.txt": PAGES})
    rent = await read(world, matter, "lease.md", TextPart(heading="rent"))
    assert rent.places == (Place(LEASE.index("### 1.1"), 0, "1.1 Deposit"),)
    second, third = PAGES.index("\f") + 1, PAGES.rindex("\f") + 1
    scan = await read(world, matter, "scan.txt", TextPart())
    assert scan.places == (
        *(Place(second, 2, "PARTIES"), Place(third, 3, "PARTIES")),
        Place(PAGES.index("TERM"), 3, "TERM"),
    )
    assert (await read(world, matter, "scan.txt", TextPart(max_length=second))).places == ()


@pytest.mark.parametrize(
    ("filename", "part", "message"),
    [
        ("scan.txt", TextPart(page=4), "No page 4: the document has 3 pages"),
        ("lease.md", TextPart(page=1), r"lease\.md has no pages"),
        ("lease.md", TextPart(heading="depozit"), r'lease\.md has no such heading, .* "1\.1 Deposit"'),
        ("note.txt", TextPart(heading="rent"), r"note\.txt has no headings; ask for a position"),
        ("note.txt", TextPart(start=-1), "start: must be at least 0"),
        ("note.txt", TextPart(page=-1), "page: must be at least 0"),
        ("note.txt", TextPart(max_length=0), "max_length: must be at least 1"),
    ],
)
async def test_what_a_document_does_not_have_is_refused_in_words(
    world: MattersWorld, filename: str, part: TextPart, message: str
) -> None:
    matter = await world.matter()
    await world.ingest(matter, {"lease.md": LEASE, "scan.txt": PAGES, "note.txt": "a note about nothing"})
    with pytest.raises(ProvisoError) as refused:
        await read(world, matter, filename, part)
    assert re.match(message, refused.value.message)


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        (TextPart(start=1, page=1), {"start", "page"}),
        (TextPart(page=1, heading="x"), {"page", "heading"}),
        (TextPart(start=1, page=1, heading="x"), {"start", "page", "heading"}),
    ],
)
async def test_a_part_is_named_in_one_way(world: MattersWorld, part: TextPart, fields: set[str]) -> None:
    matter = await world.matter()
    with pytest.raises(InvalidRequest) as refused:
        await read(world, matter, "lease.md", part)
    assert {violation.field for violation in refused.value.violations} == fields
