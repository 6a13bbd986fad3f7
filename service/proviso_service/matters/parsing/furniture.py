"""Running headers, footers and page numbers of paged text."""

from collections.abc import Sequence


def running_lines(pages: Sequence[Sequence[str]]) -> frozenset[tuple[int, int]]:
    """Which lines repeat from page to page or count the pages, as (index of the page, index of the line). `pages` are
    the lines of each page in reading order, blank ones included or not."""
    return frozenset()
