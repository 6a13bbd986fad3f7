"""Manages conversations and the context items that they hold, through SessionService."""

from collections.abc import Iterator
from typing import Unpack
from uuid import uuid4

from proviso_client._requests import AssetFields, changed, enum_value, item_ref, with_matter
from proviso_client._sync.calls import Calls
from proviso_client.v1 import sessions_pb2 as pb
from proviso_client.v1.context_pb2 import ContextItemType, RequestContext
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub


class Sessions:
    """Every method raises ProvisoError when its call fails, and NotFound when this user has no such session."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._stub = SessionServiceStub(calls.channel)

    def create(self, session_id: str = "", *, timeout_s: float | None = None) -> pb.Session:
        """Creates a session. The service chooses an id when none is given. Raises AlreadyExists when the id is already
        in use."""
        request = pb.CreateSessionRequest(session_id=session_id, request_id=str(uuid4()))
        return self._calls.unary(self._stub.CreateSession, request, timeout_s).session

    def continue_from(self, session_id: str, new_session_id: str = "", *, timeout_s: float | None = None) -> pb.Session:
        """Creates a session that goes on where another one stopped, for a conversation that has become too long.

        It has the items and the matter of the other session, and its last questions and answers. The service chooses an
        id when none is given. Raises AlreadyExists when the new id is already in use, and SessionBusy when a turn runs
        in the other session."""
        request = pb.ContinueSessionRequest(
            session_id=session_id, new_session_id=new_session_id, request_id=str(uuid4())
        )
        return self._calls.unary(self._stub.ContinueSession, request, timeout_s).session

    def get(self, session_id: str, *, timeout_s: float | None = None) -> pb.Session:
        request = pb.GetSessionRequest(session_id=session_id)
        return self._calls.unary(self._stub.GetSession, request, timeout_s).session

    def list(self, *, page_size: int = 0, timeout_s: float | None = None) -> Iterator[pb.Session]:
        """Yields the user's sessions and requests each page when it is needed."""
        request = pb.ListSessionsRequest(page_size=page_size)
        return self._calls.pages(self._stub.ListSessions, request, lambda page: page.sessions, timeout_s)

    def update(
        self, session_id: str, *, title: str | None = None, notes: str | None = None, timeout_s: float | None = None
    ) -> pb.Session:
        """Changes the title or the notes of a session. What is None stays as it is."""
        session, mask = changed(pb.Session(session_id=session_id), title=title, notes=notes)
        request = pb.UpdateSessionRequest(session=session, update_mask=mask)
        return self._calls.unary(self._stub.UpdateSession, request, timeout_s).session

    def delete(self, session_id: str, *, timeout_s: float | None = None) -> str:
        """Deletes a session, its messages and turns. Returns the id of the deletion; `get_deletion` of the client
        returns its receipt."""
        request = pb.DeleteSessionRequest(session_id=session_id)
        deleted = self._calls.unary(self._stub.DeleteSession, request, timeout_s, repeatable=False)
        return deleted.deletion_id

    def add_item(
        self,
        session_id: str,
        kind: ContextItemType | str,
        name: str,
        server_name: str = "",
        *,
        timeout_s: float | None = None,
    ) -> pb.Session:
        """Adds an item to the session. `kind` is "rule", "reference", "tool" or a ContextItemType. Adding an item again
        changes nothing. Raises NotFound, with similar names in `near_matches`, when there is no such item."""
        request = pb.AddContextItemRequest(session_id=session_id, item=item_ref(kind, name, server_name))
        return self._calls.unary(self._stub.AddContextItem, request, timeout_s).session

    def remove_item(
        self,
        session_id: str,
        kind: ContextItemType | str,
        name: str,
        server_name: str = "",
        *,
        timeout_s: float | None = None,
    ) -> pb.Session:
        """Removes an item from the session. Removing it again changes nothing."""
        request = pb.RemoveContextItemRequest(session_id=session_id, item=item_ref(kind, name, server_name))
        return self._calls.unary(self._stub.RemoveContextItem, request, timeout_s).session

    def messages(
        self, session_id: str, *, page_size: int = 0, timeout_s: float | None = None
    ) -> Iterator[pb.ChatMessage]:
        """Yields the session's messages and requests each page when it is needed. `proviso_client.history` writes them
        as text and as JSON Lines."""
        request = pb.ListMessagesRequest(session_id=session_id, page_size=page_size)
        return self._calls.pages(self._stub.ListMessages, request, lambda page: page.messages, timeout_s)

    def preview(
        self, session_id: str, message: str, *, timeout_s: float | None = None, **fields: Unpack[AssetFields]
    ) -> RequestContext:
        """Returns the context with which a message would be answered, without asking the model.

        `proviso_client.display` writes the context as text."""
        request = pb.PreviewRequestContextRequest(session_id=session_id, message=message, **with_matter(fields))
        return self._calls.unary(self._stub.PreviewRequestContext, request, timeout_s).request_context

    def rebuild(self, turn_id: str, *, timeout_s: float | None = None) -> pb.RebuildRequestResponse:
        """Returns what the model was sent in a turn that has ended, and whether it would be sent the same today."""
        return self._calls.unary(self._stub.RebuildRequest, pb.RebuildRequestRequest(turn_id=turn_id), timeout_s)

    def suggest_removals(self, session_id: str, *, timeout_s: float | None = None) -> pb.SuggestRemovalsResponse:
        """Returns the items that the session's answers have not used."""
        request = pb.SuggestRemovalsRequest(session_id=session_id)
        return self._calls.unary(self._stub.SuggestRemovals, request, timeout_s)

    def rate(
        self,
        turn_id: str,
        rating: pb.Rating | str,
        *,
        reason: pb.RatingReason | str = pb.RATING_REASON_UNSPECIFIED,
        text: str = "",
        timeout_s: float | None = None,
    ) -> pb.AnswerRating:
        """Says how good the answer of a turn was. `rating` is "up", "down" or a Rating; "unspecified" takes an earlier
        rating back. `reason` is a RatingReason or a word such as "incomplete". Raises NotFound when this user has no
        such turn, and FailedPrecondition when it has not ended."""
        request = pb.RateAnswerRequest(
            turn_id=turn_id,
            rating=enum_value("RATING", rating),
            reason=enum_value("RATING_REASON", reason),
            text=text,
        )
        return self._calls.unary(self._stub.RateAnswer, request, timeout_s).rating
