"""What model calls cost, counted while they run."""

import pytest
from langchain_core.messages.ai import UsageMetadata

from proviso_service.agent.state import UsageMeter
from proviso_service.turns import ModelCallUsage, Usage


def reported(sent: int, written: int, cached: int = 0) -> UsageMetadata:
    told = UsageMetadata(input_tokens=sent, output_tokens=written, total_tokens=sent + written)
    return told | {"input_token_details": {"cache_read": cached}} if cached else told


def test_nothing_was_called_and_nothing_was_spent() -> None:
    assert UsageMeter().usage == Usage()


def test_parts_of_a_reply_add_up_to_its_call_and_calls_to_their_turn() -> None:
    meter = UsageMeter()
    with meter.call("big"):
        meter.count(reported(100, 0, cached=60))
        meter.count(reported(0, 7))
    with meter.call("small"):
        meter.count(reported(30, 2))
    meter.count_cached("small")
    usage = meter.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, usage.model_calls) == (130, 9, 60, 2)
    big, small, spared = usage.calls
    assert (big.model, big.input_tokens, big.output_tokens, big.cached_input_tokens) == ("big", 100, 7, 60)
    assert (small.model, small.input_tokens, small.cached_input_tokens) == ("small", 30, 0)
    assert spared == ModelCallUsage("small", from_cache=True)
    assert not any(call.failed for call in usage.calls)


def test_a_provider_that_tells_no_tokens_leaves_them_unknown() -> None:
    meter = UsageMeter()
    with meter.call("big"):
        pass
    assert meter.last_input_tokens is None


def test_a_call_that_failed_keeps_what_it_spent() -> None:
    meter = UsageMeter()

    def breaks_off() -> None:
        with meter.call("big"):
            meter.count(reported(100, 3))
            raise ConnectionError

    with pytest.raises(ConnectionError):
        breaks_off()
    (call,) = meter.usage.calls
    assert (call.failed, call.input_tokens, call.output_tokens) == (True, 100, 3)
    assert call.duration_s > 0


def test_a_call_that_still_runs_counts_as_failed() -> None:
    meter = UsageMeter()
    with meter.call("big"):
        assert [call.failed for call in meter.usage.calls] == [True]
    assert [call.failed for call in meter.usage.calls] == [False]
