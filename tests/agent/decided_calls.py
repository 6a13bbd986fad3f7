"""Calls of tools that persons decide on, and what came of them."""

from proviso_service.turns import ToolEnd
from tests.support.agent_world import AgentWorld, Lookup
from tests.support.scripted_model import Call, text

CALL = Call("lookup", '{"query": "law"}')
SEND = Call("send", '{"query": "to all"}')
GROUNDED = text("It says “governed by the laws of Ohio” [1].")
SORRY = text("I could not look that up.")
DENIED = "The person did not approve this call."


class Send(Lookup):
    """A tool that returns no passage."""

    name = "send"
    is_retrieval = False


def outcomes(world: AgentWorld) -> list[tuple[str, str]]:
    """Of the calls: tool and error, in the order of their ends."""
    return [(event.tool, event.error) for event in world.events if isinstance(event, ToolEnd)]
