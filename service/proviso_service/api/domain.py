"""What the servicers need of the service."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from proviso_service.agent.rebuilding import RequestRebuilder
from proviso_service.analysis.classification import Classification
from proviso_service.analysis.extraction import Extraction
from proviso_service.analysis.service import IqlAnalysis
from proviso_service.api.identity import Identify, local_caller
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.catalog.items import ServerStatus
from proviso_service.context.model import RequestContext
from proviso_service.identity import Caller
from proviso_service.matters import Documentation, MaintainedIndex, Matters, Retriever
from proviso_service.turns import SessionStore, TurnConfig, TurnRequest, Turns

UPLOAD_IDLE_S = 60.0
"""Longest wait for the next piece of an upload."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that requests are checked against, beside those of the contract; `upload_idle_s` is the longest wait for
    the next piece of an upload, `chat_models` are the names that a request may choose from."""

    turns: TurnConfig
    upload_idle_s: float = UPLOAD_IDLE_S
    chat_models: tuple[str, ...] = ()


def no_link(turn_id: str) -> None:
    """Where nothing is traced."""


def no_servers() -> tuple[ServerStatus, ...]:
    """Where there are no servers of tools."""
    return ()


@dataclass(frozen=True, slots=True)
class Domain:
    """The domain services. `preview` gives the request context that a message would have; `link_turn` ties the current
    call's trace to that of a turn; `tool_servers` says how the servers of tools do."""

    turns: Turns
    sessions: SessionStore
    matters: Matters
    retriever: Retriever
    documentation: Documentation
    index: MaintainedIndex
    analysis: IqlAnalysis
    extraction: Extraction
    classification: Classification
    limits: Limits
    catalog: CatalogHolder
    preview: Callable[[Caller, TurnRequest], Awaitable[RequestContext]]
    rebuilder: RequestRebuilder
    identify: Identify = local_caller
    link_turn: Callable[[str], None] = no_link
    tool_servers: Callable[[], Sequence[ServerStatus]] = no_servers
