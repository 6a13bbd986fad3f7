"""Sentences as people quote them."""

from hypothesis import given
from hypothesis import strategies as st

from proviso_service.embedded.sentences import is_title, paragraphs, plain, split_sentences


@given(st.text(alphabet='aB1 .?;,\n-#()“”"$', max_size=400))
def test_sentences_and_paragraphs_are_verbatim_but_for_white_space_and_markup(text: str) -> None:
    collapsed = " ".join(plain(text).split())
    for piece in [*split_sentences(text), *paragraphs(text)]:
        assert piece in collapsed


def test_sentences_end_where_people_end_them() -> None:
    text = (
        "This deal is between Acme, Inc. and Beta Ltd. under Section 5. The fee is $1.50 per unit.\n"
        "(a) Notices go to J. Smith.\n(b) Payment is due at once."
    )
    assert split_sentences(text) == [
        "This deal is between Acme, Inc. and Beta Ltd. under Section 5.",
        "The fee is $1.50 per unit.",
        "Notices go to J. Smith.",
        "Payment is due at once.",
    ]


def test_items_that_are_numbered_within_a_paragraph_are_sentences() -> None:
    assert split_sentences("The fee is due monthly; 2.Acme will edit photos in 14 days; (3) Beta keeps the files.") == [
        "The fee is due monthly;",
        "Acme will edit photos in 14 days;",
        "Beta keeps the files.",
    ]


def test_headings_and_titles_are_no_statements() -> None:
    titles = "## 9. Governing Law\n\nTERMINATION OF THIS STATEMENT OF WORK\n\n**Termination for Convenience.** "
    assert split_sentences(titles + "It ends in May.", "9. Governing Law") == ["It ends in May."]
    assert is_title("Governing Law and Jurisdiction.", "9. Governing Law and Jurisdiction")
    assert not is_title("This lease ends in May.", "9. Term")


def test_what_stands_behind_a_label_is_a_statement() -> None:
    lines = ["Governing Law: New York.", "Landlord: Acme Property Holdings Limited", "Tenant: Beta Retail LLC."]
    assert split_sentences("\n\n".join(lines)) == lines


def test_markup_is_not_quoted() -> None:
    [sentence] = split_sentences('The "**Fee**" is due <span id="a">within ten</span> days of the *invoice*.')
    assert sentence == 'The "Fee" is due within ten days of the invoice.'


def test_a_list_stays_with_the_sentence_that_opens_it() -> None:
    text = "The Supplier shall maintain:\n\n(a) indemnity insurance; and\n\n(b) liability insurance.\n\nIt shall pay."
    assert split_sentences(text) == [
        "The Supplier shall maintain: (a) indemnity insurance; and (b) liability insurance.",
        "It shall pay.",
    ]


def test_parties_stay_with_the_words_that_introduce_them() -> None:
    parties = 'Acme Limited (the "Supplier"); and\n\nBolt plc (the "Buyer").'
    text = f"This Agreement is made between:\n\n{parties}\n\nIt binds both."
    assert split_sentences(text)[0] == (
        'This Agreement is made between: Acme Limited (the "Supplier"); and Bolt plc (the "Buyer").'
    )
