"""What a turn must come to, worked out from the script that its model and tools play: a second, plain reading of the
contract that shares nothing with the agent but the texts it is given."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from proviso_service.turns import NOT_ENOUGH_INFORMATION, ExitReason

MODEL_ATTEMPTS = 3


class Words(Enum):
    """What the model says, by what there is to check in it."""

    NOTHING = ""
    BLANK = " \n"
    QUESTION = "Which one do you mean?"
    REFUSAL = NOT_ENOUGH_INFORMATION
    STATEMENT = "Ohio, most likely."
    FIGURE = "The cap is 5,000."
    QUOTED = "It is “governed by the laws of Ohio” [1]."
    INVENTED = "It is “governed by the laws of Texas” [1]."
    PARTLY = "It is “governed by the laws of Ohio” [1]. It is “governed by the laws of Texas” [1]."
    LONG = "word " * 900


class Lookup(Enum):
    """What a tool call comes to."""

    FOUND = auto()
    HUGE = auto()
    FLAKY = auto()  # fails for the moment three times, then finds
    EMPTY = auto()
    NAMES = auto()  # a tool whose result is no passage
    REFUSED = auto()  # a problem that the tool explains
    CRASHED = auto()
    AWAY = auto()  # fails for the moment for ever
    UNKNOWN = auto()  # no such tool
    MISFIT = auto()  # arguments off the schema
    NO_JSON = auto()


class Failure(Enum):
    """How a model call fails after its words."""

    TRANSIENT = auto()
    RATE_LIMIT = auto()
    FINAL = auto()


INVALID = frozenset({Lookup.UNKNOWN, Lookup.MISFIT, Lookup.NO_JSON})
LEFT_OUT = f"{Words.QUOTED.value} [One sentence was left out here: no source holds it.]"
"""What is displayed of PARTLY."""
PASSAGES = frozenset({Lookup.FOUND, Lookup.HUGE, Lookup.FLAKY})


@dataclass(frozen=True)
class Reply:
    """One attempt of a model call."""

    words: Words = Words.NOTHING
    lookups: tuple[Lookup, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class Limits:
    turns: int
    tool_calls: int
    context_chars: int


@dataclass
class Expected:
    """How a turn ends. `attempts` counts the replies that were played, `executed` are the tool calls that were made, by
    the number of their reply in the script; `from_cache` tells whether the last reply had been kept."""

    reason: ExitReason | None = None
    cycles: int = 0
    attempts: int = 0
    answer: str = ""
    from_cache: bool = False
    executed: list[tuple[int, Lookup]] = field(default_factory=list)

    @property
    def tool_calls(self) -> int:
        return len(self.executed)


@dataclass
class Kept:
    """What the caches hold: replies with their numbers in the script, by what was said before them."""

    replies: dict[Hashable, tuple[int, Reply]] = field(default_factory=dict)


def expected_end(
    replies: Sequence[Reply],
    limits: Limits,
    first_chars: int,
    result_chars: Callable[[int], int],
    played: int = 0,
    kept: Kept | None = None,
) -> Expected:
    """`first_chars` is the length of the conversation at the start, `result_chars` that of the nth tool result. The
    first `played` replies were played by earlier turns, which left what is `kept`; what this one leaves is added."""
    script = enumerate(replies[played:], played)
    return _Reading(script, limits, first_chars, result_chars, Kept() if kept is None else kept).end()


class _Reading:
    def __init__(
        self,
        replies: Iterator[tuple[int, Reply]],
        limits: Limits,
        first_chars: int,
        result_chars: Callable[[int], int],
        kept: Kept,
    ) -> None:
        self._replies = replies
        self._kept = kept
        self._said: tuple[Hashable, ...] = ()
        self._limits = limits
        self._chars = first_chars
        self._result_chars = result_chars
        self._end = Expected()
        self._answering = False
        self._was_empty = self._was_reminded = self._was_told = False

    def end(self) -> Expected:
        while self._end.reason is None:
            self._cycle()
        return self._end

    def _cycle(self) -> None:
        if not self._answering and self._end.cycles >= self._limits.turns:
            return self._stop(ExitReason.MAX_TURNS_REACHED)
        if self._chars > self._limits.context_chars:
            return self._stop(ExitReason.MAX_CONTEXT_REACHED)
        self._end.cycles += not self._answering
        before = (self._said, self._answering)
        known = self._kept.replies.get(before)
        called = known or self._call()
        if isinstance(called, ExitReason):
            return self._stop(called)
        number, reply = called
        self._end.from_cache = known is not None
        if reply.lookups and not self._answering:
            self._use(number, reply)
            is_accepted = not any(lookup in INVALID for lookup in reply.lookups)
        else:
            self._judge(reply.words, wants_tools=bool(reply.lookups))
            is_accepted = bool(self._end.answer)
        if is_accepted:
            self._kept.replies[before] = called
        return None

    def _stop(self, reason: ExitReason) -> None:
        self._end.reason = reason

    def _call(self) -> tuple[int, Reply] | ExitReason:
        """The reply of a model call with its retries, or why there is none."""
        for attempt in range(1, MODEL_ATTEMPTS + 1):
            number, reply = next(self._replies)
            self._end.attempts += 1
            if reply.failure is None:
                return number, reply
            if reply.failure is Failure.FINAL or attempt == MODEL_ATTEMPTS:
                break
        return ExitReason.RATE_LIMITED if reply.failure is Failure.RATE_LIMIT else ExitReason.LLM_ERROR

    def _use(self, number: int, reply: Reply) -> None:
        end, lookups = self._end, reply.lookups
        if any(lookup in INVALID for lookup in lookups):
            if self._was_told:
                return self._stop(ExitReason.INVALID_TOOL_CALL)
            self._was_told = True
        valid = [lookup for lookup in lookups if lookup not in INVALID]
        executed = valid[: self._limits.tool_calls - end.tool_calls]
        self._said += (number,)  # no two calls are alike
        self._chars += len(reply.words.value)
        self._chars += sum(self._result_chars(end.tool_calls + n) for n in range(len(executed)))
        end.executed += [(number, lookup) for lookup in executed]
        self._answering = len(executed) < len(valid)
        return None

    def _judge(self, words: Words, *, wants_tools: bool) -> None:
        if not words.value.strip():
            if self._was_empty:
                beyond = ExitReason.MAX_TOOL_CALLS_REACHED
                return self._stop(beyond if wants_tools else ExitReason.LLM_GENERATION_FAILURE)
            self._was_empty = True
            return None
        if self._found_nothing() and words is not Words.QUESTION:
            return self._stop(ExitReason.LLM_GENERATION_FAILURE)
        answer = self._displayed(words)
        if not answer:
            if self._was_reminded:
                return self._stop(ExitReason.LLM_GENERATION_FAILURE)
            self._was_reminded = True
            has_room = self._chars + len(words.value) <= self._limits.context_chars
            self._said += (words if has_room else None,)
            self._chars += len(words.value) if has_room else 0
            return None
        self._end.answer = answer
        return self._stop(ExitReason.MAX_TOOL_CALLS_REACHED if self._answering else ExitReason.COMPLETED)

    def _found_nothing(self) -> bool:
        found = self._found()
        return Lookup.EMPTY in found and not found & PASSAGES

    def _found(self) -> set[Lookup]:
        return {lookup for _, lookup in self._end.executed}

    def _displayed(self, words: Words) -> str:
        """What is displayed of a reply, if anything: only what a passage holds, or what states nothing. No list of
        names makes a statement true."""
        has_passages = bool(self._found() & PASSAGES)
        match words:
            case Words.QUESTION | Words.REFUSAL:
                return str(words.value)
            case Words.QUOTED if has_passages:
                return str(words.value)
            case Words.PARTLY if has_passages and self._was_reminded:
                return LEFT_OUT
            case _:
                return ""
