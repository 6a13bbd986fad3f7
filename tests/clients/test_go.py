"""The Go client against the real service: a chat, cuts, a restart, a decision, errors and an upload."""

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

from proviso_client.v1 import chat_pb2, matters_pb2, turns_pb2
from tests.support.cutting_proxy import cutting_proxy
from tests.support.go_smoke import BUILD_LIMIT_S, GoModule, Line, Smoke, whole_turn
from tests.support.marked_tools import needing_approval
from tests.support.running import RunningService, chat_request, new_id, running_service
from tests.support.scripted_model import Call, Step, calls, text
from tests.support.stage import Stage, stage

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(BUILD_LIMIT_S + 30),  # a first build, with nothing in Go's cache
]

READERS = 5
ROUNDS = 50
LARGE_BYTES = 20 * 1024 * 1024
TOOL = "list_matter_documents"
PATIENT = ("-tries", "1000", "-limit", "10m")

NO_PORT = 1
"""Nothing listens there."""

LEASE = """\
# 契約 Lease 😀

## 4. Caf\u00e9 naïvete\u0301 🏛️ Law

契約: this Lease 👩‍⚖️ is governed by the laws of the State of Oregon.
"""


def endless() -> Step:
    """A reply that goes on until its turn is cancelled."""
    return Step(["Please wait\n"], hold_after=asyncio.Event())


async def until(printed: AsyncIterator[Line], kind: str) -> list[Line]:
    """What is printed up to the first event of a kind."""
    lines = [await anext(printed)]
    while lines[-1].get("kind") != kind:
        lines.append(await anext(printed))
    return lines


async def test_an_answer_comes_with_its_tools_and_citations(go_module: GoModule, staged: Stage) -> None:
    question, quote = f"契約? {uuid4()}", "this Lease 👩‍⚖️ is governed by the laws of the State of Oregon"
    staged.play(question, calls(Call("isaacus_search", '{"query": "governing law"}')), text(f"契約 😀: “{quote}” [1]."))
    matter_id = await staged.service.create_matter(Lease=LEASE)
    lines = await Smoke(go_module.program, staged.port).lines("chat", "-matter", matter_id, "-message", question)
    final = whole_turn(lines)
    assert final["exit_reason"] == "EXIT_REASON_COMPLETED"
    assert final["text"] == final["message"] == f"契約 😀: “{quote}” [1]."
    assert [line["tool"] for line in lines if line.get("kind") == "tool_start"] == ["isaacus_search"]
    [citation] = final["citations"]
    assert citation["quote"] == citation["source"] == quote
    assert citation["answer"] == f"“{quote}” [1]"


async def test_fifty_cut_turns_end_with_every_event_once(
    go_module: GoModule, tmp_path: Path, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proviso_service.turns.turn.JOINED_MAX_CHARS", 1)  # turns of many bytes, however busy it is
    words = [f"Hello word{number}.\n" for number in range(60)]
    chance = random.Random(7)  # noqa: S311
    settings = {"token_interval_s": 0}
    async with stage(tmp_path, models_dir, turns=settings) as cut, cutting_proxy(cut.port) as proxy:
        proxy.cut_after(chance.randint(100, 9_000) for _ in count())

        async def ask(question: str) -> list[Line]:
            cut.play(question, *[calls(Call(TOOL)), text(*words)] * (ROUNDS // READERS))
            asking = ("chat", "-matter", cut.matter_id, "-message", question, "-rounds", str(ROUNDS // READERS))
            return await Smoke(go_module.program, proxy.port).lines(*asking, *PATIENT)

        printed = await asyncio.gather(*(ask(f"Question {number}?") for number in range(READERS)))
    assert proxy.cuts_made >= ROUNDS
    for lines in printed:
        for number in range(ROUNDS // READERS):
            final = whole_turn(lines, number)
            assert final["exit_reason"] == "EXIT_REASON_COMPLETED"
            assert final["text"] == final["message"] == "".join(words)
    assert len({line["turn_id"] for lines in printed for line in lines if line["line"] == "event"}) == ROUNDS


async def test_a_turn_of_a_stopping_service_is_gone_on_with_by_its_successor_and_so_is_the_next(
    go_module: GoModule, tmp_path: Path, models_dir: Path
) -> None:
    async with cutting_proxy(NO_PORT) as proxy, AsyncExitStack() as stack:
        async with running_service(tmp_path, models_dir, endless()) as first:
            proxy.service_port = first.app.port
            asking = ("chat", "-matter", await first.create_matter(), "-message", "Hello", "-rounds", "2", *PATIENT)
            printed = await stack.enter_async_context(Smoke(go_module.program, proxy.port).running(*asking))
            lines = await until(printed, "token")
        second = await stack.enter_async_context(running_service(tmp_path, models_dir, *[text("Hello again.")] * 2))
        proxy.service_port = second.app.port
        lines += [line async for line in printed]
    for round_number in range(2):
        final = whole_turn(lines, round_number)
        assert (final["exit_reason"], final["message"]) == ("EXIT_REASON_COMPLETED", "Hello again.")


async def test_a_turn_whose_service_was_replaced_out_of_sight_is_read_on(
    go_module: GoModule, tmp_path: Path, models_dir: Path
) -> None:
    async with cutting_proxy(NO_PORT) as proxy, AsyncExitStack() as stack:
        async with running_service(tmp_path, models_dir, endless()) as first:
            proxy.service_port = first.app.port
            asking = ("chat", "-matter", await first.create_matter(), "-message", "Hello", *PATIENT)
            printed = await stack.enter_async_context(Smoke(go_module.program, proxy.port).running(*asking))
            lines = await until(printed, "token")
            proxy.service_port = NO_PORT
            await proxy.connections.break_all()
        second = await stack.enter_async_context(running_service(tmp_path, models_dir, text("You are welcome.")))
        proxy.service_port = second.app.port
        lines += [line async for line in printed]
    final = whole_turn(lines)
    assert (final["exit_reason"], final["message"]) == ("EXIT_REASON_COMPLETED", "You are welcome.")


async def test_a_turn_that_waits_for_a_decision_is_read_on_after_a_restart(
    go_module: GoModule, tmp_path: Path, models_dir: Path
) -> None:
    async with cutting_proxy(NO_PORT) as proxy, AsyncExitStack() as stack:
        with needing_approval(TOOL):
            async with running_service(tmp_path, models_dir, calls(Call(TOOL))) as first:
                proxy.service_port = first.app.port
                asking = ("chat", "-matter", await first.create_matter(), "-message", "What is there?", *PATIENT)
                printed = await stack.enter_async_context(Smoke(go_module.program, proxy.port).running(*asking))
                lines = await until(printed, "approval_required")
            second = await stack.enter_async_context(running_service(tmp_path, models_dir, text("You are welcome.")))
            proxy.service_port = second.app.port
            await approve(second, lines[-1]["turn_id"])
            lines += [line async for line in printed]
    final = whole_turn(lines)
    assert [line["tool"] for line in lines if line.get("kind") == "tool_start"] == [TOOL]
    assert (final["exit_reason"], final["message"]) == ("EXIT_REASON_COMPLETED", "You are welcome.")


async def approve(service: RunningService, turn_id: str) -> None:
    """Allows the one call that a turn waits for."""
    [waiting] = (await service.chat.GetTurn(chat_pb2.GetTurnRequest(turn_id=turn_id))).pending_approvals
    decision = chat_pb2.DecideToolCallRequest(
        turn_id=turn_id, call_id=waiting.call_id, decision=turns_pb2.TOOL_CALL_DECISION_APPROVE_ONCE
    )
    await service.chat.DecideToolCall(decision)


async def test_a_deadline_ends_the_call(go_module: GoModule, staged: Stage) -> None:
    question = f"What about {uuid4()}?"
    staged.held(question)
    asking = ("chat", "-matter", staged.matter_id, "-message", question, "-limit", "500ms")
    lines = await Smoke(go_module.program, staged.port).lines(*asking)
    assert lines[-1]["line"] == "failure"
    assert lines[-1]["code"] == "DeadlineExceeded"


async def test_every_violation_of_a_request_is_told(go_module: GoModule, staged: Stage) -> None:
    smoke = Smoke(go_module.program, staged.port)
    [failure] = await smoke.lines("chat", "-message", "x" * 32_001, "-user", "u" * 129)
    assert (failure["code"], failure["reason"]) == ("InvalidArgument", "INVALID_REQUEST")
    assert {violation["Field"] for violation in failure["violations"]} == {"message", "user_id"}
    assert all(violation["Description"] for violation in failure["violations"])


async def test_a_busy_service_says_when_to_come_back(go_module: GoModule, tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, endless(), server={"max_turns_running": 1}) as service:
        first = service.chat.Chat(chat_request("Hello", await service.create_matter()))
        await anext(aiter(first))
        smoke = Smoke(go_module.program, service.app.port)
        [failure] = await smoke.lines("chat", "-message", "Hello", "-tries", "0")
        first.cancel()
    assert (failure["code"], failure["reason"]) == ("ResourceExhausted", "TOO_BUSY")
    assert 1 <= failure["retry_delay_s"] <= 2


async def test_what_is_not_there_is_named(go_module: GoModule, staged: Stage) -> None:
    turn_id = new_id()
    [failure] = await Smoke(go_module.program, staged.port).lines("turn", "-id", turn_id)
    assert (failure["code"], failure["reason"]) == ("NotFound", "TURN_UNKNOWN")
    assert failure["resource_name"] == turn_id
    assert failure["resource_type"]


async def test_twenty_megabytes_are_uploaded(go_module: GoModule, staged: Stage, tmp_path: Path) -> None:
    matter_id = await staged.service.create_matter()
    page = b"<html><body><p>The Tenant shall pay the rent.</p><!--"
    content = page + random.Random(7).randbytes(LARGE_BYTES // 2).hex().encode() + b"--></body></html>"  # noqa: S311
    path = tmp_path / "Large lease.html"
    await asyncio.to_thread(path.write_bytes, content)
    smoke = Smoke(go_module.program, staged.port)
    [stored] = await smoke.lines("upload", "-matter", matter_id, "-file", str(path))
    assert stored["sha256"] == hashlib.sha256(content).hexdigest()
    assert stored["size_bytes"] == len(content) >= LARGE_BYTES
    [again] = await smoke.lines("upload", "-matter", matter_id, "-file", str(path))
    assert (stored["already_existed"], again["already_existed"]) == (False, True)
    [document] = await staged.service.wait_until_ready(matter_id)
    assert document.status == matters_pb2.DOCUMENT_STATUS_READY
