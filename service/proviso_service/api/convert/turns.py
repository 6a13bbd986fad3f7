"""What is kept of a turn: usage, tool calls, summaries."""

from proviso_client.v1 import turns_pb2 as pb
from proviso_service.api.convert.enums import DECISIONS, EXIT_REASONS
from proviso_service.api.convert.times import duration, timestamp
from proviso_service.turns import ModelCallUsage, ToolCallRecord, TurnSummary, Usage


def turn_summary(summary: TurnSummary) -> pb.TurnSummary:
    return pb.TurnSummary(
        exit_reason=EXIT_REASONS[summary.exit_reason],
        tool_calls=[tool_call_record(record) for record in summary.tool_calls],
        usage=usage(summary.usage),
        duration=None if summary.duration_s is None else duration(summary.duration_s),
        model=summary.model,
    )


def tool_call_record(record: ToolCallRecord) -> pb.ToolCallRecord:
    return pb.ToolCallRecord(
        call_id=record.call_id,
        tool=record.tool,
        server_name=record.server_name,
        input_json=record.input_json,
        error=record.error,
        start_time=timestamp(record.start_time),
        duration=duration(record.duration_s),
        from_cache=record.from_cache,
        decision=DECISIONS[record.decision] if record.decision else None,
    )


def usage(value: Usage) -> pb.Usage:
    return pb.Usage(
        input_tokens=value.input_tokens,
        output_tokens=value.output_tokens,
        model_calls=value.model_calls,
        cached_input_tokens=value.cached_input_tokens,
        calls=[_model_call(call) for call in value.calls],
    )


def _model_call(call: ModelCallUsage) -> pb.ModelCallUsage:
    return pb.ModelCallUsage(
        model=call.model,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cached_input_tokens=call.cached_input_tokens,
        duration=duration(call.duration_s),
        from_cache=call.from_cache,
        failed=call.failed,
    )
