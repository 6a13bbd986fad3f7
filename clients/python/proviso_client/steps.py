"""The steps of a turn: what an event of the contract holds, without its envelope.

They are the contract's own messages, which `match` tells apart:

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
