"""The [CONTEXT] marker."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.context.marker import parse_marker, render_marker
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
        ("[CONTEXT] what does this mean?", None, "[CONTEXT] what does this mean?"),
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


@given(matter=names, document=names, text=st.text(max_size=40))
def test_what_is_rendered_is_read_back_whatever_the_names_hold(matter: str, document: str, text: str) -> None:
    context = MatterContext(MATTER, matter, DOCUMENT, document)
    assert parse_marker(render_marker(context)).context == context


@given(name=st.text(max_size=80))
def test_no_name_can_change_the_ids(name: str) -> None:
    context = parse_marker(render_marker(MatterContext(MATTER, name, DOCUMENT, name))).context
    assert context is not None
    assert (context.matter_id, context.document_id) == (MATTER, DOCUMENT)


@given(message=st.text(max_size=200))
def test_any_message_can_be_read(message: str) -> None:
    assert parse_marker(message).context is None or message.lstrip().startswith("[CONTEXT]")


@pytest.mark.parametrize(
    "message",
    [
        "[CONTEXT]" + " " * 20_000 + "x",
        "[CONTEXT] (matter_id:" + " " * 2_000 + "x",
        "[CONTEXT] " + "(matter_id: " * 2_000,
        "[CONTEXT] " + "(matter_id: 1) " * 2_000,
        f"{MATTER_LINE}\nThe user is currently viewing document" + " (document_id:" + " \t" * 1_000,
    ],
    ids=["spaces", "id of spaces", "ids begun", "ids", "document id of spaces"],
)
def test_no_message_takes_long_to_read(message: str) -> None:
    started = time.process_time()
    parse_marker(message)
    assert time.process_time() - started < 1
