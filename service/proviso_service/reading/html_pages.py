"""Pages of a web page that was made from a paged document, as the filings of companies are: page numbers between rules
or page breaks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proviso_service.reading.furniture import recurring_lines, running_lines
from proviso_service.reading.html_blocks import Block, Break

_MIN_PAGES = 3
_NUMBERED_SHARE = 0.6
_PAGE_NUMBER = re.compile(
    r"[-\u2013\u2014\s]{0,5}(?:page\s)?(?:[a-z]{1,2}-)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s(?:of|/)\s\d{1,4})?[-\u2013\u2014\s]{0,5}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paging:
    """`starts` are the indices of the blocks that begin pages 1, 2, and so on, none where there are no pages;
    `furniture` of those that are running headers, footers and page numbers."""

    starts: tuple[int, ...] = ()
    furniture: frozenset[int] = field(default_factory=frozenset)


def paging(blocks: Sequence[Block]) -> Paging:
    """Breaks make pages when most of them stand beside a page number that counts on: rules part other things too."""
    pages = [page for page in _pages(blocks) if page]
    running = running_lines([[blocks[index].text for index in page] for page in pages])
    furniture = frozenset(pages[page][line] for page, line in running)
    numbered = sum(any(index in furniture and is_page_number(blocks[index].text) for index in page) for page in pages)
    if len(pages) >= _MIN_PAGES and numbered >= _NUMBERED_SHARE * len(pages):
        return Paging(tuple(page[0] for page in pages), furniture)
    return Paging(furniture=recurring_lines([block.text for block in blocks]))


def is_page_number(text: str) -> bool:
    return _PAGE_NUMBER.fullmatch(text) is not None


def _pages(blocks: Sequence[Block]) -> Iterator[list[int]]:
    """Indices of the blocks with text, parted by page breaks and by rules beside a page number."""
    page: list[int] = []
    for index, block in enumerate(blocks):
        ends_page = block.page_break is Break.PAGE or (
            block.page_break is Break.RULE and any(is_page_number(text) for text in _beside(blocks, index))
        )
        if block.text:
            page.append(index)
        elif ends_page and not _is_only_number(blocks, page):
            yield page
            page = []
    yield page


def _beside(blocks: Sequence[Block], index: int) -> tuple[str, ...]:
    return tuple(block.text for block in (*blocks[max(0, index - 1) : index], *blocks[index + 1 : index + 2]))


def _is_only_number(blocks: Sequence[Block], page: Sequence[int]) -> bool:
    """Between a page break and a rule there may be a page number alone: it heads the page to come."""
    return len(page) == 1 and is_page_number(blocks[page[0]].text)
