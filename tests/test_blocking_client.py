"""The service called by blocking code, through the fixtures of pytest-grpc over a real port."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import chat_pb2, matters_pb2, matters_pb2_grpc
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from tests.support.running import chat_request, running_service


@pytest.fixture(scope="module")
def grpc_addr(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[str]:
    """Address of the whole service, which runs in a thread with an event loop of its own."""
    address: list[str] = []
    serving, finished = threading.Event(), threading.Event()

    async def serve() -> None:
        async with running_service(tmp_path_factory.mktemp("blocking") / "data", models_dir) as service:
            address.append(f"127.0.0.1:{service.app.port}")
            serving.set()
            await asyncio.to_thread(finished.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert serving.wait(60)
    yield address[0]
    finished.set()
    thread.join(60)


@pytest.fixture(scope="module")
def grpc_server(grpc_addr: str) -> str:
    """The server is there already; pytest-grpc need not make one."""
    return grpc_addr


@pytest.fixture(scope="module")
def grpc_stub_cls() -> Callable[[grpc.Channel], Any]:
    return matters_pb2_grpc.MatterServiceStub


def test_a_blocking_stub_makes_a_matter_and_finds_it_again(grpc_stub: "matters_pb2_grpc.MatterServiceStub") -> None:
    made = grpc_stub.CreateMatter(matters_pb2.CreateMatterRequest(name="Blocking"), timeout=10).matter
    listed = grpc_stub.ListMatters(matters_pb2.ListMattersRequest(name="Blocking"), timeout=10)
    assert [matter.matter_id for matter in listed.matters] == [made.matter_id]


def test_a_blocking_stream_ends_with_the_final_state(grpc_channel: grpc.Channel) -> None:
    events = list(ChatServiceStub(grpc_channel).Chat(chat_request("Hello"), timeout=10))
    assert events[-1].final_state.context_problem == chat_pb2.CONTEXT_PROBLEM_MATTER_REQUIRED


def test_a_refusal_reaches_blocking_code_with_its_code(grpc_stub: "matters_pb2_grpc.MatterServiceStub") -> None:
    with pytest.raises(grpc.RpcError, match=r"StatusCode\.INVALID_ARGUMENT"):
        grpc_stub.CreateMatter(matters_pb2.CreateMatterRequest(), timeout=10)
