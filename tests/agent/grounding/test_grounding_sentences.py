"""An answer is cut into sentences as it is written, and its quotations are found."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proviso_service.agent.grounding.sentences import SentenceSplitter, quotations_in

PARTS = [
    *(
        "The fee",
        "is due",
        "e.g.",
        "No.",
        "1. Mai",
        "U.S.",
        "“It ends",
        "here.”",
        '"Yes."',
        "„Nein",
        "“",
        "«",
        "»",
        "[1]",
    ),
    *(
        "[2, 3]",
        "(Lease.md)",
        "USD 1.500",
        "3.14",
        ".",
        "!",
        "?",
        "…",
        ":",
        "\n",
        "\n\n",
        " ",
        "- ",
        "1. ",
        "**",
        "`code`",
    ),
    *("。", "؟", "Yes.", "Ziff. 4", "[image 1]", "['"),
]
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=4), max_size=25).map(" ".join) | st.text(max_size=200)


def cut(*pieces: str) -> list[str]:
    splitter = SentenceSplitter()
    fed = [sentence for piece in pieces for sentence in splitter.feed(piece)]
    return [*fed, *splitter.finish()]


@example("Er endet 1. Mai 2025. Das gilt.", [*range(40)])
@example("It ends here.” (Lease.md) [1] x. U.S. law.", [*range(40)])
@given(texts, st.lists(st.integers(0, 500), max_size=40))
def test_the_sentences_are_the_text_and_the_same_however_it_comes_in_pieces(text: str, places: list[int]) -> None:
    ends = sorted(min(place, len(text)) for place in places)
    pieces = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    assert "".join(cut(text)) == text
    assert cut(*pieces) == cut(text) == cut(*text)


@pytest.mark.parametrize(
    "sentences",
    [
        ["The fee is due.", " It is EUR 5."],
        ["The fee is due [1].", " It is EUR 5 [2]."],
        ["The fee is due. [1]", " It is EUR 5. [2, 3]"],
        ["The fee is due (Lease.md). [1]", " It is EUR 5."],
        ["It says “The fee is due. It is EUR 5.” [1]", " It ends."],
        ['It says "The fee is due. It is EUR 5." [1]', " It ends."],
        ["Es heißt „Die Gebühr ist fällig. Sie beträgt 5 Euro.“ [1]", " Er endet."],
        ["Il dit « Le loyer est dû. » [1]", " Il prend fin."],
        ["The parties are Acme Inc. and Beta Ltd. of Ohio.", " Both sign."],
        ["See Sec. 4.2 and No. 7, e.g. for notices.", " It ends."],
        ["Am 1. Mai 2025 endet er.", " Gemäß Ziff. 3 Abs. 2 gilt das nicht."],
        ["Er kostet 1.500,50 EUR.", " Das gilt z.B. nicht für Lizenzen."],
        ["Le prix est de 1.500 EUR, cf. art. 4.", " Il est dû."],
        ["What is it?", " That!", " Well…", " Good."],
        ["Yes. The fee is due.", " It is EUR 5."],
        ["Ja. Die Gebühr ist fällig.", " Sie beträgt 5 Euro."],
        ["契約は終了します。", "費用は五百円です。"],
        ["# Fees\n", "\n- The fee is due.", "\n- It is EUR 5.", "\nThe end."],
        ["The fees are:\n- EUR 5\n", "- EUR 6\n"],
        ["1. The fee is due.", "\n2. It is EUR 5."],
        ["- Lease.md (12. Termination): “The term is a year.” [1]", "\n- Sale.md (1. Fees)"],
        ["It is the law of Ohio", ""],
    ],
)
def test_a_sentence_ends_with_its_mark_its_citation_or_its_line(sentences: list[str]) -> None:
    assert cut("".join(sentences)) == [sentence for sentence in sentences if sentence]


def test_a_sentence_is_complete_once_the_text_after_it_has_begun() -> None:
    splitter = SentenceSplitter()
    assert [*splitter.feed("The fee is due.")] == []
    assert [*splitter.feed(" ")] == []
    assert [*splitter.feed("It")] == ["The fee is due."]
    assert [*splitter.feed(" is EUR 5 [1].\n")] == [" It is EUR 5 [1]."]


def test_a_text_without_an_end_is_cut_so_that_it_is_checked_all_the_same() -> None:
    sentences = cut(*["word "] * 3_000)
    assert "".join(sentences) == "word " * 3_000
    assert max(map(len, sentences)) <= 4_000


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ("It says “the fee is due” [1].", ["the fee is due"]),
        ('It says "the fee is due" [1].', ["the fee is due"]),
        ("It says 'the fee isn't due' [1].", ["the fee isn't due"]),
        ("It says ‘the fee isn’t due’ [1].", ["the fee isn’t due"]),
        ("Es heißt „die Gebühr ist fällig“ [1].", ["die Gebühr ist fällig"]),
        ("Es heißt »die Gebühr ist fällig« [1].", ["die Gebühr ist fällig"]),
        ("Il dit « le loyer est dû » [1].", [" le loyer est dû "]),
        ("It says `the fee is due` [1].", ["the fee is due"]),
        ("> The fee is due on Monday.", ["The fee is due on Monday."]),
        ("It says “the fee is due", ["the fee is due"]),
        ("“The fee is due” and “so is the rent”", ["The fee is due", "so is the rent"]),
        ("The “Customer” pays.", []),
        ("The customer's fee and the supplier's fee.", []),
    ],
)
def test_quotations_are_found_in_whatever_marks(sentence: str, quoted: list[str]) -> None:
    found = quotations_in(sentence)
    assert [quotation.text for quotation in found] == quoted
    assert all(quotation.text in sentence[quotation.start : quotation.end] for quotation in found)
