"""The figures about the labels of clauses."""

from dataclasses import replace

from evals.labels import count, report
from proviso_service.reading import ReadDocument, ReadingLimits, read_document

TEXT = (
    "12. General\n\nThe following applies.\n\n12.1 The parties agree on this.\n\n12.2 They agree on that too.\n\n"
    "1.1 Definitions ........ 4\n"
)


def _read() -> ReadDocument:
    return read_document("text/plain", TEXT.encode(), ReadingLimits())


def test_right_labels_count_as_right() -> None:
    counted = count("lease", _read())
    assert (counted.passages, counted.numbered, counted.wrong) == (1, 1, 0)
    assert (counted.inside, counted.wrong_inside) == (2, 0)
    assert "0.00" in report([counted])


def test_the_label_of_another_clause_counts_as_wrong() -> None:
    read = _read()
    [chunk] = read.chunks
    labelled = replace(chunk, section_path=("9. Fees",))
    counted = count("lease", replace(read, chunks=(labelled,), parsed=replace(read.parsed, headings=())))
    assert (counted.wrong, counted.levels, counted.wrong_inside) == (1, 0, 2)
    assert "100.00" in report([counted])


def test_the_lines_of_a_table_of_contents_do_not_count() -> None:
    read = _read()
    [chunk] = read.chunks
    contents = replace(
        chunk, text="12.3 Early End. 42\n\n12.4 Effects. 43\n\n12.5 Tail. 43", section_path=("Contents",)
    )
    assert count("lease", replace(read, chunks=(contents,))).numbered == 0
