"""The Go client against the real service: a chat, cuts, a restart, errors and an upload."""

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from proviso.v1 import matters_pb2
from tests.support.code_blocks import code_blocks
from tests.support.dropping_proxy import cutting_proxy
from tests.support.go_smoke import ROOT, GoModule, Line, Smoke, built_module, whole_turn
from tests.support.running import RunningService, chat_request, new_id, running_service
from tests.support.scripted_model import Call, Step, calls, text

pytestmark = pytest.mark.timeout(300)  # a first build, with nothing in Go's cache, takes a minute or more

ROUNDS = 50
LARGE_BYTES = 20 * 1024 * 1024

NO_PORT = 1
"""Nothing listens there."""

LEASE = """\
# 契約 Lease 😀

## 4. Caf\u00e9 naïvete\u0301 🏛️ Law

契約: this Lease 👩‍⚖️ is governed by the laws of the State of Oregon.
"""


def endless() -> Step:
    """A reply that goes on until its turn is cancelled."""
    return Step(["Wait "], hold_after=asyncio.Event())


async def until_token(printed: AsyncIterator[Line]) -> list[Line]:
    """What is printed up to the first token."""
    lines = [await anext(printed)]
    while lines[-1].get("kind") != "token":
        lines.append(await anext(printed))
    return lines


@pytest.fixture(scope="session")
def module(tmp_path_factory: pytest.TempPathFactory) -> GoModule:
    lock = tmp_path_factory.getbasetemp().parent / "go-build.lock"
    return built_module(tmp_path_factory.mktemp("go-client"), lock)


def test_the_module_is_formatted_vetted_and_passes_its_own_tests(module: GoModule) -> None:
    assert module.run("gofmt", "-l", "proviso", "smoke") == ""
    module.run("go", "vet", "./...")
    module.run("go", "test", "-count=1", "./proviso", "./smoke")
    module.run("go", "mod", "verify")


def test_the_go_of_the_documents_compiles(module: GoModule) -> None:
    [program] = code_blocks(ROOT / "clients" / "go" / "README.md", "go")
    module.write("readme/main.go", program)
    functions = code_blocks(ROOT / "docs" / "contract.md", "go")
    assert functions
    module.write("page/page.go", "\n".join(functions))
    module.run("go", "vet", "./readme", "./page")


async def test_an_answer_comes_with_its_tools_and_citations(module: GoModule, service: RunningService) -> None:
    matter_id = await service.create_matter(Lease=LEASE)
    smoke = Smoke(module.program, service.app.port)
    lines = await smoke.lines("chat", "-matter", matter_id, "-message", "What is the governing law of the lease?")
    final = whole_turn(lines)
    assert final["exit_reason"] == "EXIT_REASON_COMPLETED"
    assert final["text"] == final["message"]
    assert [line["tool"] for line in lines if line.get("kind") == "tool_start"]
    assert "State of Oregon" in final["citations"][0]["quote"]
    for citation in final["citations"]:
        assert citation["source"] == citation["quote"]
        assert citation["answer"].endswith("]")


async def test_fifty_cut_turns_end_with_every_event_once(module: GoModule, tmp_path: Path, models_dir: Path) -> None:
    words = [f"word{number} " for number in range(60)]
    script = [calls(Call("list_matter_documents")), text("I ", *words)] * ROUNDS
    chance = random.Random(7)  # noqa: S311
    async with running_service(tmp_path / "data", models_dir, *script, turns={"token_interval_s": 0}) as service:
        matter_id = await service.create_matter()
        async with cutting_proxy(service.app.port, lambda: chance.randint(100, 12_000)) as proxy:
            smoke = Smoke(module.program, proxy.port)
            lines = await smoke.lines("chat", "-matter", matter_id, "-message", "Hello", "-rounds", str(ROUNDS))
    assert proxy.drops >= ROUNDS
    for number in range(ROUNDS):
        final = whole_turn(lines, number)
        assert final["exit_reason"] == "EXIT_REASON_COMPLETED"
        assert final["text"] == final["message"] == "".join(["I ", *words])
    assert len({line["turn_id"] for line in lines if line["line"] == "event"}) == ROUNDS


async def test_a_turn_of_a_stopping_service_ends_and_the_next_is_run_by_its_successor(
    module: GoModule, tmp_path: Path, models_dir: Path
) -> None:
    async with AsyncExitStack() as stack:
        async with running_service(tmp_path / "data", models_dir, endless()) as first:
            port, matter_id = first.app.port, await first.create_matter()
            smoke = Smoke(module.program, port)
            asking = smoke.running("chat", "-matter", matter_id, "-message", "Hello", "-rounds", "2")
            printed = await stack.enter_async_context(asking)
            lines = await until_token(printed)
        script = text("Hello again.")
        await stack.enter_async_context(running_service(tmp_path / "data", models_dir, script, server={"port": port}))
        lines += [line async for line in printed]
    stopped, answered = whole_turn(lines), whole_turn(lines, 1)
    assert (stopped["exit_reason"], stopped["retryable"]) == ("EXIT_REASON_CANCELLED", "RETRYABLE_YES")
    assert answered["message"] == "Hello again."


async def test_a_turn_whose_service_was_replaced_out_of_sight_still_ends(
    module: GoModule, tmp_path: Path, models_dir: Path
) -> None:
    async with cutting_proxy(NO_PORT) as proxy, AsyncExitStack() as stack:
        async with running_service(tmp_path / "data", models_dir, endless()) as first:
            proxy.target_port, matter_id = first.app.port, await first.create_matter()
            asking = Smoke(module.program, proxy.port).running("chat", "-matter", matter_id, "-message", "Hello")
            printed = await stack.enter_async_context(asking)
            lines = await until_token(printed)
            proxy.target_port = NO_PORT
            await proxy.drop_all()
        second = await stack.enter_async_context(running_service(tmp_path / "data", models_dir, endless()))
        proxy.target_port = second.app.port
        lines += [line async for line in printed]
    *events, final = lines
    sequences = [event["sequence"] for event in events]
    assert sequences == sorted(set(sequences))  # with a gap: the events that nobody had read are lost with the service
    assert [event["kind"] for event in events].count("final_state") == 1
    assert events[-1]["kind"] == "final_state"
    assert (final["exit_reason"], final["message"]) == ("EXIT_REASON_CANCELLED", "")


async def test_a_deadline_ends_the_call(module: GoModule, tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, endless()) as service:
        smoke, matter_id = Smoke(module.program, service.app.port), await service.create_matter()
        lines = await smoke.lines("chat", "-matter", matter_id, "-message", "Hello", "-limit", "1s")
    assert lines[-1]["line"] == "failure"
    assert lines[-1]["code"] == "DeadlineExceeded"


async def test_every_violation_of_a_request_is_told(module: GoModule, service: RunningService) -> None:
    smoke = Smoke(module.program, service.app.port)
    [failure] = await smoke.lines("chat", "-message", "x" * 32_001, "-user", "u" * 129)
    assert (failure["code"], failure["reason"]) == ("InvalidArgument", "INVALID_REQUEST")
    assert {violation["Field"] for violation in failure["violations"]} == {"message", "user_id"}
    assert all(violation["Description"] for violation in failure["violations"])


async def test_a_busy_service_says_when_to_come_back(module: GoModule, tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, endless(), server={"max_turns_running": 1}) as service:
        first = service.chat.Chat(chat_request("Hello", await service.create_matter()))
        await anext(aiter(first))
        [failure] = await Smoke(module.program, service.app.port).lines("chat", "-message", "Hello")
        first.cancel()
    assert (failure["code"], failure["reason"]) == ("ResourceExhausted", "TOO_BUSY")
    assert failure["retry_delay_s"] == 1


async def test_what_is_not_there_is_named(module: GoModule, service: RunningService) -> None:
    turn_id = new_id()
    [failure] = await Smoke(module.program, service.app.port).lines("turn", "-id", turn_id)
    assert (failure["code"], failure["reason"]) == ("NotFound", "TURN_UNKNOWN")
    assert failure["resource_name"] == turn_id
    assert failure["resource_type"]


async def test_twenty_megabytes_are_uploaded(module: GoModule, service: RunningService, tmp_path: Path) -> None:
    matter_id = await service.create_matter()
    page = b"<html><body><p>The Tenant shall pay the rent.</p><!--"
    content = page + random.Random(7).randbytes(LARGE_BYTES // 2).hex().encode() + b"--></body></html>"  # noqa: S311
    path = tmp_path / "Large lease.html"
    await asyncio.to_thread(path.write_bytes, content)
    smoke = Smoke(module.program, service.app.port)
    [stored] = await smoke.lines("upload", "-matter", matter_id, "-file", str(path))
    assert stored["sha256"] == hashlib.sha256(content).hexdigest()
    assert stored["size_bytes"] == len(content) >= LARGE_BYTES
    [again] = await smoke.lines("upload", "-matter", matter_id, "-file", str(path))
    assert (stored["already_existed"], again["already_existed"]) == (False, True)
    [document] = await service.wait_until_ready(matter_id)
    assert document.status == matters_pb2.DOCUMENT_STATUS_READY
