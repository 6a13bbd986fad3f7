"""This module names the types of the steps of a turn. A step is the content of an event, without its envelope.

The steps are messages of the contract. A `match` statement can tell them apart:

    match step:
        case Token(text=text): ...
        case ToolStart(tool=tool): ...
"""

from proviso_client.v1.chat_pb2 import (
    ApprovalRequired,
    Citation,
    FinalState,
    TextDiscarded,
    Token,
    ToolEnd,
    ToolStart,
    TurnStart,
)

__all__ = [
    "ApprovalRequired",
    "Citation",
    "FinalState",
    "Step",
    "TextDiscarded",
    "Token",
    "ToolEnd",
    "ToolStart",
    "TurnStart",
]

Step = TurnStart | Token | TextDiscarded | ToolStart | ToolEnd | Citation | ApprovalRequired | FinalState
