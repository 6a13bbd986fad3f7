"""Creates, reads, changes and deletes matters through MatterService."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from uuid import uuid4

from proviso_client._aio.calls import Calls
from proviso_client._requests import changed, enum_value
from proviso_client.v1 import matters_pb2 as pb
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

if TYPE_CHECKING:  # exists for type checkers only
    from proviso_client.v1.matters_pb2_grpc import MatterServiceAsyncStub


class AsyncMatters:
    """Every method raises ProvisoError when its call fails, and NotFound when the caller may not see the matter."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub: MatterServiceAsyncStub = MatterServiceStub(calls.channel)

    async def create(self, name: str, *, timeout_s: float | None = None) -> pb.Matter:
        """Creates a matter, and only one even when the call has to be repeated."""
        request = pb.CreateMatterRequest(name=name, request_id=str(uuid4()))
        return (await self._calls.unary(self._stub.CreateMatter, request, timeout_s)).matter

    async def get(self, matter_id: str, *, timeout_s: float | None = None) -> pb.Matter:
        request = pb.GetMatterRequest(matter_id=matter_id)
        return (await self._calls.unary(self._stub.GetMatter, request, timeout_s)).matter

    def list(self, *, name: str = "", page_size: int = 0, timeout_s: float | None = None) -> AsyncIterator[pb.Matter]:
        """Yields the caller's matters, newest first, and requests each page when it is needed. With `name`, yields only
        the matters with exactly this name."""
        request = pb.ListMattersRequest(name=name, page_size=page_size)
        return self._calls.pages(self._stub.ListMatters, request, lambda page: page.matters, timeout_s)

    async def update(
        self, matter_id: str, *, name: str | None = None, notes: str | None = None, timeout_s: float | None = None
    ) -> pb.Matter:
        """Changes the name or the notes of a matter. What is None stays as it is."""
        matter, mask = changed(pb.Matter(matter_id=matter_id), name=name, notes=notes)
        request = pb.UpdateMatterRequest(matter=matter, update_mask=mask)
        return (await self._calls.unary(self._stub.UpdateMatter, request, timeout_s)).matter

    async def delete(self, matter_id: str, *, timeout_s: float | None = None) -> str:
        """Deletes a matter, its documents and every turn that may know something of it. Returns the id of the deletion,
        whose receipt `get_deletion` of the client returns."""
        request = pb.DeleteMatterRequest(matter_id=matter_id)
        deleted = await self._calls.unary(self._stub.DeleteMatter, request, timeout_s, repeatable=False)
        return deleted.deletion_id

    async def set_legal_hold(self, matter_id: str, reason: str, *, timeout_s: float | None = None) -> pb.Matter:
        """Keeps a matter, its documents and what conversations know of it from being deleted, and returns the matter.
        Raises PermissionDenied for all but administrators of the tenant."""
        request = pb.SetLegalHoldRequest(matter_id=matter_id, reason=reason)
        return (await self._calls.unary(self._stub.SetLegalHold, request, timeout_s)).matter

    async def lift_legal_hold(self, matter_id: str, *, timeout_s: float | None = None) -> pb.Matter:
        """Ends the legal hold on a matter, if there is one, and returns the matter. Raises PermissionDenied for all but
        administrators of the tenant."""
        request = pb.LiftLegalHoldRequest(matter_id=matter_id)
        return (await self._calls.unary(self._stub.LiftLegalHold, request, timeout_s)).matter

    def members(
        self, matter_id: str, *, page_size: int = 0, timeout_s: float | None = None
    ) -> AsyncIterator[pb.MatterMember]:
        """Yields the members of a matter in the order of their user ids, and requests each page when it is needed."""
        request = pb.ListMatterMembersRequest(matter_id=matter_id, page_size=page_size)
        return self._calls.pages(self._stub.ListMatterMembers, request, lambda page: page.members, timeout_s)

    async def export(
        self, matter_id: str, *, all_conversations: bool = False, timeout_s: float | None = None
    ) -> AsyncIterator[bytes]:
        """Yields a ZIP archive of a matter with its documents and the caller's conversations about it, or, for
        administrators, those of all users, in pieces: `manifest.json` in it says what it holds, and what was left out.
        It is whole only when nothing was raised. Raises PermissionDenied when the caller does not own the matter."""
        request = pb.ExportMatterRequest(matter_id=matter_id, all_conversations=all_conversations)
        async for answer in self._calls.stream(self._stub.ExportMatter, request, timeout_s):
            yield answer.data

    async def grant(
        self, matter_id: str, user_id: str, role: pb.MatterRole | str, *, timeout_s: float | None = None
    ) -> pb.MatterMember:
        """Makes a user a member of a matter, or gives a member another role, which is "reader", "editor", "owner" or a
        MatterRole. Raises PermissionDenied when the caller does not own the matter, and FailedPrecondition when it
        would be left without an owner."""
        member = pb.MatterMember(user_id=user_id, role=enum_value("MATTER_ROLE", role))
        request = pb.GrantMatterAccessRequest(matter_id=matter_id, member=member)
        return (await self._calls.unary(self._stub.GrantMatterAccess, request, timeout_s)).member

    async def revoke(self, matter_id: str, user_id: str, *, timeout_s: float | None = None) -> None:
        """Ends the membership of a user, if there is one. Raises what `grant` raises."""
        request = pb.RevokeMatterAccessRequest(matter_id=matter_id, member_user_id=user_id)
        await self._calls.unary(self._stub.RevokeMatterAccess, request, timeout_s)
