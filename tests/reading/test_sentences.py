"""Ends of sentences."""

import pytest

from proviso_service.reading.chunking import sentence_ends


def _sentences(text: str) -> list[str]:
    ends = list(sentence_ends(text, 0, len(text)))
    return [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Rent is due.", "Late rent bears interest."],
        ["Acme, Inc. The Seller, and Dr. Smith of Foo Corp. Of Delaware agree."],
        ["The U.S. Treasury pays.", "It is late."],
        ["See No. 5 of Sec. 4.2 for this.", "(a) It says so."],
        ['He said "Stop."', "She did not."],
        ["9. The term is one year.", "It renews."],
        ["The parties:", "buy;", "and sell."],
    ],
)
def test_sentences_end_where_readers_see_them_end(sentences: list[str]) -> None:
    separator = "\n" if sentences[0].endswith(":") else " "
    assert _sentences(separator.join(sentences)) == sentences
