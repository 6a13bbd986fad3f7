"""Following a turn's log from any sequence on."""

import asyncio
import time
from collections.abc import AsyncGenerator

from proviso_service.errors import Draining, InvalidRequest
from proviso_service.turns.events import Heartbeat, LoggedEvent, Token
from proviso_service.turns.log import TurnLog

JOINED_MAX_CHARS = 65_536
"""Code points of text in one joined token event: 256 KiB of UTF-8 at most, well below the size of a gRPC message."""


def check_position(log: TurnLog, after_sequence: int) -> None:
    """Raises InvalidRequest unless `after_sequence` is 0 or the sequence of an event of this turn."""
    if not 0 <= after_sequence <= log.last_sequence:
        raise InvalidRequest.of(
            "after_sequence", f"must be from 0 to {log.last_sequence}, the turn's last sequence so far"
        )


async def follow(
    log: TurnLog, after_sequence: int, heartbeat_s: float, token_interval_s: float
) -> AsyncGenerator[LoggedEvent | Heartbeat, None]:
    """Every event after `after_sequence` once and in order, up to and including the final state, and a heartbeat
    after each `heartbeat_s` of silence. Nothing after the final state's own sequence. Raises Draining at the end of a
    log that is cut.

    A message costs the service many times what a token costs it, so tokens that come faster than one in
    `token_interval_s` come together in one event; nobody waits for the first, and no other event waits."""
    loop = asyncio.get_running_loop()
    next_tokens_at = loop.time()
    while not (log.final_state is not None and after_sequence == log.last_sequence):
        if not await log.wait(after_sequence, heartbeat_s):
            yield Heartbeat(time.time())
            continue
        if (early_s := next_tokens_at - loop.time()) > 0:
            await log.gather(after_sequence, early_s)
        logged = log.take(after_sequence, JOINED_MAX_CHARS)
        if logged is None and log.is_cut:
            raise Draining
        if logged is not None:
            yield logged
            after_sequence = logged.sequence
            if type(logged.event) is Token:
                next_tokens_at = loop.time() + token_interval_s
