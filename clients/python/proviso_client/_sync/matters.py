"""Creates, reads, changes and deletes matters through MatterService."""

from collections.abc import Iterator
from uuid import uuid4

from proviso_client._requests import changed
from proviso_client._sync.calls import Calls
from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub


class Matters:
    """Every method raises ProvisoError when its call fails, and NotFound when the caller may not see the matter."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub = MatterServiceStub(calls.channel)

    def create(self, name: str, *, timeout_s: float | None = None) -> pb.Matter:
        """Creates a matter, and only one even when the call has to be repeated."""
        request = pb.CreateMatterRequest(name=name, request_id=str(uuid4()))
        return self._calls.unary(self._stub.CreateMatter, request, timeout_s).matter

    def get(self, matter_id: str, *, timeout_s: float | None = None) -> pb.Matter:
        request = pb.GetMatterRequest(matter_id=matter_id)
        return self._calls.unary(self._stub.GetMatter, request, timeout_s).matter

    def list(self, *, name: str = "", page_size: int = 0, timeout_s: float | None = None) -> Iterator[pb.Matter]:
        """Yields the caller's matters, newest first, and requests each page when it is needed. With `name`, yields only
        the matters with exactly this name."""
        request = pb.ListMattersRequest(name=name, page_size=page_size)
        return self._calls.pages(self._stub.ListMatters, request, lambda page: page.matters, timeout_s)

    def update(
        self, matter_id: str, *, name: str | None = None, notes: str | None = None, timeout_s: float | None = None
    ) -> pb.Matter:
        """Changes the name or the notes of a matter. What is None stays as it is."""
        matter, mask = changed(pb.Matter(matter_id=matter_id), name=name, notes=notes)
        request = pb.UpdateMatterRequest(matter=matter, update_mask=mask)
        return self._calls.unary(self._stub.UpdateMatter, request, timeout_s).matter

    def delete(self, matter_id: str, *, timeout_s: float | None = None) -> None:
        """Deletes a matter and all its documents."""
        request = pb.DeleteMatterRequest(matter_id=matter_id)
        self._calls.unary(self._stub.DeleteMatter, request, timeout_s, repeatable=False)
