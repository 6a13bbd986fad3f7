"""What the model calls of a turn cost, counted as they run."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from langchain_core.messages.ai import UsageMetadata

from proviso_service.turns import ModelCallUsage, Usage


class UsageMeter:
    """Right at any moment, also when the turn is cut short. The calls of a turn follow each other; their number is
    bounded by the limits of turns and retries."""

    def __init__(self, calls: Iterable[ModelCallUsage] = ()) -> None:
        """`calls` were made before."""
        self._calls = list(calls)

    @contextmanager
    def call(self, model: str) -> Iterator[None]:
        """Around a call of `model`; one that is left by an exception has failed, and so has one that still runs."""
        started = time.monotonic()
        self._calls.append(ModelCallUsage(model, failed=True))
        try:
            yield
            self._change(failed=False)
        finally:
            self._change(duration_s=time.monotonic() - started)

    def count(self, usage: UsageMetadata) -> None:
        """Adds what a part of the running call's reply says."""
        call = self._calls[-1]
        self._change(
            input_tokens=call.input_tokens + usage["input_tokens"],
            output_tokens=call.output_tokens + usage["output_tokens"],
            cached_input_tokens=call.cached_input_tokens + usage.get("input_token_details", {}).get("cache_read", 0),
        )

    def spare(self, model: str) -> None:
        """A reply came from the response cache: nothing was called, nothing was paid."""
        self._calls.append(ModelCallUsage(model, from_cache=True))

    @property
    def last_input_tokens(self) -> int | None:
        """Of the last call; None where the provider did not tell."""
        return self._calls[-1].input_tokens or None

    @property
    def usage(self) -> Usage:
        calls = self._calls
        return Usage(
            input_tokens=sum(call.input_tokens for call in calls),
            output_tokens=sum(call.output_tokens for call in calls),
            model_calls=sum(not call.from_cache for call in calls),
            cached_input_tokens=sum(call.cached_input_tokens for call in calls),
            calls=tuple(calls),
        )

    def _change(self, **values: Any) -> None:
        self._calls[-1] = replace(self._calls[-1], **values)
