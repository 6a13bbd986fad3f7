"""Reading documents: from the bytes of a file to its text, structure and passages. A library that needs no service.

    limits = ReadingLimits()
    read = read_document("text/plain", content, limits)            # in this process
    reader = ProcessReader(limits, processes=2)                    # in confined processes of its own
    read = await reader.read("text/plain", content)

`formats.py` says which files are read and by which parser. A parser is a pure function from bytes to a ParsedDocument:
`pdf.py`, `docx.py` and `html.py`, each with the files whose names begin like its own, `markdown.py` and `plain.py`.
`outline.py` and `clauses.py` find headings, `untitled.py` the clauses without a title (`openings.py` the numbers that
may open one, `contents.py` tables of contents), `furniture.py` what returns on every page, `clause_numbers.py` the
clauses that a passage belongs to, and `chunking.py` cuts passages. `references.py` and `words.py` read queries: which
clauses and words they ask for. `values.py` reads figures and dates, `measures.py`
those that can be compared, and `enumerations.py` lists.
"""

from typing import TYPE_CHECKING

from proviso_service.reading.canonical import SEEN_ONLY, readable, without_joiners
from proviso_service.reading.chunking import sentence_ends
from proviso_service.reading.enumerations import Enumeration, enumeration_at, enumeration_holding
from proviso_service.reading.formats import format_of, read_document
from proviso_service.reading.measures import DATE, DAYS_OF_YEAR, MEASURES, PERIOD, Measure, measures_of, only_measure
from proviso_service.reading.model import (
    PACKED_WORD,
    Chunk,
    FileTooLong,
    Heading,
    PageSpan,
    PageWords,
    ParsedDocument,
    Place,
    PlacedWord,
    ReadDocument,
    ReaderClosed,
    ReaderUnavailable,
    ReadingLimits,
    ReadingTooSlow,
    Span,
    UnreadableFile,
)
from proviso_service.reading.numerals import NUMBER_WORDS, value_in_words
from proviso_service.reading.references import (
    ClauseReference,
    clause_named,
    clause_of_title,
    clause_ranks,
    levels_of,
    references_in,
)
from proviso_service.reading.values import CURRENCY_UNITS, LAW, Date, Figure, Value, is_total, stands_in, values_of
from proviso_service.reading.words import (
    KINDS_OF_CONTRACTS,
    LETTERS_AND_DIGITS,
    MAX_WORDS,
    MESSAGE_STOP_WORDS,
    REQUEST_STOP_WORDS,
    STATEMENT_STOP_WORDS,
    WORD,
    SearchTerms,
    WordForms,
    joined_words,
    plain_words,
    significant_words,
    telling_words,
    words_of,
)
from proviso_service.reading.worker.confinement import left_open

if TYPE_CHECKING:
    from proviso_service.reading.reader import DocumentReader, ProcessReader

__all__ = [
    "CURRENCY_UNITS",
    "DATE",
    "DAYS_OF_YEAR",
    "KINDS_OF_CONTRACTS",
    "LAW",
    "LETTERS_AND_DIGITS",
    "MAX_WORDS",
    "MEASURES",
    "MESSAGE_STOP_WORDS",
    "NUMBER_WORDS",
    "PACKED_WORD",
    "PERIOD",
    "REQUEST_STOP_WORDS",
    "SEEN_ONLY",
    "STATEMENT_STOP_WORDS",
    "WORD",
    "Chunk",
    "ClauseReference",
    "Date",
    "DocumentReader",
    "Enumeration",
    "Figure",
    "FileTooLong",
    "Heading",
    "Measure",
    "PageSpan",
    "PageWords",
    "ParsedDocument",
    "Place",
    "PlacedWord",
    "ProcessReader",
    "ReadDocument",
    "ReaderClosed",
    "ReaderUnavailable",
    "ReadingLimits",
    "ReadingTooSlow",
    "SearchTerms",
    "Span",
    "UnreadableFile",
    "Value",
    "WordForms",
    "clause_named",
    "clause_of_title",
    "clause_ranks",
    "enumeration_at",
    "enumeration_holding",
    "format_of",
    "is_total",
    "joined_words",
    "left_open",
    "levels_of",
    "measures_of",
    "only_measure",
    "plain_words",
    "read_document",
    "readable",
    "references_in",
    "sentence_ends",
    "significant_words",
    "stands_in",
    "telling_words",
    "value_in_words",
    "values_of",
    "without_joiners",
    "words_of",
]


def __getattr__(name: str) -> object:
    """Imports the reader when it is first asked for: the processes that it starts import this package too, and have no
    use for asyncio and for the service's log."""
    if name in ("DocumentReader", "ProcessReader"):
        from proviso_service.reading import reader

        return getattr(reader, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
