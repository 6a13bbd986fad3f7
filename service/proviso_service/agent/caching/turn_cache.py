"""The caches as one turn sees them: what its model calls and retrievals depend on makes their keys."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from langchain_core.messages import AnyMessage

from proviso_service.agent.caching.kept_reply import KeptReply
from proviso_service.agent.caching.ports import CacheKey, CacheScope
from proviso_service.agent.caching.shared_cache import SharedCache, Visit
from proviso_service.tools.base import ToolArgs, ToolResult, ToolScope


@dataclass(frozen=True, slots=True)
class Caches:
    """`setup` identifies the settings and models that shape what the tools find."""

    replies: SharedCache[KeptReply]
    results: SharedCache[ToolResult]
    setup: str = ""

    async def forget_other_versions(self, scope: CacheScope) -> None:
        """To be called with the versions as they are now, so that texts of deleted documents do not linger."""
        await self.replies.forget_other_versions(scope)
        await self.results.forget_other_versions(scope)


@dataclass(frozen=True, slots=True)
class Payload:
    """What a turn's first model call is sent: the SHA-256 of messages and tools, and the number of messages."""

    sha256: str
    length: int


class TurnCache:
    """`model` identifies the chat model with its settings and the turn's limits."""

    def __init__(self, caches: Caches, scope: CacheScope, model: str, payload: Payload) -> None:
        self._caches = caches
        self._scope = scope
        self._model = model
        self._payload = payload

    def reply(
        self, messages: Sequence[AnyMessage], *, with_tools: bool
    ) -> AbstractAsyncContextManager[Visit[KeptReply]]:
        """Of a call with `messages`, which begin with the payload. That is not read again: it may hold images."""
        later = [(message.type, dict(message)) for message in messages[self._payload.length :]]
        return self._caches.replies.visit(self._key("reply", self._model, self._payload.sha256, with_tools, later))

    def result(self, tool: str, args: ToolArgs, scope: ToolScope) -> AbstractAsyncContextManager[Visit[ToolResult]]:
        """Of a retrieval with validated arguments."""
        return self._caches.results.visit(self._key("result", tool, args.model_dump_json(), scope.document_id))

    def _key(self, *parts: object) -> CacheKey:
        text = json.dumps([self._caches.setup, *parts], sort_keys=True, default=str)
        return CacheKey(self._scope, hashlib.sha256(text.encode()).hexdigest())


class NoCache:
    """Finds nothing and keeps nothing."""

    def reply(
        self, messages: Sequence[AnyMessage], *, with_tools: bool
    ) -> AbstractAsyncContextManager[Visit[KeptReply]]:
        return nullcontext(Visit())

    def result(self, tool: str, args: ToolArgs, scope: ToolScope) -> AbstractAsyncContextManager[Visit[ToolResult]]:
        return nullcontext(Visit())
