"""An agent with caches, for turns that repeat what it has been asked."""

from collections.abc import Sequence
from typing import Any

from proviso_service.agent.caching import Caches
from proviso_service.context.model import MatterContext
from proviso_service.turns import FinalState, TurnRequest
from tests.support.agent_world import MATTER_ID, AgentWorld, agent_world
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, Step, calls, text

LOOKUP = Call("lookup", '{"query": "law"}')
GROUNDED = "It says “governed by the laws of Ohio” [1]."
QUESTION = "Which law?"
CONVERSATION = calls(LOOKUP), text("It says “governed ", "by the laws of Ohio” [1].")


def cached_world(*script: Step, caches: Caches | None = None, **parts: Any) -> AgentWorld:
    return agent_world(*script, caches=caches or memory_caches(), **parts)


async def twice(world: AgentWorld, **request: Any) -> tuple[FinalState, FinalState]:
    first = (await world.run(QUESTION, **request)).final_state
    return first, (await world.run(QUESTION, **request)).final_state


def asked() -> TurnRequest:
    return TurnRequest(QUESTION, MatterContext(MATTER_ID))


def of_kind(events: Sequence[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]
