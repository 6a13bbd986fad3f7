"""A turn's outcome says which references its answer used."""

from datetime import UTC, datetime

import pytest

from proviso_service.agent.outcome import make_outcome
from proviso_service.agent.request_context import SelectedItems
from proviso_service.agent.state import TurnMemory
from proviso_service.context.model import (
    ContextFill,
    IncludeMode,
    ItemRef,
    ItemType,
    NewSession,
    RequestContext,
    RequestItem,
)
from proviso_service.turns import ExitReason, TurnOutcome

STYLE = RequestItem(ItemRef(ItemType.REFERENCE, "House style"), IncludeMode.ALWAYS, content_sha256="ab")
FEES = RequestItem(ItemRef(ItemType.REFERENCE, "Fees"), IncludeMode.ALWAYS, content_sha256="cd")
CONTENTS = {"ab": "We write plain English.", "cd": "An hour costs EUR 300."}


def ended(reason: ExitReason, answer: str, contents: dict[str, str] | None = None) -> TurnOutcome:
    context = RequestContext((STYLE, FEES), (), None, (), ContextFill(0, 12_000), datetime(2026, 1, 2, tzinfo=UTC))
    memory = TurnMemory(
        text="How do we write?", items=SelectedItems(contents=contents or {}), request_context=context, answer=answer
    )
    return make_outcome(reason, None, memory, turn_id="turn-1", new_session=NewSession(), duration_s=0.5)


def cited(outcome: TurnOutcome) -> list[str]:
    context = outcome.final_state.request_context
    assert context is not None
    return [item.ref.name for item in context.items if item.cited]


@pytest.mark.parametrize(
    ("answer", "names"),
    [("“We write plain English.”", ["House style"]), ("EUR 300 [fees].", ["Fees"]), ("Plainly.", [])],
)
def test_what_the_answer_quotes_or_names_is_stored_as_cited(answer: str, names: list[str]) -> None:
    outcome = ended(ExitReason.COMPLETED, answer, CONTENTS)
    assert cited(outcome) == names
    assert outcome.new_messages[-1].request_context == outcome.final_state.request_context


def test_without_contents_a_reference_can_still_be_named() -> None:
    assert cited(ended(ExitReason.COMPLETED, "“We write plain English.” [Fees]")) == ["Fees"]


def test_a_text_that_was_not_displayed_cites_nothing() -> None:
    assert cited(ended(ExitReason.LLM_ERROR, "“We write plain English.”", CONTENTS)) == []
