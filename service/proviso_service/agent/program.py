"""The agent as the program that the turn engine runs."""

import asyncio

from proviso_service.agent import suspension
from proviso_service.agent.execution import AgentExecution, build_graph, limits_of
from proviso_service.agent.llm_node import LlmNode
from proviso_service.agent.preparation import AgentDependencies, Preparation
from proviso_service.agent.state import TurnMemory
from proviso_service.agent.tools_node import ToolsNode
from proviso_service.context.model import RequestContext
from proviso_service.identity import Caller
from proviso_service.retrying import Backoff, RetryPolicy
from proviso_service.turns import RunningTurn, SuspensionUnreadable, TurnRequest


class Agent:
    """The service's implementation of TurnProgram. One instance serves all turns; what belongs to one turn is in its
    AgentExecution."""

    def __init__(self, dependencies: AgentDependencies) -> None:
        turns = dependencies.turns
        self.dependencies = dependencies
        backoff = Backoff(turns.retry_base_s, turns.retry_max_s)
        self.graph = build_graph(
            LlmNode(RetryPolicy(turns.model_retries, backoff)), ToolsNode(RetryPolicy(turns.tool_retries, backoff))
        )

    def start(self, turn: RunningTurn) -> AgentExecution:
        return AgentExecution(self.dependencies, self.graph, turn)

    async def resume(self, turn: RunningTurn, state: str) -> AgentExecution:
        suspended = await asyncio.to_thread(suspension.read, state)
        if suspended.memory.model not in self.dependencies.models.names:
            raise SuspensionUnreadable("its chat model is not set up any more")
        try:
            return AgentExecution(self.dependencies, self.graph, turn, suspended)
        except (ValueError, KeyError) as error:  # contents that its request context names
            raise SuspensionUnreadable(f"damaged: {type(error).__name__}") from None

    async def preview(self, caller: Caller, request: TurnRequest) -> RequestContext:
        """Returns the request context that a message would get. Nothing is stored, no image is loaded, no model is
        called."""
        dependencies, memory = self.dependencies, TurnMemory()
        limits, catalog = limits_of(request.options, dependencies.turns), dependencies.catalog.current
        preparation = Preparation(dependencies, caller, request, limits, catalog, memory, is_preview=True)
        await preparation.run()
        if memory.request_context is None:
            raise RuntimeError("the preparation ended without a request context")
        return memory.request_context
