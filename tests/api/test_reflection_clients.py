"""A generic client, buf, against the whole service: all it knows is what reflection tells it."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from proviso_service.api.standard_services import SERVICE_NAMES
from tests.support.running import AGREEMENT, RunningService

BUF = Path(sys.executable).with_name("buf")
TIME_LIMIT_S = 30
INVALID_ARGUMENT = 3


async def buf_curl(service: RunningService, path: str, *flags: str) -> tuple[int, str, str]:
    """Exit code, output and errors of one `buf curl`."""
    process = await asyncio.create_subprocess_exec(
        BUF, "curl", "--protocol", "grpc", "--http2-prior-knowledge", *flags,
        f"http://127.0.0.1:{service.app.port}{path}",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), TIME_LIMIT_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode(), err.decode()


async def call(service: RunningService, method: str, **request: Any) -> list[dict[str, Any]]:
    """The responses of a call that succeeds."""
    code, out, err = await buf_curl(service, f"/proviso.v1.{method}", "--data", json.dumps(request))
    assert (code, err) == (0, "")
    return objects_in(out)


def objects_in(text: str) -> list[dict[str, Any]]:
    """JSON objects one after the other, as a stream is printed."""
    decoder, found, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].lstrip()
    return found


async def test_buf_lists_the_services(service: RunningService) -> None:
    code, out, _ = await buf_curl(service, "", "--list-services")
    assert code == 0
    assert set(out.split()) >= {*SERVICE_NAMES, "grpc.health.v1.Health"}


async def test_buf_makes_a_matter_and_finds_it(service: RunningService) -> None:
    (made,) = await call(service, "MatterService/CreateMatter", name="Northwind")
    (listed,) = await call(service, "MatterService/ListMatters")
    assert listed == {"matters": [made["matter"]], "totalSize": 1}
    assert made["matter"]["name"] == "Northwind"


async def test_buf_streams_a_turn(service: RunningService) -> None:
    matter_id = await service.create_matter(Services_Agreement=AGREEMENT)
    question = "Which law governs the agreement?"
    events = await call(service, "ChatService/Chat", message=question, matter_context={"matter_id": matter_id})
    assert "turnStart" in events[0]
    final = events[-1]["finalState"]
    assert final["exitReason"] == "EXIT_REASON_COMPLETED"
    assert "State of Oregon" in final["message"]
    assert "State of Oregon" in final["citations"][0]["quote"]


async def test_buf_shows_what_is_wrong_with_a_request(service: RunningService) -> None:
    request = json.dumps({"matter_id": "northwind"})
    code, out, err = await buf_curl(service, "/proviso.v1.MatterService/GetMatter", "--data", request)
    shown = json.loads(err)
    assert (code >> 3, out) == (INVALID_ARGUMENT, "")  # buf's exit code is eight times the status code
    assert shown["code"] == "invalid_argument"
    assert shown["message"] == "Invalid matter ID format"
    assert [detail["type"] for detail in shown["details"]] == ["google.rpc.ErrorInfo", "google.rpc.BadRequest"]
