"""A reply of a chat model that can be kept."""

import json
from dataclasses import dataclass, replace
from typing import Self

from langchain_core.messages import AIMessage, message_to_dict


@dataclass(frozen=True, slots=True)
class KeptReply:
    """`input_tokens` are what the provider counted for the payload; None where it did not tell."""

    message: AIMessage
    input_tokens: int | None

    def copy(self) -> Self:
        """With a message of its own: LangChain's can be changed."""
        return replace(self, message=self.message.model_copy(deep=True))

    @property
    def size_bytes(self) -> int:
        return len(json.dumps(message_to_dict(self.message), default=str))
