"""Reads turns of the HTTP server, in the way in which the gRPC client reads those of the other servers."""

import json
import time

import aiohttp

from benchmarks.load import TurnSeen, WrongStream
from benchmarks.workload import Workload

TURN_TIMEOUT = aiohttp.ClientTimeout(total=100)
QUESTION = "What does the agreement say about delivery?"


async def read_turn(session: aiohttp.ClientSession, address: str, workload: Workload) -> TurnSeen:
    """Reads a turn to its end. Raises WrongStream and aiohttp.ClientError."""
    begun = time.perf_counter()
    first_event_s = first_token_s = 0.0
    events = 0
    text: list[str] = []
    final: str | None = None
    asked = {"workload": workload.name, "message": QUESTION}
    async with session.post(f"{address}/chat", json=asked, timeout=TURN_TIMEOUT) as response:
        response.raise_for_status()
        async for line in response.content:
            if not line.startswith(b"data: "):
                continue
            event = json.loads(line.removeprefix(b"data: "))
            events += 1
            first_event_s = first_event_s or time.perf_counter() - begun
            if event["event"] == "token" and event["text"]:
                first_token_s = first_token_s or time.perf_counter() - begun
                text.append(event["text"])
            elif event["event"] == "final":
                final = event["message"]
    if text != list(workload.texts) or final != "".join(text):
        raise WrongStream(f"a turn delivered {len(text)} tokens of {workload.tokens}, or another text")
    return TurnSeen(events, len(text), first_event_s, first_token_s)
