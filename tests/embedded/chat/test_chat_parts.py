"""The pieces of the embedded chat model that work on text alone."""

import json
import re
import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from proviso_service.agent.grounding.counts import is_known_count
from proviso_service.agent.grounding.wording import Talk, kind_of_talk
from proviso_service.embedded import chat
from proviso_service.embedded.chat.conversation import read_conversation, read_evidence, read_user_message
from proviso_service.embedded.chat.each_document import bound_of
from proviso_service.embedded.chat.extracted import larger_line
from proviso_service.embedded.chat.mentions import (
    find_mentions,
    kinds_abroad,
    match_mention,
    proper_words,
    without_mentions,
)
from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.quoting import excerpt, until
from proviso_service.embedded.chat.request import UserRequest
from proviso_service.embedded.chat.wording import quote, said
from proviso_service.embedded.sentences import MAX_QUOTE_CHARS
from proviso_service.reading import Figure, only_measure, values_of
from proviso_service.tool_results import ExtractedAnswer, ListedDocument

FILES = [
    "Services Agreement.md",
    "Mutual_NDA.pdf",
    "OfficeLease-2023.docx",
    "SOW 2.pdf",
    "Data Processing Addendum.pdf",
]
MARKER = '[CONTEXT] The user has selected matter "Smith v. Jones" (matter_id: 25e70284-6124-4a2b-9c89-abc123def456).\n'
VIEWING = 'The user is currently viewing document "The \\"Big\\" Deal.pdf" (document_id: f47ac10b).\n'


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the notice period in the services agreement?", [0]),
        ("Show me the NDA", [1]),
        ("the non-disclosure agreement, please", [1]),
        ("What does our confidentiality agreement say?", [1]),
        ("rent under the lease", [2]),
        ("rent under the office lease", [2]),
        ("fees in SOW 2.pdf", [3]),
        ("the second statement of work", [3]),
        ("What does the DPA say about breaches?", [4]),
        ("Open Mutual_NDA.pdf", [1]),
        ("What is the services agreement's notice period?", [0]),
    ],
)
def test_a_named_document_is_found_among_filenames(question: str, expected: list[int]) -> None:
    (mention, *_) = find_mentions(question)
    assert match_mention(mention, FILES) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the governing law of the agreement?",
        "Is there an entire agreement clause?",
        "Which agreement has the longer notice period?",
        "How many contracts mention insurance?",
        "Does this document contain a warranty?",
        "When does a lease end?",
        "How do Acme and Globex deal with notices?",
        "Who grants the licenses?",
    ],
)
def test_a_question_without_a_name_mentions_no_document(question: str) -> None:
    assert find_mentions(question) == ()


@pytest.mark.parametrize(
    ("question", "files", "expected"),
    [
        ("What does the MSA say?", ["Hosting Services Agreement.pdf"], []),
        ("What does the SPA say?", ["Purchase Order 17.pdf"], []),
        ("What does our NDA say?", ["Lease.pdf", "Confidentiality Agreement - Acme.pdf"], [1]),
        ("What does our NDA say?", ["NDA Acme 2021.pdf", "NDA Beta.pdf"], [0, 1]),
    ],
)
def test_an_abbreviation_stands_for_its_whole_title(question: str, files: list[str], expected: list[int]) -> None:
    [mention] = find_mentions(question)
    assert match_mention(mention, files) == expected


def test_a_name_that_fits_nothing_matches_nothing_and_ties_match_all() -> None:
    (missing,) = find_mentions("the employment agreement")
    assert missing.firm
    assert match_mention(missing, FILES) == []
    (tied,) = find_mentions("the services agreement")
    assert match_mention(tied, ["Acme Services Agreement.md", "Beta Services Agreement.md"]) == [0, 1]


def test_a_kind_in_the_plural_means_all_documents_of_that_kind() -> None:
    (mention,) = find_mentions("How many franchise agreements are in this folder?")
    assert mention.is_plural
    files = ["WILDWINGS_2003-FRANCHISE AGREEMENT.txt", "Lease.pdf", "Pizza Fusion Franchise Agreement.txt"]
    assert match_mention(mention, files) == [0, 2]


def test_the_fuller_name_is_preferred() -> None:
    (mention,) = find_mentions("the master services agreement")
    assert match_mention(mention, ["Services Agreement.md", "Master Services Agreement.md"]) == [1]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How long is the term of the wings franchise?", [0]),
        ("Where does the Xencor collaboration send disputes?", [1]),
    ],
)
def test_a_kind_of_deal_with_a_name_is_a_document(question: str, expected: list[int]) -> None:
    (mention,) = find_mentions(question)
    files = ["BUFFALOWILDWINGSINC-EX-10.3-FRANCHISE AGREEMENT.txt", "XENCORINC-COLLABORATION AGREEMENT.txt"]
    assert match_mention(mention, files) == expected


@given(st.text(max_size=200))
def test_mentions_lie_where_they_say_in_any_text(text: str) -> None:
    mentions = find_mentions(text)
    assert all(text[one.start : one.end] == one.phrase and one.stems for one in mentions)
    assert len(without_mentions(text, mentions)) == len(text) - sum(one.end - one.start for one in mentions)


def test_marker_and_asset_block_are_taken_off_the_message() -> None:
    block = "[Uploaded Documents Context]\n- a (1).py (py): Reads files (fast)...\n- b.md (md): Notes\n\n"
    message = read_user_message(HumanMessage(f"{MARKER}{VIEWING}\n{block}What is this?"))
    assert message.text == "What is this?"
    assert message.has_matter
    assert message.viewed == ListedDocument(document_id="f47ac10b", filename='The "Big" Deal.pdf')
    assert [(one.filename, one.type, one.summary) for one in message.assets] == [
        ("a (1).py", "py", "Reads files (fast)..."),
        ("b.md", "md", "Notes"),
    ]


def test_a_marker_inside_a_message_is_only_text() -> None:
    message = read_user_message(HumanMessage(f"Look: {MARKER}"))
    assert (message.has_matter, message.viewed) == (False, None)


def test_a_conversation_is_split_at_the_last_user_message() -> None:
    history = [HumanMessage("one"), AIMessage("answer"), HumanMessage("two"), ToolMessage("x", tool_call_id="1")]
    conversation = read_conversation(history)
    assert (conversation.current.text, conversation.earlier, conversation.last_answer) == ("two", ("one",), "answer")
    assert len(conversation.steps) == 1


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_tool_result_of_any_shape_is_read_or_counted_as_a_failure(value: object) -> None:
    for name in ("isaacus_search", "list_matter_documents", "get_document_text", "other"):
        call = AIMessage("", tool_calls=[{"name": name, "args": {}, "id": "1"}])
        for content in (json.dumps(value), f"x{value}"):
            evidence = read_evidence([call, ToolMessage(content, tool_call_id="1")])
            read = [*evidence.searches, *evidence.parts, *([evidence.listing] if evidence.listing else [])]
            assert len(read) + len(evidence.failures) == 1


def test_a_long_sentence_is_cut_around_its_evidence() -> None:
    sentence = "The supplier, " + "having considered everything at length, " * 20 + "shall pay $5,000 on demand."
    cut = excerpt(sentence, re.compile(r"\$\d"))
    assert "$5,000" in cut
    assert cut in sentence
    assert len(cut) <= MAX_QUOTE_CHARS


def test_quotation_marks_inside_a_quote_are_straight() -> None:
    assert quote("The “Provider” shall” [9] act", 3) == '“The "Provider" shall" [9] act” [3]'
    assert quote("No number", None) == "“No number”"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("sixty (60) days prior notice", 60),
        ("a period of two weeks", 14),
        ("thirty days or 30 days", 30),
        ("within fourteen days", 14),
        ("forty days of leave", 40),
        ("Seventy-two hours", 3),
        ("twenty four weeks", 168),
        ("one hundred eighty days", 180),
        ("one hundred and eighty (180) days", 180),
        ("30 days, or 60 days for tenants", None),
        ("at once", None),
    ],
)
def test_the_only_duration_of_a_quote_is_read(text: str, days: float | None) -> None:
    found = only_measure(text, ("days",))
    assert (found.amount if found else None) == days


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("not exceed $150,000.", ("usd", 150_000)),
        ("EUR 2 million in all", ("eur", 2_000_000)),
        ("$5 or $6", None),
        ("claims exceeding $150,000, up to $150,000 each", ("usd", 150_000)),
        ("ends on 1 March 2027 at the latest", ("date", 2027 * 372 + 2 * 31)),
    ],
)
def test_the_only_figure_of_a_quote_is_read(text: str, figure: tuple[str, float] | None) -> None:
    found = only_measure(text)
    assert (found[:2] if found else None) == figure


@pytest.mark.parametrize(
    ("asked", "text", "is_met"),
    [
        ("a cap above $1 million", "not exceed $1,000,001", True),
        ("a cap above $1 million", "not exceed $1,000,000", False),
        ("a cap above $1 million", "not exceed EUR 2 million", None),
        ("a cap of at least $1 million", "not exceed $1,000,000", True),
        ("a cap of at least $1 million", "not exceed $999,999", False),
        ("last less than two years", "eighteen months", True),
        ("last less than two years", "two (2) years", False),
        ("cost no more than EUR 500", "EUR 500 a month", True),
        ("cost no more than EUR 500", "EUR 501 a month", False),
        ("need more than 60 days of notice", "30 days, or 90 days for tenants", True),
        ("need more than 60 days of notice", "reasonable notice", None),
        ("signed in 2005", "December 31, 2005", True),
        ("signed in the year 2005", "January 1, 2006", False),
        ("signed before 2005", "December 31, 2004", True),
        ("signed before 2005", "January 1, 2005", False),
        ("end after 2005", "December 31, 2005", False),
        ("end after 2005", "January 1, 2006", True),
        ("end after 1 March 2005", "2 March 2005", True),
        ("signed in March 2005", "31 March 2005", True),
        ("end after March 2005", "15 March 2005", False),
        ("a fee above 2000 dollars", "$2,001", True),
        ("last no longer than 5 years", "five (5) years", True),
        ("last no longer than 5 years", "ten (10) years", False),
        ("run for three years or more", "three (3) years", True),
        ("run for three years or more", "thirty months", False),
        ("run for thirty-six months or more", "seven (7) months", False),
        ("have one hundred twenty days or more", "one hundred (100) days", False),
        ("cost US$100,000 or more", "$90,000", False),
        ("cost $100,000 or less", "$100,000", True),
        ("cost $100,000 or less", "$120,000", False),
        ("need expenses over $5,000 approved", "Expenses in excess of $5,000 require consent", True),
    ],
)
def test_a_figure_is_held_against_the_bound_of_a_question(asked: str, text: str, *, is_met: bool | None) -> None:
    found = bound_of(asked)
    assert found is not None
    assert found[0].met_by(text) is is_met


def test_what_is_asked_remains_without_its_bound() -> None:
    found = bound_of("require at least 60 days' notice to end it")
    assert found is not None
    assert found[1] == "require notice to end it"


@pytest.mark.parametrize(
    "asked",
    [
        "survive after termination",
        "fall under New York law",
        "need consent above all",
        "more than 2000 people",
        "end in 30 days",
        "let us terminate after 3 years",
        "terminate if force majeure lasts more than 90 days",
        "signed before 2005 have a non-compete",
        "signed in 2005 or later",
    ],
)
def test_without_a_figure_there_is_no_bound(asked: str) -> None:
    assert bound_of(asked) is None


def says(filename: str, text: str, ref: int) -> ExtractedAnswer:
    return ExtractedAnswer(filename=filename, text=text, answer=text, ref=ref)


def test_the_larger_figure_is_named_only_when_quotes_tell() -> None:
    quotes = [says("A.pdf", "thirty (30) days notice", 1), says("B.pdf", "sixty (60) days notice", 2)]
    assert larger_line("Which is longer?", quotes).strip() == (
        "Of these, the larger figure is “sixty (60) days” [2] in B.pdf."
    )
    assert "smaller figure is “thirty (30) days” [1] in A.pdf" in larger_line("Which is shorter?", quotes)
    assert larger_line("Compare them.", quotes) == ""
    assert larger_line("Which is longer?", [quotes[0], says("B.pdf", "reasonable notice", 2)]) == ""
    assert larger_line("Which is longer?", [quotes[0], says("B.pdf", "30 days", 2)]).strip() == (
        "The figures in these quotes are the same: “thirty (30) days” [1] and “30 days” [2]."
    )
    dates = [says("A.pdf", "ends on 1 May 2026", 1), says("B.pdf", "expires on April 3, 2027", 2)]
    assert "later date is “April 3, 2027” [2] in B.pdf" in larger_line("Which ends later?", dates)
    assert "earlier date is “1 May 2026” [1] in A.pdf" in larger_line("Which ends earlier?", dates)


def test_patterns_and_words_that_are_asked_for_are_there_and_none_is_there_in_vain() -> None:
    code = "".join(one.read_text("utf-8") for one in resources.files(chat).iterdir() if one.name.endswith(".py"))
    phrases = tomllib.loads(resources.files(chat).joinpath("phrases.toml").read_text("utf-8"))
    assert set(re.findall(r"\bpatterns?\(\"(\w+)\"\)", code)) <= set(phrases["patterns"])
    assert set(re.findall(r"\bwords\(\"(\w+)\"\)", code)) <= set(phrases["words"])
    assert [name for name in (*phrases["patterns"], *phrases["words"]) if f'"{name}"' not in code] == []


def test_sentences_take_the_same_parts_in_every_language() -> None:
    for key, ways in tomllib.loads(resources.files(chat).joinpath("templates.toml").read_text("utf-8")).items():
        assert len({frozenset(re.findall(r"\{(\w+)\}", way)) for way in ways.values()}) == 1, key


@pytest.mark.parametrize("language", ["de", "fr"])
@pytest.mark.parametrize("key", ["show_more_document", "not_listed_document"])
@pytest.mark.parametrize("more", [1, 3])
def test_what_is_said_of_documents_without_a_quote_is_held(language: str, key: str, more: int) -> None:
    sentence = said(f"{key}{'' if more == 1 else 's'}", language, seen=12, more=more, count=more)
    assert kind_of_talk(sentence) in (Talk.SEARCH, Talk.REFUSAL)
    figures = [value for value in values_of(sentence) if isinstance(value, Figure)]
    assert figures
    assert all(is_known_count(figure, sentence, {40}) for figure in figures)


@pytest.mark.parametrize(
    ("language", "sentence"), [("it", "A confronto:"), ("en", "Side by side:"), ("nl", "Side by side:")]
)
def test_sentences_are_said_in_the_language_of_the_question_or_in_english(language: str, sentence: str) -> None:
    assert said("side_by_side", language) == sentence


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is the notice period, and to whom must the notice be sent?",
            ["What is the notice period", "to whom must the notice be sent?"],
        ),
        (
            "How long may the breaching side repair, and can the supplier claim charges?",
            ["How long may the breaching side repair", "can the supplier claim charges?"],
        ),
        (
            "When is the first fee due? And who bears the taxes on it?",
            ["When is the first fee due?", "who bears the taxes on it?"],
        ),
        ("By when and to whom must the notice be sent?", None),
        ("Which fees and which taxes are refundable?", None),
        ("What happens on default, and why?", None),
        ("The line was flooded. What must we send, and when?", None),
    ],
)
def test_a_message_that_asks_two_things_has_two_parts(question: str, parts: list[str] | None) -> None:
    assert list(UserRequest(Intent.FACT, question).parts) == (parts or [question])


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Acme vs. Globex: who may assign?", ("Acme", "Globex")),
        ("Insurance must be kept. Who pays?", ()),
        ("How much cover does a bw-3 franchisee need?", ("bw-3",)),
        ("Zto and Cheetah: how is the fee paid?", ("Zto", "Cheetah")),
        ("What's the largest amount?", ()),
    ],
)
def test_names_of_parties_are_read_out_of_a_question(question: str, names: tuple[str, ...]) -> None:
    assert proper_words(question) == names


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Wer haftet nach dem Wartungsvertrag?", ("maintenance",)),
        ("Quelle loi régit le contrat de distribution ?", ("distributor distribution",)),
        ("Wer haftet nach dem Vertrag?", ()),
    ],
)
def test_kinds_of_agreements_are_known_in_other_languages(question: str, kinds: tuple[str, ...]) -> None:
    assert kinds_abroad(question) == kinds


def test_a_long_sentence_is_quoted_up_to_the_term_that_it_defines() -> None:
    meaning = "the days on which the banks of both towns are open, "
    sentence = (
        f'The Buyer pays {"for each crate that it takes over, " * 30}{meaning}("Banking Days") and {"so on " * 200}'
    )
    quoted = until(sentence, re.compile(r"\(.Banking Days.\)"))
    assert quoted.endswith(f'{meaning}("Banking Days")')
    assert MAX_QUOTE_CHARS - 20 < len(quoted) <= MAX_QUOTE_CHARS
    assert quoted in sentence
    assert until("It is short.", re.compile("long")) == "It is short."
