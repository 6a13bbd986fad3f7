"""What an operator sets of turns, and the limits beside it that are fixed."""

from pydantic import Field

from proviso_service.retrying import RETRY_BASE_S, RETRY_MAX_S
from proviso_service.settings import Seconds, TurnSettings


class TurnConfig(TurnSettings):
    """Limits and times of turns; those that are not in TurnSettings have one value, which only tests change."""

    tool_result_chars: int = Field(
        2_500,
        ge=100,
        description="Most characters of a tool result for the chat model; twice as many for the text of a document, "
        "three times for an extraction, four times where it asks each of several documents.",
    )
    min_tool_result_chars: int = Field(
        500,
        ge=1,
        description="A turn that begins with less room than this for tools ends in MAX_CONTEXT_REACHED.",
    )
    heartbeat_s: Seconds = Field(15.0, description="Silence after which a reader of a turn gets a heartbeat.")
    token_interval_s: float = Field(
        0.01, ge=0, le=1, description="Tokens that follow each other faster than this are sent together; 0 sends each."
    )
    log_max_events: int = Field(20_000, ge=100, description="Most events of one turn.")
    log_max_bytes: int = Field(8 * 1024 * 1024, ge=64 * 1024, description="Most bytes of text in one turn's events.")
    lease_s: Seconds = Field(15.0, description="Time after which the running turns of a dead process are closed.")
    model_retries: int = Field(2, ge=0, le=10, description="Retries of a model call after a transient failure.")
    tool_retries: int = Field(3, ge=0, le=10, description="Retries of a tool call after a transient failure.")
    retry_base_s: Seconds = Field(RETRY_BASE_S, description="Longest first wait before a retry; it doubles each time.")
    retry_max_s: Seconds = Field(RETRY_MAX_S, description="Longest wait before a retry.")
