"""What is wrong with the assets of a message is told with the field's path, over a real channel."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from proviso_client.v1 import chat_pb2, context_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from tests.api.serving import Refusal, conversations, refusal, served

PNG = "https://example.org/a.png"
NOT_HTTPS = "must be an https URL"
UNKNOWN = "is neither a file name nor a URL of this message"
IMAGES = [f"https://example.org/{number}.png" for number in range(26)]


def document(filename: str = "a.md", **fields: str) -> context_pb2.DocumentContext:
    return context_pb2.DocumentContext(filename=filename, **fields)


@pytest.fixture
async def domain(tmp_path: Path) -> AsyncIterator[Any]:
    async with conversations(tmp_path) as domain:
        yield domain


async def refused(domain: Any, **fields: Any) -> Refusal:
    async with served(domain) as server:
        return await refusal(ChatServiceStub(server.channel).Invoke(chat_pb2.ChatRequest(message="Hello", **fields)))


@pytest.mark.parametrize(
    ("fields", "violations"),
    [
        ({"image_urls": IMAGES[:6]}, {"image_urls": "has more than 5 items"}),
        (
            {"image_urls": [PNG, "example.org/b.png", "https://", "file:///etc/passwd", "https://[::1"]},
            {f"image_urls[{place}]": NOT_HTTPS for place in (1, 2, 3, 4)},
        ),
        (
            {"document_context": [document(str(number)) for number in range(21)]},
            {"document_context": "has more than 20 items"},
        ),
        (
            {
                "document_context": [
                    document(),
                    document(""),
                    document("x" * 256, type="t" * 65),
                    document(summary="s" * 20_001),
                ]
            },
            {
                "document_context[1].filename": "must not be empty",
                "document_context[2].filename": "must have at most 255 characters",
                "document_context[2].type": "must have at most 64 characters",
                "document_context[3].summary": "must have at most 20000 characters",
            },
        ),
        (
            {"image_urls": [PNG], "document_context": [document()], "selected_assets": ["a.md", PNG, "b.md", "A.MD"]},
            {"selected_assets[2]": UNKNOWN, "selected_assets[3]": UNKNOWN},
        ),
        (
            {"document_context": [document()], "selected_assets": ["a.md"] * 26},
            {"selected_assets": "has more than 25 items"},
        ),
    ],
)
async def test_every_fault_of_an_asset_is_told_with_its_path(
    domain: Any, fields: dict[str, Any], violations: dict[str, str]
) -> None:
    answer = await refused(domain, **fields)
    assert (answer.code, answer.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert answer.violations == violations


async def test_as_many_assets_as_the_contract_allows_are_taken(domain: Any) -> None:
    documents = [document(f"{number}.md", type="md", summary="s" * 20_000) for number in range(20)]
    request = chat_pb2.ChatRequest(
        message="Hello",
        image_urls=["https://example.org/" + "a" * 10_000, *IMAGES[:4]],
        document_context=documents,
        selected_assets=[*(one.filename for one in documents), *IMAGES[:4]],
    )
    async with served(domain) as server:
        assert (await ChatServiceStub(server.channel).Invoke(request)).turn_id
