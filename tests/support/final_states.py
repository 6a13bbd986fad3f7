"""Final states, for comparison between turns."""

from proviso_client.v1 import chat_pb2, turns_pb2
from tests.support.running import without_times


def comparable(final: chat_pb2.FinalState, *, tokens: bool = True) -> chat_pb2.FinalState:
    """A copy without times and turn ids; without the names and `tokens` of model calls, where that is wanted."""
    state = without_times(final)
    if not tokens:
        state.usage.CopyFrom(turns_pb2.Usage(model_calls=final.usage.model_calls))
        state.request_context.fill.ClearField("tokens_used")
        for message in state.messages:
            message.request_context.fill.ClearField("tokens_used")
    return state
