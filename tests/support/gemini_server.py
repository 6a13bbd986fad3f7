"""A stand-in for Gemini's API on loopback: the real wire, with every request checked, and replies by script."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import ValidationError

from tests.support.gemini_replies import MODEL, Refused, Reply, refuses
from tests.support.gemini_wire import GenerateContentRequest
from tests.support.scripted_server import ScriptedServer, serving

KEY = "gemini-test-key-9d1e"
STREAM_PATH = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"


class GeminiServer(ScriptedServer[GenerateContentRequest]):
    """Speaks streamGenerateContent."""

    def check(self, request_line: str, headers: dict[str, str], content: bytes) -> Reply:
        if request_line != f"POST {STREAM_PATH} HTTP/1.1":
            return self._refuse(404, "NOT_FOUND", request_line)
        if headers.get("x-goog-api-key") != KEY:
            return self._refuse(400, "INVALID_ARGUMENT", "API key not valid.")
        if headers.get("content-type") != "application/json":
            return self._refuse(400, "INVALID_ARGUMENT", "The content type is not application/json.")
        try:
            self.asked.append(GenerateContentRequest.model_validate_json(content))
        except ValidationError as error:
            return self._refuse(400, "INVALID_ARGUMENT", str(error))
        return self.next_reply() or self._refuse(400, "INVALID_ARGUMENT", "The script holds no further reply.")

    def _refuse(self, status: int, name: str, message: str) -> Refused:
        self.refused.append(message)
        return refuses(status, name, message=message)


@asynccontextmanager
async def gemini_server() -> AsyncIterator[GeminiServer]:
    """Fails at the end where a request was refused, unless the test has taken that off `refused`."""
    async with serving(GeminiServer()) as gemini:
        yield gemini
