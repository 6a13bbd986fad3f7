"""The Python of docs/contract.md does what the page says, against the real service."""

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo  # type: ignore[import-untyped]
from grpc_status import rpc_status

from proviso.v1.chat_pb2 import AgentEvent, CancelTurnRequest, ChatRequest, ResumeChatRequest
from proviso.v1.chat_pb2_grpc import ChatServiceStub
from tests.support.code_blocks import code_blocks
from tests.support.dropping_proxy import cutting_proxy
from tests.support.running import chat_request, final_of, running_service, text_of
from tests.support.scripted_model import Call, Step, calls, text

PAGE = Path(__file__).parents[2] / "docs" / "contract.md"
IMPORTS = (
    AgentEvent, BadRequest, CancelTurnRequest, ChatRequest, ChatServiceStub, ErrorInfo, Iterator, ResumeChatRequest,
    RetryInfo, grpc, random, rpc_status, time, uuid4,
)  # fmt: skip
"""What the page's functions take for imported."""


@pytest.fixture
def page() -> dict[str, Any]:
    """The functions of the page, by name."""
    names = {thing.__name__.rpartition(".")[2]: thing for thing in IMPORTS}
    exec("\n".join(code_blocks(PAGE, "python")), names)  # noqa: S102
    return names


async def test_a_turn_is_followed_through_cuts(page: dict[str, Any], tmp_path: Path, models_dir: Path) -> None:
    words = [f"word{number} " for number in range(200)]
    allowances = iter([700, 1_500, 2_500])
    script = [calls(Call("list_matter_documents")), text("I ", *words)]
    settings = {"token_interval_s": 0}
    async with running_service(tmp_path / "data", models_dir, *script, turns=settings) as service:
        request = chat_request("Hello", await service.create_matter())
        async with cutting_proxy(service.app.port, lambda: next(allowances, 1 << 30)) as proxy:
            events = await asyncio.to_thread(call, proxy.port, partial(all_of, page["follow"]), request)
    assert proxy.drops == 3
    assert final_of(events).message == text_of(events) == "".join(["I ", *words])


async def test_a_turn_is_cancelled(page: dict[str, Any], tmp_path: Path, models_dir: Path) -> None:
    endless = Step(["Wait "], hold_after=asyncio.Event())
    async with running_service(tmp_path / "data", models_dir, endless) as service:
        reading = aiter(service.chat.Chat(chat_request("Hello", await service.create_matter())))
        turn_id = (await anext(reading)).turn_id
        assert await asyncio.to_thread(call, service.app.port, page["stop"], turn_id)
        assert not await asyncio.to_thread(call, service.app.port, page["stop"], turn_id)


async def test_the_details_of_an_error_are_read(page: dict[str, Any], tmp_path: Path, models_dir: Path) -> None:
    endless = Step(["Wait "], hold_after=asyncio.Event())
    async with running_service(tmp_path / "data", models_dir, endless, server={"max_turns_running": 1}) as service:
        request = chat_request("Hello", await service.create_matter())
        running = aiter(service.chat.Chat(request))
        await anext(running)
        busy = await asyncio.to_thread(call, service.app.port, failure_of, request)
        invalid = await asyncio.to_thread(call, service.app.port, failure_of, ChatRequest(message="x" * 32_001))
    assert page["explain"](busy) == ("TOO_BUSY", ["try again in 0:00:01"])
    reason, problems = page["explain"](invalid)
    assert reason == "INVALID_REQUEST"
    assert problems[0].startswith("message: ")


def call(port: int, function: Callable[[ChatServiceStub, Any], Any], argument: object) -> Any:
    """What a function answers, given a stub."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        return function(ChatServiceStub(channel), argument)


def all_of(
    follow: Callable[..., Iterator[AgentEvent]], chat: ChatServiceStub, request: ChatRequest
) -> list[AgentEvent]:
    return list(follow(chat, request))


def failure_of(chat: ChatServiceStub, request: ChatRequest) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as caught:
        list(chat.Chat(request))
    return caught.value
