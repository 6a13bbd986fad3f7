"""Rebuilds what a past turn sent to the model, and tells what has changed since."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proviso_service.agent.payload import SentMessages, build_payload
from proviso_service.agent.request_context import SYSTEM_PROMPT_SHA256
from proviso_service.context.catalog.catalog import Catalog, CatalogHolder
from proviso_service.context.model import ContentStore, ItemRef, RequestContext
from proviso_service.errors import NoRequestContext
from proviso_service.identity import Caller
from proviso_service.turns import ChatMessage, FinalState, HistoryMessage, MessageRole, TurnStore


class ItemChange(StrEnum):
    CHANGED = "changed"
    MISSING = "missing"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ItemDifference:
    """An item that has changed since the turn. `used_sha256` is the hash of the content that the model was given,
    `current_sha256` that of the catalog's content, empty where the catalog does not have the item."""

    ref: ItemRef
    change: ItemChange
    used_sha256: str
    current_sha256: str


@dataclass(frozen=True, slots=True)
class RebuiltRequest:
    """A payload that was rebuilt from stored contents. `matches` says whether its hash is the recorded one."""

    payload_json: str
    payload_sha256: str
    recorded_sha256: str
    differences: tuple[ItemDifference, ...]
    system_prompt_changed: bool

    @property
    def matches(self) -> bool:
        return self.payload_sha256 == self.recorded_sha256


class RequestRebuilder:
    def __init__(self, turns: TurnStore, contents: ContentStore, catalog: CatalogHolder) -> None:
        self._turns = turns
        self._contents = contents
        self._catalog = catalog

    async def rebuild(self, caller: Caller, turn_id: str) -> RebuiltRequest:
        """Rebuilds the request of a past turn. Raises TurnUnknown, and NoRequestContext for a turn that has not ended
        or called no model."""
        record = await self._turns.get(caller, turn_id)
        context = record.final_state.request_context if record.final_state else None
        if record.final_state is None or context is None or not context.payload_sha256:
            raise NoRequestContext(turn_id)
        hashes = {context.system_prompt_sha256, *(item.content_sha256 for item in context.items if item.is_given)}
        contents = await self._contents.contents(caller.tenant, hashes)
        history, text = _history(record.final_state), _text(record.final_state)
        payload_json, payload_sha256 = await asyncio.to_thread(
            _written, caller.tenant, context, history, text, contents
        )
        return RebuiltRequest(
            payload_json,
            payload_sha256,
            context.payload_sha256,
            tuple(_differences(context, self._catalog.current, contents.keys())),
            context.system_prompt_sha256 != SYSTEM_PROMPT_SHA256,
        )


def _written(
    tenant: str, context: RequestContext, history: Sequence[HistoryMessage], text: str, contents: Mapping[str, str]
) -> tuple[str, str]:
    """The payload's JSON and its SHA-256. Long contents take long, so it is not to be called on the event loop."""
    payload = build_payload(context, SentMessages().of(tenant, history), text, contents)
    return payload.to_json(), payload.sha256


def _differences(context: RequestContext, catalog: Catalog, stored: Iterable[str]) -> Iterator[ItemDifference]:
    kept = frozenset(stored)
    for item in context.items:
        if not item.is_given:
            continue
        known = catalog.find(item.ref)
        current = known.content_sha256 if known else ""
        if item.content_sha256 not in kept:
            yield ItemDifference(item.ref, ItemChange.LOST, item.content_sha256, current)
        elif catalog.is_missing(item.ref):
            yield ItemDifference(item.ref, ItemChange.MISSING, item.content_sha256, current)
        elif known and current != item.content_sha256:
            yield ItemDifference(item.ref, ItemChange.CHANGED, item.content_sha256, current)


def _history(final_state: FinalState) -> list[HistoryMessage]:
    """The messages before the turn. An earlier version stored them beside the turn's own, which carry its id."""
    earlier = [HistoryMessage(message.role, message.content) for message in final_state.messages if not message.turn_id]
    return [*earlier, *final_state.history]


def _text(final_state: FinalState) -> str:
    own: list[ChatMessage] = [message for message in final_state.messages if message.turn_id]
    return next((message.content for message in own if message.role is MessageRole.USER), "")
