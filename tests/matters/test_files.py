"""Files are read by the library, and its failures are told as the service's errors."""

import pytest

from proviso_service.errors import Draining, NotReady, ProvisoError, UnsupportedDocument
from proviso_service.matters.files import FileReader
from proviso_service.reading import ReadDocument, ReaderClosed, ReaderUnavailable, UnreadableFile
from tests.support.thread_reader import ThreadReader


class FailingReader:
    """A DocumentReader that reads nothing."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    async def read(self, media_type: str, content: bytes) -> ReadDocument:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (UnreadableFile("The file is damaged."), UnsupportedDocument),
        (ReaderClosed(), Draining),
        (ReaderUnavailable(), NotReady),
    ],
)
async def test_a_failure_of_the_library_is_told_as_an_error(failure: Exception, told: type[ProvisoError]) -> None:
    with pytest.raises(told) as raised:
        await FileReader(FailingReader(failure)).text("lease.txt", b"The rent is due.")
    assert raised.value.__cause__ is failure


async def test_the_sentence_for_a_person_stays() -> None:
    with pytest.raises(UnsupportedDocument, match="The file is damaged"):
        await FileReader(FailingReader(UnreadableFile("The file is damaged."))).read("text/plain", b"")


def test_a_name_of_no_format_is_refused_before_anything_is_read() -> None:
    files = FileReader(FailingReader(AssertionError()))
    files.check("lease.pdf")
    with pytest.raises(UnsupportedDocument):
        files.check("lease.exe")


async def test_the_text_of_a_file_is_read() -> None:
    files = FileReader(ThreadReader())
    assert await files.text("lease.txt", b"The rent is due.") == "The rent is due."
