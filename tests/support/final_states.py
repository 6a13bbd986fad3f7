"""Final states, for comparison between turns."""

from proviso.v1 import chat_pb2


def comparable(final: chat_pb2.FinalState, *, tokens: bool = True) -> chat_pb2.FinalState:
    """A copy without times and turn ids; without the `tokens` that only a provider counts, where that is wanted."""
    state = chat_pb2.FinalState()
    state.CopyFrom(final)
    state.request_context.ClearField("timestamp")
    for message in state.messages:
        message.ClearField("turn_id")
        message.request_context.ClearField("timestamp")
    if not tokens:
        state.usage.ClearField("input_tokens")
        state.usage.ClearField("output_tokens")
    return state
