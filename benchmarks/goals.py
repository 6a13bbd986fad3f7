"""The goals of the service's speed, and whether the results of the other sections meet them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.load import FLAT_OUT, ONE_TOKEN, PACED
from benchmarks.report import Figures, table
from benchmarks.sharing import EMBEDDED, REDIS
from benchmarks.turns import BARE, FASTAPI, SERVICE

Results = Mapping[str, Mapping[str, Any]]
"""By section, its figures and their conditions."""

Value = Callable[[Results], float]


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure that should be at most `limit`, or at least. `before` is what was measured before the goal was set, on
    machines of the same kind."""

    name: str
    before: str
    limit: float
    unit: str
    value: Value
    is_least: bool = False

    def measured(self, results: Results) -> float | None:
        """The figure; None where its section was not measured, or not with this case."""
        try:
            return self.value(results)
        except (KeyError, StopIteration):
            return None

    def is_met(self, value: float) -> bool:
        return value >= self.limit if self.is_least else value <= self.limit


def _row(results: Results, section: str, **wanted: object) -> dict[str, Any]:
    rows: Figures = results[section]["figures"]
    return next(row for row in rows if all(row.get(name) == value for name, value in wanted.items()))


def _turns(workload: str, figure: str, by: str = "") -> Value:
    """A figure of the service at 32 streams, by that of another server."""

    def value(results: Results) -> float:
        def of(server: str) -> float:
            return float(_row(results, "turns", workload=workload, streams=32, server=server)[figure])

        return of(SERVICE) / of(by) if by else of(SERVICE)

    return value


def _search(what: str, figure: str, by: str = "", passages: int = 25_000) -> Value:
    def value(results: Results) -> float:
        def of(searched: str) -> float:
            return float(_row(results, "search", engine="service", passages=passages, what=searched)[figure])

        return of(what) / of(by) if by else of(what)

    return value


def _whole(results: Results) -> float:
    whole = _row(results, "search", what="whole search with its embedding")
    return float(whole["p50_ms"] / _row(results, "search", what="embedding of a question alone")["p50_ms"])


def _memory(results: Results) -> float:
    return float(_row(results, "search", engine="service", passages=100_000, what="both")["index_mb"])


def _grown(what: str) -> Value:
    def value(results: Results) -> float:
        rows: Figures = results["growth"]["figures"]
        return float(next(row["ratio"] for row in rows if row["what"].startswith(what)))

    return value


def _start(what: str, figure: str) -> Value:
    return lambda results: float(_row(results, "start", what=what)[figure])


def _queries(figure: str, *, in_process: bool = False) -> Value:
    def value(results: Results) -> float:
        figures = results["queries"]["figures"][0]
        if results["queries"]["conditions"]["quick"]:
            raise KeyError("a quick run has a tenth of the passages")
        return float((figures["runtime"] if in_process else figures)[figure])

    return value


def _overload(what: str, by: str = "") -> Value:
    def value(results: Results) -> float:
        measured = float(_row(results, "overload", what=what)["value"])
        return measured / float(_row(results, "overload", what=by)["value"]) if by else measured

    return value


def _shared(workload: str, way: str, figure: str) -> Value:
    return lambda results: float(_row(results, "sharing", workload=workload, way=way)[figure])


def _well_predicted(results: Results) -> float:
    """The share of what was measured of replicas that the simulation says within 20 %."""
    names = ("turns_per_s", "first_event_ms", "cpu_ms")
    ratios = [row["predicted"][name] / row[name] for row in results["replicas"]["figures"] for name in names]
    return float(sum(abs(ratio - 1) <= 0.2 for ratio in ratios) / len(ratios))


def _workers(results: Results) -> float:
    one = _row(results, "workers", what="one core")
    return float(_row(results, "workers", what="two cores, --workers 1")["turns_per_s"] / one["turns_per_s"])


_BOTH, _AT_ONCE = "both", "both, 8 at once, elapsed"
_EMPTY = "serve, empty data folder"

GOALS = (
    Goal("a turn of one token, CPU", "8.1 to 10.6", 4, "ms", _turns(ONE_TOKEN.name, "cpu_ms_per_turn")),
    Goal("CPU per token, flat out", "2.07 to 2.20", 1.3, "times bare", _turns(FLAT_OUT.name, "cpu_us_per_token", BARE)),
    Goal("CPU per token, paced", "2.31 to 2.51", 1.7, "times bare", _turns(PACED.name, "cpu_us_per_token", BARE)),
    Goal("first event, flat out", "10 to 26", 3, "times bare", _turns(FLAT_OUT.name, "first_event_p50_ms", BARE)),
    Goal("CPU per token, flat out", "0.75", 0.5, "of FastAPI's", _turns(FLAT_OUT.name, "cpu_us_per_token", FASTAPI)),
    Goal("CPU per token, paced", "1.08", 0.5, "of FastAPI's", _turns(PACED.name, "cpu_us_per_token", FASTAPI)),
    Goal(
        "a turn in a session of 10,000 messages of usual length",
        "1.8 at 4,000",
        1.2,
        "times a new one",
        _grown("a session of 10,000 messages of usual length"),
    ),
    Goal(
        "the same, 10,000 messages of six characters",
        "not measured",
        1.2,
        "times a new one",
        _grown("a session of 10,000 short"),
    ),
    Goal(
        "the same, 600 messages of six characters, which all fit",
        "not measured",
        1.2,
        "times a new one",
        _grown("a session of 600 short"),
    ),
    Goal("a turn with a history of 120 messages", "2.1 (calls)", 2, "times none", _grown("a history of 120")),
    Goal("a whole search, CPU", "8 to 10", 4, "times the embedding of its question", _whole),
    Goal("words and vectors of 25,000 passages, p99 CPU", "over 226", 20, "ms", _search(_BOTH, "p99_ms")),
    Goal(
        "eight searches at once, p99",
        "6.6",
        5,
        "times one at once",
        _search(_AT_ONCE, "p99_ms", "both, 1 at once, elapsed"),
    ),
    Goal("recall of the ten nearest", "0.94", 1, "", _search("vectors", "recall"), is_least=True),
    Goal("load of a matter of 25,000 passages, CPU", "none was loaded", 0.5, "s", _search(_BOTH, "load_cpu_s")),
    Goal("memory of 100,000 passages (to be stated)", "another process", 1_000, "MB", _memory),
    Goal("start to SERVING, CPU", "2.5 to 2.8", 1.5, "s", _start(_EMPTY, "least_cpu_s")),
    Goal("start to SERVING, by the clock", "2.5 to 2.8", 2, "s", _start(_EMPTY, "ready_s")),
    Goal("proviso --help", "not measured", 0.3, "s", _start("--help", "ready_s")),
    Goal(
        "IQL of new statements, 25,000 made passages",
        "0.66 (contracts)",
        0.9,
        "of the classifier alone",
        _queries("all_statements_ratio", in_process=True),
        is_least=True,
    ),
    Goal("IQL of new statements, with the judge", "1", 1.5, "times without", _queries("judged_ratio", in_process=True)),
    Goal("IQL, the same query again, over gRPC", "83", 30, "ms", _queries("repeated_ms")),
    Goal("IQL, statements recombined, over gRPC", "112", 50, "ms", _queries("recombined_ms")),
    Goal(
        "the embedding model's part of ingestion",
        "0.81",
        0.9,
        "of its CPU time",
        _overload("the embedding model alone, CPU ms a passage", "ingestion, CPU ms a passage"),
        is_least=True,
    ),
    Goal("a page is READY on an idle service", "4.1", 1, "s", _overload("a page is READY after its upload, s")),
    Goal(
        "1,000 turns at once that neither complete nor are refused",
        "502 to 932",
        0,
        "turns",
        _overload("1,000 turns at once: neither completed nor refused"),
    ),
    Goal("the slowest refusal of them", "none was refused", 2, "s", _overload("the slowest refusal, s")),
    Goal("the slowest health check meanwhile", "5.8", 0.5, "s", _overload("the slowest health check meanwhile, s")),
    Goal(
        "a line is READY beside two documents of 6 MB",
        "over 100",
        10,
        "s",
        _overload("a line is READY beside two documents of 6 MB, s"),
    ),
    Goal("turns a second of two cores with --workers 1", "1.0", 1.6, "times one core", _workers, is_least=True),
    Goal("a turn of one token, embedded", "1", 1.1, "times 8b21c2ed", _shared(ONE_TOKEN.name, EMBEDDED, "by_before")),
    Goal("a token flat out, turns in Redis", "1", 1.6, "times in memory", _shared(FLAT_OUT.name, REDIS, "by_embedded")),
    Goal("a paced token, turns in Redis", "1", 1.6, "times in memory", _shared(PACED.name, REDIS, "by_embedded")),
    Goal("replicas predicted within 20 %", "not simulated", 1, "of all figures", _well_predicted, is_least=True),
    Goal("an upload that stalls gives its place up", "60", 11, "s", _overload("an upload that stalls is ended, s")),
)


def goals_table(results: Results) -> str:
    """The goals as a Markdown table; those that the results say nothing of are left open."""
    return table(
        ("goal", "before", "now", "aim", "", "met"),
        [_line(goal, goal.measured(results)) for goal in GOALS],
    )


def _line(goal: Goal, value: float | None) -> tuple[str, ...]:
    aim = f"{'at least' if goal.is_least else 'at most'} {_shown(goal.limit)}"
    if value is None:
        return goal.name, goal.before, "not measured", aim, goal.unit, ""
    return goal.name, goal.before, _shown(value), aim, goal.unit, "yes" if goal.is_met(value) else "**no**"


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"
