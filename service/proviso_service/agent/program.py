"""The agent as the program of turns."""

import asyncio

from proviso_service.agent import suspension
from proviso_service.agent.caching import Caches
from proviso_service.agent.chat_models import ChatModels
from proviso_service.agent.execution import AgentExecution, Engine, build_graph, limits_of
from proviso_service.agent.llm_node import LlmNode
from proviso_service.agent.matter_context import MatterReader
from proviso_service.agent.message_images import ImageLoader
from proviso_service.agent.preparation import Means, Preparation, Progress
from proviso_service.agent.request_context import Drafter
from proviso_service.agent.retries import RetryPolicy
from proviso_service.agent.tools_node import ToolsNode
from proviso_service.context.catalog.holder import CatalogHolder
from proviso_service.context.model import RequestContext
from proviso_service.identity import Caller
from proviso_service.settings import TurnSettings
from proviso_service.telemetry.spans import NO_SPANS, Spans
from proviso_service.turns import Emit, SessionStore, SuspensionUnreadable, TurnApprovals, TurnRequest


class Agent:
    """The TurnProgram of the service. Built once; a turn's state lives in its AgentExecution. Without `caches` nothing
    is kept from turn to turn."""

    def __init__(
        self,
        models: ChatModels,
        drafter: Drafter,
        sessions: SessionStore,
        matters: MatterReader,
        images: ImageLoader,
        turns: TurnSettings,
        catalog: CatalogHolder,
        caches: Caches | None = None,
        spans: Spans = NO_SPANS,
    ) -> None:
        graph = build_graph(
            LlmNode(RetryPolicy(turns.model_retries, turns.retry_base_s, turns.retry_max_s)),
            ToolsNode(RetryPolicy(turns.tool_retries, turns.retry_base_s, turns.retry_max_s)),
        )
        means = Means(models, drafter, sessions, matters, images, turns, catalog, caches)
        self.engine = Engine(means, graph, spans)

    def start(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: TurnApprovals
    ) -> AgentExecution:
        return AgentExecution(self.engine, caller, turn_id, request, emit, approvals)

    async def resume(
        self, caller: Caller, turn_id: str, request: TurnRequest, emit: Emit, approvals: TurnApprovals, state: str
    ) -> AgentExecution:
        suspended = await asyncio.to_thread(suspension.read, state)
        if suspended.memory.model not in self.engine.means.models.names:
            raise SuspensionUnreadable("its chat model is not set up any more")
        try:
            return AgentExecution(self.engine, caller, turn_id, request, emit, approvals, suspended)
        except (ValueError, KeyError) as error:  # of contents that its request context names
            raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None

    async def preview(self, caller: Caller, request: TurnRequest) -> RequestContext:
        """The request context that a message would have. Nothing is stored, no image is loaded, no model is called."""
        means = self.engine.means
        limits, catalog = limits_of(request.options, means.turns), means.catalog.current
        rehearsal = Preparation(means, caller, request, limits, catalog, Progress(), rehearsal=True)
        return (await rehearsal.run()).context
