"""The figures of a run, computed from its measurements and ready for JSON, with the goals that they are compared
with."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.startup import Start
from benchmarks.streaming import BARE, FASTAPI, SERVERS, SERVICE, Result, Round
from benchmarks.workload import ONE_TOKEN

MAX_CPU_RATIO = 1.5
MAX_SHARE_OF_FASTAPI = 1 / 3
MAX_READY_S = 3.0
MAX_IDLE_MB = 500.0

_GOAL_STREAMS = 32
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """One case on one server, all rounds together. `cpu_ratio` is its CPU time per token divided by that of the bare
    server."""

    workload: str
    streams: int
    server: str
    tokens_per_s: float
    cpu_us_per_token: float
    cpu_ratio: float
    cpu_us_per_event: float
    tokens_per_event: float
    cpu_ms_per_turn: float
    first_event_p50_ms: float
    first_event_p99_ms: float
    first_token_p50_ms: float
    first_token_p99_ms: float
    cpu_us_per_token_by_round: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StartFigures:
    """The starts on one kind of data folder. `ready_cpu_s` is the least CPU time of a start; the memory is that of the
    start that took most."""

    data_folder: str
    starts: int
    ready_best_s: float
    ready_median_s: float
    ready_cpu_s: float
    serving_mb: float
    idle_mb: float


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure that should be at most `limit`."""

    name: str
    value: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.limit


def stream_figures(results: Sequence[Result]) -> list[StreamFigures]:
    return [_of_server(result, server) for result in results for server in SERVERS]


def start_figures(data_folder: str, starts: Sequence[Start]) -> StartFigures:
    ready = [start.ready_s for start in starts]
    return StartFigures(
        data_folder,
        len(starts),
        min(ready),
        median(ready),
        min(start.ready_cpu_s for start in starts),
        max(start.serving_bytes for start in starts) / _MB,
        max(start.idle_bytes for start in starts) / _MB,
    )


def goals(streams: Sequence[StreamFigures], starts: Sequence[StartFigures]) -> list[Goal]:
    ratios = [
        Goal(f"CPU per token, {f.workload}, {f.streams} streams", f.cpu_ratio, MAX_CPU_RATIO, "times the bare server")
        for f in streams
        if f.server == SERVICE and f.streams == _GOAL_STREAMS and f.workload != ONE_TOKEN.name
    ]
    by_case = {(f.workload, f.streams, f.server): f.cpu_us_per_token for f in streams}
    shares = [
        Goal(
            f"CPU per token, {f.workload}, {f.streams} streams",
            f.cpu_us_per_token / by_case[f.workload, f.streams, FASTAPI],
            MAX_SHARE_OF_FASTAPI,
            "times the same graph behind FastAPI",
        )
        for f in streams
        if f.server == SERVICE and f.streams == _GOAL_STREAMS and f.workload != ONE_TOKEN.name
    ]
    ready = [Goal(f"Start, {f.data_folder} data folder", f.ready_median_s, MAX_READY_S, "s") for f in starts]
    memory = [Goal(f"Idle memory, {f.data_folder} data folder", f.idle_mb, MAX_IDLE_MB, "MB") for f in starts]
    return [*ratios, *shares, *ready, *memory]


def _of_server(result: Result, server: str) -> StreamFigures:
    rounds = result.rounds[server]
    cpu_s = sum(r.cpu_s for r in rounds)
    tokens = sum(r.seen.tokens for r in rounds)
    events = sum(r.seen.events for r in rounds)
    first_events = sorted(s for r in rounds for s in r.seen.first_event_s)
    first_tokens = sorted(s for r in rounds for s in r.seen.first_token_s)
    cpu_us_per_token = cpu_s * 1e6 / tokens
    return StreamFigures(
        workload=result.case.workload.name,
        streams=result.case.streams,
        server=server,
        tokens_per_s=tokens / sum(r.seen.elapsed_s for r in rounds),
        cpu_us_per_token=cpu_us_per_token,
        cpu_ratio=cpu_us_per_token / _cpu_us_per_token(result.rounds[BARE]),
        cpu_us_per_event=cpu_s * 1e6 / events,
        tokens_per_event=tokens / events,
        cpu_ms_per_turn=cpu_s * 1e3 / sum(r.seen.turns for r in rounds),
        first_event_p50_ms=_percentile(first_events, 0.5) * 1e3,
        first_event_p99_ms=_percentile(first_events, 0.99) * 1e3,
        first_token_p50_ms=_percentile(first_tokens, 0.5) * 1e3,
        first_token_p99_ms=_percentile(first_tokens, 0.99) * 1e3,
        cpu_us_per_token_by_round=tuple(r.cpu_s * 1e6 / r.seen.tokens for r in rounds),
    )


def _cpu_us_per_token(rounds: Sequence[Round]) -> float:
    return sum(r.cpu_s for r in rounds) * 1e6 / sum(r.seen.tokens for r in rounds)


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
