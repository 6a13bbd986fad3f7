"""Every exit reason over the wire says what the table of exit semantics says, whoever asks.

tests/turns/test_exit_reasons.py compares that table with the comments of chat.proto, and tests/test_readme.py with the
README."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, turns_pb2
from proviso_service.turns import ExitCause, ExitReason, semantics_of
from tests.contract.conftest import NewStorage
from tests.support.contract_world import (
    GROUNDED,
    LIST,
    SEARCH,
    SIX_STEPS,
    UNKNOWN,
    ContractWorld,
    EndedTurn,
    Mode,
    contract_world,
    held_for_ever,
)
from tests.support.running import cause_of
from tests.support.scripted_model import Step, calls, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITED = Step(
    error=httpx.HTTPStatusError("no", request=httpx.Request("POST", "http://m.invalid/"), response=httpx.Response(429))
)
MANY_TOKENS = text(*["Which? "] * 200)

SCRIPTS: dict[ExitReason, tuple[Step, ...]] = {
    ExitReason.COMPLETED: (calls(SEARCH), text(GROUNDED)),
    ExitReason.MAX_TURNS_REACHED: SIX_STEPS,
    ExitReason.MAX_TOOL_CALLS_REACHED: (calls(LIST, LIST, LIST, LIST), text("There is one document.")),
    ExitReason.MAX_CONTEXT_REACHED: (),
    ExitReason.EMPTY_INPUT: (),
    ExitReason.RATE_LIMITED: (LIMITED, LIMITED, LIMITED),
    ExitReason.LLM_ERROR: (Step(["Well, "], error=ValueError()),),
    ExitReason.LLM_GENERATION_FAILURE: (Step(), Step()),
    ExitReason.INVALID_TOOL_CALL: (calls(UNKNOWN), calls(UNKNOWN)),
    ExitReason.CANCELLED: (Step(["Well, "], hold_after=asyncio.Event()),),
    ExitReason.DEADLINE_EXCEEDED: (held_for_ever(),),
    ExitReason.INTERNAL_ERROR: (MANY_TOKENS,),
}
CAUSES = {
    ExitReason.MAX_CONTEXT_REACHED: ExitCause.MESSAGE_TOO_LONG,
    ExitReason.LLM_GENERATION_FAILURE: ExitCause.EMPTY,
    ExitReason.CANCELLED: ExitCause.CANCELLED_BY_CALLER,
}
MESSAGES = {ExitReason.EMPTY_INPUT: " ", ExitReason.MAX_CONTEXT_REACHED: "x" * 12_001}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def narrow(
    tmp_path_factory: pytest.TempPathFactory, models_dir: Path, new_storage: NewStorage
) -> AsyncIterator[ContractWorld]:
    """With little time for a turn, and little room for its events."""
    data_dir = tmp_path_factory.mktemp("narrow") / "data"
    limits = {"time_limit_s": 1.5, "log_max_events": 100}
    with new_storage() as storage:
        async with contract_world(data_dir, models_dir, storage, **limits) as running:
            yield running


def limit_in(message: str) -> dict[str, str]:
    """The number of characters that a message too long may have, where the message tells it."""
    return {"limit": found[0]} if (found := re.findall(r"at most (\d+) characters", message)) else {}


async def cancel(world: ContractWorld, request_id: str) -> None:
    """Cancels the turn of a request once its model is at work."""
    await world.model.held.wait()
    attached = world.other.chat.Chat(world.request(request_id=request_id))
    started = await anext(aiter(attached))
    await world.other.chat.CancelTurn(chat_pb2.CancelTurnRequest(turn_id=started.turn_id))


async def reach(reason: ExitReason, world: ContractWorld, mode: Mode) -> EndedTurn:
    request_id = f"{reason}-{mode}"
    message = MESSAGES.get(reason, "Hello")
    turn = asyncio.create_task(
        world.ask(*SCRIPTS[reason], mode=mode, message=message, request_id=request_id), name=request_id
    )
    if reason is ExitReason.CANCELLED:
        await cancel(world, request_id)
    return await turn


@pytest.mark.parametrize("reason", ExitReason)
async def test_every_reason_says_over_the_wire_what_the_table_says(
    world: ContractWorld, narrow: ContractWorld, mode: Mode, reason: ExitReason
) -> None:
    in_need = reason in {ExitReason.DEADLINE_EXCEEDED, ExitReason.INTERNAL_ERROR}
    turn = await reach(reason, narrow if in_need else world, mode)
    semantics, final = semantics_of(reason, CAUSES.get(reason)), turn.final
    assert turns_pb2.ExitReason.Name(final.exit_reason) == f"EXIT_REASON_{reason.name}"
    assert chat_pb2.Retryable.Name(final.retryable) == f"RETRYABLE_{semantics.retryable.name}"
    assert final.display_message is semantics.display_message
    assert cause_of(final) is CAUSES.get(reason)
    answered = reason in {ExitReason.COMPLETED, ExitReason.MAX_TOOL_CALLS_REACHED}
    assert final.message == (turn.standing_text if answered else semantics.text("en", **limit_in(final.message)))
    assert bool(final.message) is final.display_message
    # A full log has no room for the event that voids a text: there the message replaces what was sent.
    assert turn.standing_text in ("", final.message) or reason is ExitReason.INTERNAL_ERROR
