"""What a model server does wrong: which calls are made again, and what a caller is told."""

import asyncio
import json
import logging
import ssl
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from proviso_service.errors import ModelApiError, ModelApiRefused, ModelApiUnavailable
from proviso_service.models import ModelBusy, ModelClosed, ModelPassage
from tests.backends.model_server.conftest import TeiWorld
from tests.support.hosted_api import Fault, Reply, cut_off, hangs_up, says, serving
from tests.support.tei_server import KEY, TeiServer, overloaded, rejects, unhealthy
from tests.support.tls_files import TlsAuthority

PASSAGES = [ModelPassage("The fees are due."), ModelPassage("The lease ends.")]
NLI = ("entailment", "other")
NAME = "Zebulon"

Ask = Callable[[], Awaitable[Any]]


def answers(change: Callable[[Any], Any]) -> Fault:
    """The good answer, made into another."""

    def fault(reply: Reply) -> Reply:
        return Reply(200, json.dumps(change(json.loads(reply.body))).encode())

    return fault


async def told(asking: Awaitable[Any]) -> ModelApiError:
    with pytest.raises(ModelApiError) as caught:
        await asking
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize(
    "fault", [overloaded(), unhealthy(), rejects(424, "Inference failed"), says(b"", 502), hangs_up, cut_off]
)
async def test_what_may_pass_is_tried_again(world: TeiWorld, fault: Fault) -> None:
    server = await world.server()
    embedder = await world.embedder(server, retry_base_s=1.0)
    server.then(fault, fault)
    await embedder.embed_query("a clause")
    first, second = world.waits
    assert first <= 1.0
    assert second <= 2.0


async def test_a_wait_that_the_server_asks_for_is_kept(world: TeiWorld) -> None:
    server = await world.server()
    embedder = await world.embedder(server, retry_base_s=0.1)
    server.then(overloaded(retry_after="7"))
    await embedder.embed_query("a clause")
    [asked] = world.waits
    assert 7.0 <= asked <= 7.1


async def test_retries_end_with_the_limit_of_all_together(world: TeiWorld) -> None:
    server = await world.server()
    embedder = await world.embedder(server, total_s=30.0, timeout_s=20.0)
    server.then(overloaded(retry_after="11"))
    failure = await told(embedder.embed_query("a clause"))
    assert isinstance(failure, ModelApiUnavailable)
    assert (failure.message, failure.retry_after_s) == ("Model server API error: Too Many Requests (status 429)", 11.0)
    assert world.waits == []


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "; check the key in its address"), (404, "; check its address"), (307, "; check its address"), (422, "")],
)
async def test_what_somebody_has_to_mend_is_not_tried_again(world: TeiWorld, status: int, hint: str) -> None:
    server = await world.server()
    embedder = await world.embedder(server)
    server.then(says(b"", status, location="/elsewhere"))
    failure = await told(embedder.embed_query("a clause"))
    assert isinstance(failure, ModelApiRefused)
    assert failure.message.endswith(f"(status {status}){hint}")
    assert world.waits == []


async def test_a_slow_server_is_given_up(world: TeiWorld) -> None:
    server = await world.server()
    embedder = await world.embedder(server, timeout_s=1.0, retries=1)
    world.waits.clear()
    server.shut()
    failure = await told(embedder.embed_query("a clause"))
    assert failure.message == "Model server API error: no answer within 1 s"
    assert len(world.waits) == 1


async def test_certificates_are_checked(world: TeiWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = TlsAuthority(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*authority.server())
    server = await world.stack.enter_async_context(serving(TeiServer("embedding", (), {}), tls))
    address = server.address().replace("http:", "https:")
    failure = await told(world.client(address, retries=0).info())
    assert failure.message == "Model server API error: the connection failed"
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
    assert (await world.client(address, retries=0).info()).model_id == "proviso/embedding"


async def test_calls_at_once_are_bounded_and_a_search_has_a_place(world: TeiWorld) -> None:
    server = await world.server()
    server.most_texts = 1
    embedder = await world.embedder(server, calls_at_once=3)
    server.shut()
    documents = asyncio.create_task(embedder.embed_documents(["clause"] * 9))
    await server.until_running(2)
    query = asyncio.create_task(embedder.embed_query("a clause"))
    await server.until_running(3)
    server.open()
    await asyncio.gather(documents, query)
    assert server.most_running == 3


async def test_too_many_waiting_calls_are_refused(world: TeiWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proviso_service.backends.hosted_calls.MAX_WAITING", 1)
    server = await world.server()
    embedder = await world.embedder(server, calls_at_once=1)
    server.shut()
    running = [asyncio.create_task(embedder.embed_query("a clause")) for _ in range(2)]
    await server.until_running(1)
    with pytest.raises(ModelBusy, match="waiting for the models of Model server"):
        await embedder.embed_query("a clause")
    server.open()
    await asyncio.gather(*running, return_exceptions=True)


async def test_a_closed_client_refuses_calls(world: TeiWorld) -> None:
    server = await world.server()
    client = world.client(server.address())
    await client.close()
    with pytest.raises(ModelClosed):
        await client.info()


def another_size(body: Any) -> Any:
    return [vector[:-1] for vector in body]


def zeros(body: Any) -> Any:
    return [[0.0] * len(vector) for vector in body]


def infinite(body: Any) -> Any:
    return [[1e999] * len(vector) for vector in body]


@pytest.mark.parametrize("spoil", [another_size, zeros, infinite, lambda body: body[1:], lambda body: [*body, body[0]]])
async def test_embeddings_that_cannot_be_are_no_result(world: TeiWorld, spoil: Callable[[Any], Any]) -> None:
    server = await world.server()
    embedder = await world.embedder(server)
    server.always("embed", answers(spoil))
    for asking in (embedder.embed_query("a clause"), embedder.embed_documents(["a clause", "another"])):
        assert "the answer cannot be used" in (await told(asking)).message


@pytest.mark.parametrize(
    ("kind", "path", "spoil"),
    [
        ("reranker", "rerank", lambda body: body[1:]),
        ("reranker", "rerank", lambda body: [body[0], body[0]]),
        ("reranker", "rerank", lambda body: [{"index": 0, "score": 1.5}, {"index": 1, "score": 0.5}]),
        ("reranker", "rerank", lambda body: [{"index": 0, "score": float("nan")}, {"index": 1, "score": 0.5}]),
        ("classifier", "predict", lambda body: body[1:]),
        ("classifier", "predict", lambda body: [body[0], []]),
        ("classifier", "predict", lambda body: [body[0] * 2, []]),
        ("classifier", "predict", lambda body: [[one | {"score": -0.1} for one in found] for found in body]),
    ],
)
async def test_scores_that_cannot_be_are_no_result(
    world: TeiWorld, kind: str, path: str, spoil: Callable[[Any], Any]
) -> None:
    server = await world.server(kind, NLI)
    classifier = await world.classifier(server)
    server.always(path, answers(spoil))
    failure = await told(classifier.score("fees are due", PASSAGES))
    assert isinstance(failure, ModelApiUnavailable)
    assert "the answer cannot be used" in failure.message


@pytest.mark.parametrize("body", [b"", b"{", b"[]x", b"null", b"{}", b"\xff", b"<html></html>", b'[["1"]]'])
@pytest.mark.parametrize("model", ["", "proviso/embedding"])
async def test_what_is_no_answer_is_not_read(world: TeiWorld, model: str, body: bytes) -> None:
    server = await world.server()
    embedder = await world.embedder(server, model)
    server.then(says(body))
    failure = await told(embedder.embed_query("a clause"))
    assert failure.message == "Model server API error: the answer cannot be used: it is malformed"


async def test_an_answer_that_is_too_large_is_not_read(world: TeiWorld) -> None:
    server = await world.server()
    embedder = await world.embedder(server, max_answer_bytes=5_000)
    server.then(says(b"[" + b" " * 5_000))
    failure = await told(embedder.embed_query("a clause"))
    assert failure.message == "Model server API error: the answer cannot be used: it is too large"


async def test_logs_and_errors_hold_neither_key_nor_texts(world: TeiWorld, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = await world.server()
    embedder = await world.embedder(server, retries=1)
    printed: list[str] = []
    faults = [rejects(422, f"{NAME} {KEY}"), unhealthy(), hangs_up, cut_off, says(NAME.encode())]
    with capture_logs() as own:
        for fault in faults:
            server.always("embed", fault)
            with pytest.raises(ModelApiError) as caught:
                await embedder.embed_query(NAME)
            printed += traceback.format_exception(caught.value)
        server.always("embed", lambda reply: reply)
        await embedder.embed_query(f"{NAME} pays")
    assert [event["event"] for event in own] == ["model_server_call_failed"] * len(faults) + ["model_server_call"]
    assert {**own[-1], "seconds": 0} == {
        "event": "model_server_call",
        "log_level": "info",
        "endpoint": "embed",
        "texts": 1,
        "input_tokens": 2,
        "seconds": 0,
    }
    logged = str(own) + caplog.text + "".join(str(record.__dict__) for record in caplog.records) + "".join(printed)
    assert "httpcore" in logged
    assert not any(secret in logged for secret in (KEY, NAME))
