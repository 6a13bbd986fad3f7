"""The Python of docs/contract.md does what the page says, against the real service."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from proviso_client import NO_RETRIES, Client, ProvisoError, Turn
from proviso_client.v1.chat_pb2 import AgentEvent, ChatRequest, Citation, FinalState, TurnStart
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from tests.support.code_blocks import code_blocks
from tests.support.cutting_proxy import cutting_proxy
from tests.support.running import RunningService, chat_request, final_of, running_service, text_of
from tests.support.scripted_chat_service import Reply, scripted_chat_service, turn_event
from tests.support.scripted_model import Call, Step, calls, text

PAGE = Path(__file__).parents[2] / "docs" / "contract.md"
WORDS = [f"Hello word{number}.\n" for number in range(200)]


@pytest.fixture
def page() -> dict[str, Any]:
    """The functions of the page, by name."""
    names: dict[str, Any] = {}
    exec("\n".join(code_blocks(PAGE, "python")), names)  # noqa: S102
    return names


def endless() -> Step:
    """A reply that goes on until its turn is cancelled."""
    return Step(["Please wait\n"], hold_after=asyncio.Event())


async def test_a_turn_is_asked_for_and_gone_on_with(page: dict[str, Any], tmp_path: Path, models_dir: Path) -> None:
    script = [calls(Call("list_matter_documents")), text(*WORDS)]
    async with running_service(tmp_path / "data", models_dir, *script) as service:
        final = await with_client(service, page["ask"], "Hello", await service.create_matter())
        turn_id = final.messages[-1].turn_id
        again = await with_client(service, page["go_on"], turn_id, 2)
    assert final.message == again.message == "".join(WORDS)


async def test_who_finds_the_session_busy_attaches_to_its_turn(
    page: dict[str, Any], tmp_path: Path, models_dir: Path
) -> None:
    loop, attached = asyncio.get_running_loop(), asyncio.Event()

    class Attaching(Client):
        def resume(self, *arguments: Any, **options: Any) -> Turn:
            loop.call_soon_threadsafe(attached.set)
            return super().resume(*arguments, **options)

    waiting = Step(["You are welcome."], hold_after=attached)
    async with running_service(tmp_path / "data", models_dir, waiting) as service:
        request = chat_request("Hello", await service.create_matter(), session_id="lease")
        turn_id = (await anext(aiter(service.chat.Chat(request)))).turn_id
        final = await with_client(service, page["ask_or_attach"], "And?", "lease", kind=Attaching)
    assert (final.message, final.messages[-1].turn_id) == ("You are welcome.", turn_id)


async def test_a_turn_is_cancelled(page: dict[str, Any], tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, endless()) as service:
        reading = aiter(service.chat.Chat(chat_request("Hello", await service.create_matter())))
        turn_id = (await anext(reading)).turn_id
        assert await with_client(service, page["cancel"], turn_id)
        assert not await with_client(service, page["cancel"], turn_id)


async def test_what_an_error_says_is_read(page: dict[str, Any], tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir, endless(), server={"max_turns_running": 1}) as service:
        await anext(aiter(service.chat.Chat(chat_request("Hello", await service.create_matter()))))
        busy = await with_client(service, failure_of, "Hello")
        invalid = await with_client(service, failure_of, "x" * 32_001)
    reason, when = page["explain"](busy)
    assert reason == "TOO_BUSY"
    assert 1 <= float(when.removeprefix("try again in ").removesuffix(" s")) <= 2
    reason, problem = page["explain"](invalid)
    assert (reason, problem.partition(": ")[0]) == ("INVALID_REQUEST", "message")


async def test_a_document_is_uploaded_with_its_progress(
    page: dict[str, Any], service: RunningService, tmp_path: Path
) -> None:
    path, told = tmp_path / "Lease.md", list[tuple[int, int | None]]()
    await asyncio.to_thread(path.write_text, "# Lease\n\nThe rent is USD 500.\n")
    matter_id = await service.create_matter()
    document = await with_client(service, page["upload"], matter_id, path, lambda *sent: told.append(sent))
    assert document.filename == "Lease.md"
    assert told[-1] == (document.size_bytes, document.size_bytes)


def test_a_quote_is_cut_out_of_a_text(page: dict[str, Any]) -> None:
    assert page["quoted"]("😀 契約 rent", Citation(start=2, end=4)) == "契約"


async def test_the_bare_stubs_follow_a_turn_through_cuts(
    page: dict[str, Any], tmp_path: Path, models_dir: Path
) -> None:
    script = [calls(Call("list_matter_documents")), text(*WORDS)]
    async with running_service(tmp_path / "data", models_dir, *script, turns={"token_interval_s": 0}) as service:
        request = chat_request("Hello", await service.create_matter())
        async with cutting_proxy(service.app.port) as proxy:
            proxy.cut_after([700, 1_500, 2_500])
            events = await asyncio.to_thread(followed, page["follow"], proxy.port, request)
    assert proxy.cuts_made == 3
    assert final_of(events).message == text_of(events) == "".join(WORDS)


async def test_the_bare_stubs_go_on_where_a_stream_ends_before_its_turn_and_give_up_in_the_end(
    page: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(page, "time", SimpleNamespace(sleep=lambda _: None))
    start, end = turn_event(1, turn_start=TurnStart()), turn_event(2, final_state=FinalState(message="Oregon"))
    async with scripted_chat_service(Reply([start]), Reply(), Reply([end]), *[Reply()] * 11) as service:
        port = int(service.target.rpartition(":")[2])
        events = await asyncio.to_thread(followed, page["follow"], port, ChatRequest(message="Hello"))
        assert final_of(events).message == "Oregon"
        with pytest.raises(ConnectionError):
            await asyncio.to_thread(followed, page["follow"], port, ChatRequest(message="Hello"))
        assert service.streams == []


async def with_client(
    service: RunningService, function: Callable[..., Any], *arguments: object, kind: type[Client] = Client
) -> Any:
    """What a function answers, given a client."""

    def run() -> Any:
        with kind(f"127.0.0.1:{service.app.port}", retries=NO_RETRIES) as client:
            return function(client, *arguments)

    return await asyncio.to_thread(run)


def failure_of(client: Client, message: str) -> ProvisoError:
    with pytest.raises(ProvisoError) as caught:
        client.chat(message).result()
    return caught.value


def followed(follow: Callable[..., Iterator[AgentEvent]], port: int, request: ChatRequest) -> list[AgentEvent]:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        return list(follow(ChatServiceStub(channel), request))
