"""A stand-in for Isaacus's API on loopback: the real wire, with every request checked, and faults on demand."""

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tests.support.hosted_api import Fault, HostedApi, Reply, serving
from tests.support.isaacus_answers import answer_to
from tests.support.isaacus_wire import REQUESTS, Request

KEY = "isaacus-test-key-5f2c"


def problem(status: int, title: str = "", detail: str = "", **headers: str) -> Fault:
    """An RFC 7807 problem; `retry_after="2"` is the header Retry-After."""
    reply = _problem(status, title, detail, {name.replace("_", "-"): value for name, value in headers.items()})
    return lambda _: reply


@dataclass(frozen=True)
class Asked:
    path: str
    request: Request
    raw: dict[str, Any]
    headers: dict[str, str]


class IsaacusServer(HostedApi):
    """`asked` are the sound requests, in the order in which they came."""

    root = "/v1"

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Asked] = []

    def texts_of(self, path: str) -> list[str]:
        """All that was sent there."""
        return [text for asked in self.asked if asked.path == f"/v1/{path}" for text in asked.request.texts]

    def last_texts(self) -> list[str]:
        return list(self.asked[-1].request.texts)

    def answer(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Reply:
        if (method, path in REQUESTS) != ("POST", True):
            return self._refusal(404, "Not found error", f"{method} {path}")
        if headers.get("authorization") != f"Bearer {KEY}":
            return self._refusal(401, "Authentication error", "The API key is not valid.")
        if headers.get("content-type") != "application/json":
            return self._refusal(400, "Bad request error", "The content type is not application/json.")
        try:
            request = REQUESTS[path].model_validate_json(content)
        except ValidationError as error:
            return self._refusal(400, "Bad request error", str(error))
        self.asked.append(Asked(path, request, json.loads(content), headers))
        return Reply(200, json.dumps(answer_to(request)).encode())

    def _refusal(self, status: int, title: str, detail: str) -> Reply:
        self.refused.append(detail)
        return _problem(status, title, detail, {})


def _problem(status: int, title: str, detail: str, headers: dict[str, str]) -> Reply:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "instance": "/requests/1"}
    return Reply(status, json.dumps(body).encode(), headers, "application/problem+json")


def isaacus_server() -> AbstractAsyncContextManager[IsaacusServer]:
    return serving(IsaacusServer())
