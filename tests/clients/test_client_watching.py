"""Waiting for documents with the Python client, over streams that end before they are all read, with either client."""

# ruff: noqa: N802  methods have the names of the contract

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import grpc
import pytest

from proviso_client import RetryPolicy
from proviso_client.errors import Cancelled, DeadlineExceeded, InternalError
from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceServicer, add_MatterServiceServicer_to_server
from tests.support.client_kinds import Connect
from tests.support.grpc_servers import serving

QUICK = RetryPolicy(max_attempts=3, first_wait_s=0.001, longest_wait_s=0.002)
CUTS = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)


class Watched(MatterServiceServicer):
    """One document, whose watch is cut by each of `cuts`, and then ends with it READY; `tells` is whether its state is
    told ahead of a cut."""

    def __init__(self, cuts: Iterator[grpc.StatusCode], *, tells: bool = True) -> None:
        self._cuts = cuts
        self._tells = tells
        self.asked = 0
        self.target = ""

    async def WatchDocuments(self, request: Any, context: Any) -> AsyncIterator[pb.WatchDocumentsResponse]:
        self.asked += 1
        cut = next(self._cuts, None)
        if cut is None:
            yield state(pb.DOCUMENT_STATUS_READY)
            return
        if self._tells:
            yield state(pb.DOCUMENT_STATUS_PROCESSING)
        await context.abort(cut, "")


def state(status: pb.DocumentStatus) -> pb.WatchDocumentsResponse:
    return pb.WatchDocumentsResponse(document=pb.Document(document_id="d", status=status))


@asynccontextmanager
async def watched(cuts: Iterable[grpc.StatusCode], *, tells: bool = True) -> AsyncIterator[Watched]:
    """The service, at its `target`."""
    service = Watched(iter(cuts), tells=tells)  # type: ignore[abstract]  # the rest is not asked for
    async with serving(add_MatterServiceServicer_to_server, service) as service.target:
        yield service


async def test_each_stream_that_tells_something_is_progress(connect: Connect) -> None:
    async with watched(CUTS * QUICK.max_attempts) as service, connect(service.target, retries=QUICK) as client:
        [document] = await client.documents.wait_until_ready("m")
    assert document.status == pb.DOCUMENT_STATUS_READY
    assert service.asked == len(CUTS) * QUICK.max_attempts + 1


async def test_streams_that_tell_nothing_come_to_an_end(connect: Connect) -> None:
    async with watched(cycle(CUTS), tells=False) as service, connect(service.target, retries=QUICK) as client:
        with pytest.raises(InternalError):
            await client.documents.wait_until_ready("m")
    assert service.asked == QUICK.max_attempts


async def test_the_callers_time_ends_it(connect: Connect) -> None:
    async with watched(cycle(CUTS)) as service, connect(service.target, retries=QUICK) as client:
        with pytest.raises(DeadlineExceeded):
            await client.documents.wait_until_ready("m", timeout_s=0.2)


async def test_a_client_that_is_closed_meanwhile_asks_no_more(connect: Connect) -> None:
    async with watched(cycle(CUTS)) as service:
        client = connect(service.target, retries=QUICK)
        await client.close()
        with pytest.raises(Cancelled, match="was closed"):
            await client.documents.wait_until_ready("m")
    assert service.asked == 0
