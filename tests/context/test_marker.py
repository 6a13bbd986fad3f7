"""The [CONTEXT] marker."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.marker import MAX_NAME_CHARS, MarkedMessage, MarkerFault, parse_marker, render_marker
from proviso_service.context.model import MatterContext

MATTER = "25e70284-6124-4a2b-9c89-abc123def456"
DOCUMENT = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
MATTER_LINE = f'[CONTEXT] The user has selected matter "Smith v. Jones" (matter_id: {MATTER}).'
DOCUMENT_LINE = f'The user is currently viewing document "Service Agreement.pdf" (document_id: {DOCUMENT}).'

names = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60)


@pytest.mark.parametrize(
    ("message", "context", "text"),
    [
        (MATTER_LINE, MatterContext(MATTER, "Smith v. Jones"), ""),
        (f"{MATTER_LINE}\nHello", MatterContext(MATTER, "Smith v. Jones"), "Hello"),
        (
            f"{MATTER_LINE}\r\n{DOCUMENT_LINE}\r\n\r\nHello",
            MatterContext(MATTER, "Smith v. Jones", DOCUMENT, "Service Agreement.pdf"),
            "Hello",
        ),
        (f"  \n{MATTER_LINE}\nHello", MatterContext(MATTER, "Smith v. Jones"), "Hello"),
        (f"Hello\n{MATTER_LINE}", None, f"Hello\n{MATTER_LINE}"),
        ("The [CONTEXT] of the clause?", None, "The [CONTEXT] of the clause?"),
        (
            f'[CONTEXT] The user has selected matter "x" (matter_id: evil)" (matter_id: {MATTER}).',
            MatterContext(MATTER, 'x" (matter_id: evil)'),
            "",
        ),
        ('[CONTEXT] The user has selected matter "x" (matter_id: not-a-uuid).', MatterContext("not-a-uuid", "x"), ""),
        (f"{MATTER_LINE}\nHello\n{DOCUMENT_LINE}", MatterContext(MATTER, "Smith v. Jones"), f"Hello\n{DOCUMENT_LINE}"),
    ],
)
def test_a_marker_is_read_only_at_the_start_of_a_message(
    message: str, context: MatterContext | None, text: str
) -> None:
    marked = parse_marker(message)
    assert (marked.context, marked.text) == (context, text)


SMITH = MatterContext(MATTER, "Smith v. Jones")
AGREEMENT = MatterContext(MATTER, "Smith v. Jones", DOCUMENT, "Service Agreement.pdf")
OTHER = "00000000-0000-4000-8000-000000000000"
OTHER_LINE = f'[CONTEXT] The user has selected matter "Other" (matter_id: {OTHER}).'


@pytest.mark.parametrize(
    ("message", "context", "text"),
    [
        (f"{MATTER_LINE} Which law?", SMITH, "Which law?"),
        (f"{MATTER_LINE}Which law?", SMITH, "Which law?"),
        (f"{MATTER_LINE.rstrip('.')} Which law?\nAnd where?", SMITH, "Which law?\nAnd where?"),
        (f"{MATTER_LINE} {DOCUMENT_LINE}\nWhich law?", AGREEMENT, "Which law?"),
        (f"{MATTER_LINE}{DOCUMENT_LINE} Which law?", AGREEMENT, "Which law?"),
        (f"{MATTER_LINE}\n  {DOCUMENT_LINE}\n\nWhich law?", AGREEMENT, "Which law?"),
        (f"{MATTER_LINE}\n\n\t{DOCUMENT_LINE} Which law?", AGREEMENT, "Which law?"),
        (f"\ufeff\u200b \t{MATTER_LINE}\nWhich law?", SMITH, "Which law?"),
        (f"{MATTER_LINE}\n  Indented", SMITH, "  Indented"),
        (MATTER_LINE.replace("[CONTEXT]", "[Context]") + "\nWhich law?", SMITH, "Which law?"),
        (MATTER_LINE.replace("[CONTEXT] ", "[context]:\n") + "\nWhich law?", SMITH, "Which law?"),
        (MATTER_LINE.replace("Smith v. ", "Smith v.\n") + "\nWhich law?", SMITH, "Which law?"),
        (f"{MATTER_LINE}\n" + DOCUMENT_LINE.replace("Service ", "Service\r\n") + " Hm?", AGREEMENT, "Hm?"),
        (f"[CONTEXT] (matter_id: {MATTER})\nWhich law?", MatterContext(MATTER), "Which law?"),
        (f"[CONTEXT] Matter: Smith (matter_id: {MATTER}). Which law?", MatterContext(MATTER), "Which law?"),
        (
            f'[CONTEXT] The user has selected matter "Smith "Bo" Jones" (matter_id: {MATTER}). Which law?',
            MatterContext(MATTER, 'Smith "Bo" Jones'),
            "Which law?",
        ),
        (
            f'[CONTEXT] The user has selected matter "x" (matter_id: evil)" (matter_id: {MATTER}). Which law?',
            MatterContext(MATTER, 'x" (matter_id: evil)'),
            "Which law?",
        ),
        (
            f'{MATTER_LINE}\nThe user is currently viewing document "x" (document_id: 1)" (document_id: {DOCUMENT}).',
            MatterContext(MATTER, "Smith v. Jones", DOCUMENT, 'x" (document_id: 1)'),
            "",
        ),
    ],
)
def test_what_is_off_the_format_is_read_where_it_has_one_reading(
    message: str, context: MatterContext, text: str
) -> None:
    marked = parse_marker(message)
    assert (marked.context, marked.text, marked.fault) == (context, text, None)


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("[CONTEXT]", MarkerFault.NO_MATTER),
        (" [context] What does this mean?", MarkerFault.NO_MATTER),
        ('[CONTEXT] The user has selected matter "Smith".\nWhich law?', MarkerFault.NO_MATTER),
        ('[CONTEXT] The user has selected matter "Smith" (matter_id: ).\nWhich law?', MarkerFault.NO_MATTER),
        (f'[CONTEXT] The user has selected matter "Smith" (matter_id: {MATTER}\nWhich law?', MarkerFault.NO_MATTER),
        (f"[CONTEXT] matter_id={MATTER}\nWhich law?", MarkerFault.NO_MATTER),
        (f"[CONTEXT] (matter_id: {MATTER}, document_id: {DOCUMENT}) Which law?", MarkerFault.NO_MATTER),
        (f"[CONTEXT] Which law?\n{MATTER_LINE}", MarkerFault.NO_MATTER),
        (f"{MATTER_LINE}\n{OTHER_LINE}\nWhich law?", MarkerFault.SEVERAL_MATTERS),
        (f"{MATTER_LINE}\n{MATTER_LINE}\nWhich law?", MarkerFault.SEVERAL_MATTERS),
        (f"{MATTER_LINE}{OTHER_LINE}Which law?", MarkerFault.SEVERAL_MATTERS),
        (f"{MATTER_LINE}\n{DOCUMENT_LINE}\n{OTHER_LINE}\n{DOCUMENT_LINE}", MarkerFault.SEVERAL_MATTERS),
        (f"{MATTER_LINE}\n[CONTEXT]\nWhich law?", MarkerFault.SEVERAL_MATTERS),
        (f'[CONTEXT] Matter "A" (matter_id: {MATTER}) or "B" (matter_id: {OTHER})?', MarkerFault.SEVERAL_MATTERS),
        (
            f'[CONTEXT] The user has selected matter "x" (matter_id: {OTHER}).\ny" (matter_id: {MATTER}).\nWhich?',
            MarkerFault.SEVERAL_MATTERS,
        ),
        (f"{MATTER_LINE}\nThe user is currently viewing document\nWhich law?", MarkerFault.DOCUMENT),
        (f'{MATTER_LINE}\nThe user is currently viewing document "a.pdf" (document_id: ).', MarkerFault.DOCUMENT),
        (f"{MATTER_LINE}\n{DOCUMENT_LINE}\n{DOCUMENT_LINE}\nWhich law?", MarkerFault.DOCUMENT),
        (f'{MATTER_LINE} On view: "a.pdf" (document_id: {DOCUMENT}). Which law?', MarkerFault.DOCUMENT),
    ],
)
def test_what_has_no_reading_or_two_is_not_read_and_says_why(message: str, fault: MarkerFault) -> None:
    marked = parse_marker(message)
    assert (marked.context, marked.text, marked.fault) == (None, message, fault)


DISGUISED = [
    *["[ CONTEXT ]", "**[CONTEXT]**", "> [CONTEXT]", "\\[CONTEXT\\]", "［CONTEXT］", "[CONTEXT:]", "```\n[CONTEXT]"],
    *["[KONTEXT]", "[Contexte]", "[contexto]:", '"[CONTEXT]', "1. [CONTEXT]"],
]


@pytest.mark.parametrize("tag", DISGUISED)
def test_a_tag_in_another_form_is_not_taken_for_a_part_of_the_question(tag: str) -> None:
    for message in (MATTER_LINE.replace("[CONTEXT]", tag), f"{tag} matter: Smith", tag):
        assert parse_marker(f"{message}\nWhich law?").fault is MarkerFault.NO_MATTER


@pytest.mark.parametrize(
    "line",
    [
        MATTER_LINE.removeprefix("[CONTEXT] "),
        MATTER_LINE.replace("[CONTEXT]", "[CONTXT]"),
        MATTER_LINE.replace("[CONTEXT]", "&#91;CONTEXT&#93;"),
        MATTER_LINE.replace("[CONTEXT]", "User: [CON\u200bTEXT]"),
        MATTER_LINE.removeprefix("[CONTEXT] ").replace("matter_id:", "matter-id："),
        f'<context matter_id="{MATTER}">',
        f'{{"matterId": "{MATTER}"}}',
        DOCUMENT_LINE,
    ],
)
def test_a_first_line_with_an_id_is_not_taken_for_a_part_of_the_question(line: str) -> None:
    assert parse_marker(f"\n{line}\nWhich law?").fault is MarkerFault.NO_MATTER


@pytest.mark.parametrize(
    "message",
    [
        *["What does matter_id mean?", "matter_id: null?", "[Clause 5] Context?", "Context: we buy.", "In [context],"],
        *[f"Which law?\n(matter_id: {MATTER})", f"What is {MATTER}?"],
    ],
)
def test_a_message_without_a_marker_is_all_text(message: str) -> None:
    assert parse_marker(message) == MarkedMessage(None, message)


@given(matter=names, document=names, text=st.text(max_size=40))
def test_what_is_rendered_is_read_back_whatever_the_names_hold(matter: str, document: str, text: str) -> None:
    context = MatterContext(MATTER, matter, DOCUMENT, document)
    assert parse_marker(render_marker(context)).context == context
    assert parse_marker(f"{render_marker(context)}\nQ{text}").text == f"Q{text}".replace("\r\n", "\n")


PIECES = [
    *['"', " ", ".", "\n", "\\", "x", "(", ")", "[CONTEXT] ", f"(matter_id: {OTHER})", f"(document_id: {OTHER})"],
    *['" (matter_id: ', "The user has selected matter ", 'The user is currently viewing document "'],
]
hostile = st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@given(matter=hostile, document=hostile)
def test_no_name_can_change_the_ids(matter: str, document: str) -> None:
    context = parse_marker(render_marker(MatterContext(MATTER, matter, DOCUMENT, document))).context
    assert context is not None
    assert (context.matter_id, context.document_id) == (MATTER, DOCUMENT)


@given(
    matter=hostile,
    document=hostile | st.none(),
    separator=st.sampled_from(["\n", " ", "", "\n  "]),
    text=st.text(max_size=20) | st.sampled_from(['"Q"', 'See "B"', "Which law?"]),
)
def test_no_name_that_a_front_end_does_not_escape_can_change_the_ids(
    matter: str, document: str | None, separator: str, text: str
) -> None:
    message = f'[CONTEXT] The user has selected matter "{matter}" (matter_id: {MATTER}).{separator}'
    if document is not None:
        message += f'The user is currently viewing document "{document}" (document_id: {DOCUMENT}).{separator}'
    marked = parse_marker(message + text)
    if marked.context is None:
        assert marked.fault is not None
    else:
        read = (marked.context.matter_id, marked.context.document_id)
        assert read == (MATTER, "" if document is None else DOCUMENT)


@given(message=st.text(max_size=200) | hostile.map("[CONTEXT]".__add__))
def test_any_message_can_be_read(message: str) -> None:
    marked = parse_marker(message)
    begins = "[context]" in message.lower()
    assert (marked.context is None and marked.fault is None) or begins
    assert marked.context is None or marked.fault is None


def test_a_long_name_is_cut() -> None:
    marked = parse_marker(f'[CONTEXT] The user has selected matter "{"x" * 30_000}" (matter_id: {MATTER}). Which law?')
    assert marked.context == MatterContext(MATTER, "x" * MAX_NAME_CHARS)


@pytest.mark.parametrize(
    "message",
    [
        " " * 400_000 + "x",
        "[CONTEXT]" + " " * 400_000 + "x",
        "[CONTEXT] (matter_id:" + " " * 400_000 + "x",
        "[CONTEXT] " + "(matter_id: " * 40_000,
        "[CONTEXT] " + "(matter_id: 1) " * 40_000,
        "[CONTEXT] " + '"(matter_id: 1)' * 40_000,
        '[CONTEXT] The user has selected matter "' + "\\" * 400_000,
        '[CONTEXT] The user has selected matter "' + '\\" (matter_id: 1' * 40_000,
        "[CONTEXT] The user" + " " * 400_000 + "has",
        '[CONTEXT] "' + '" ' * 200_000 + f"(matter_id: {MATTER})",
        MATTER_LINE + " \n" * 200_000 + "x",
        f"{MATTER_LINE}\nThe user is currently viewing document" + " (document_id:" + " \t" * 200_000,
        f"{MATTER_LINE}\nThe user is currently viewing document" + ' "x" (document_id: 1) ' * 40_000,
        "**" * 200_000 + "x",
        "[" + " " * 400_000 + "x",
        "matter_id " * 40_000,
    ],
    ids=[
        *["blanks", "spaces", "id of spaces", "ids begun", "ids", "ids after quotes", "backslashes", "escapes"],
        *["phrase of spaces", "quotes", "lines", "document id of spaces", "documents"],
        *["stars", "tag of spaces", "keys"],
    ],
)
def test_no_message_takes_long_to_read(message: str) -> None:
    started = time.process_time()
    parse_marker(message)
    assert time.process_time() - started < 1
