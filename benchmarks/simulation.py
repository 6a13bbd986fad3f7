"""A queueing simulation of replicas, their client, PostgreSQL and Redis, by measured CPU times.

Processes are stations: Redis, the client and each replica have one core at most, for Python runs one thread at a time,
and PostgreSQL one for each transaction. All of them share the cores of the machine. What waits at a station is served
by turns, in slices, as the event loop and the kernel do. What a turn takes at each station was measured with one
replica."""

import heapq
import random
from collections import Counter, deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import log2
from statistics import median
from typing import Any

import numpy as np

from benchmarks.load import ONE_TOKEN, WORKLOADS, Workload
from benchmarks.report import Figures, percentile
from proviso_service.admission import AT_HAND_S, CROWD, IDLE_ROUND_S, LATEST_S, LOOK_S, QUIET_S, WAIT_S

CLIENT, POSTGRES, REDIS = "client", "postgres", "redis"
SENTENCE_TOKENS = 10
TURN_STEPS = 50
"""So many callbacks of a turn does the event loop run, by a count in the service; and for each token one more, or two
where it is waited for."""

UNLIMITED = 1_000_000
ADJUSTMENTS = 5

Step = tuple[str, float]
"""A station, and the CPU seconds to be had there; or WAIT, and seconds."""

WAIT = ""
Process = Generator[Step, None, None]


class World:
    """Runs processes on stations, which together have so many cores. `limits` are the cores that a station can use at
    once, one where it is not named. `others` is how many threads of other programs always want a core."""

    def __init__(self, cores: float, limits: Mapping[str, float], others: float = 0.0) -> None:
        self.now_s = 0.0
        self.others_s = 0.0
        """The CPU time that other programs had."""

        self.at_station: Counter[str] = Counter()
        self._others = others
        self._cores = cores
        self._limits = limits
        self._working: list[tuple[list[float], str, Process]] = []
        self._waiting: list[tuple[float, int, Process]] = []
        self._numbers = count()

    def start(self, process: Process, at_s: float = 0.0) -> None:
        heapq.heappush(self._waiting, (max(at_s, self.now_s), next(self._numbers), process))

    def run(self) -> None:
        """Returns when all processes have ended."""
        while self._working or self._waiting:
            speed, rates = self._rates()
            ends_s = min((left[0] / rates[station] for left, station, _ in self._working), default=float("inf"))
            until_s = self.now_s + ends_s
            if self._waiting and self._waiting[0][0] <= until_s:
                until_s = self._waiting[0][0]
            passed_s, self.now_s = until_s - self.now_s, until_s
            self.others_s += self._others * speed * passed_s
            for left, station, _ in self._working:
                left[0] -= rates[station] * passed_s
            ended = [work for work in self._working if work[0][0] <= 1e-12]
            self._working = [work for work in self._working if work[0][0] > 1e-12]
            for _, station, process in ended:
                self.at_station[station] -= 1
                self._go_on(process)
            while self._waiting and self._waiting[0][0] <= self.now_s:
                self._go_on(heapq.heappop(self._waiting)[2])

    def _rates(self) -> tuple[float, dict[str, float]]:
        """What a thread has of a core, and each of those who work at a station."""
        threads = {name: min(n, self._limits.get(name, 1)) for name, n in self.at_station.items() if n}
        speed = min(1.0, self._cores / max(sum(threads.values()) + self._others, 1.0))
        return speed, {name: speed * n / self.at_station[name] for name, n in threads.items()}

    def _go_on(self, process: Process) -> None:
        step = next(process, None)
        if step is None:
            return
        station, seconds = step
        if station == WAIT:
            self.start(process, self.now_s + seconds)
        else:
            self.at_station[station] += 1
            self._working.append(([max(seconds, 2e-12)], station, process))


@dataclass(frozen=True, slots=True)
class Costs:
    """What a turn takes of CPU time at each station, in seconds. Of what the replica takes, `loop_s` is its loop's, and
    `begin_s` comes before the first event."""

    client_s: float
    replica_s: float
    loop_s: float
    begin_s: float
    postgres_s: float
    redis_s: float


@dataclass(frozen=True, slots=True)
class Run:
    """So many readers, each of whom reads so many turns, one after the other, of replicas on so many cores, of which
    other programs use `others`."""

    workload: Workload
    streams: int
    turns: int
    replicas: int
    cores: int
    others: float


@dataclass(slots=True)
class Replica:
    """A station with its admission: as many turns run at once as its loop does in `AT_HAND_S`, and further ones begin
    when the loop goes round in `IDLE_ROUND_S`. A turn takes `loop_s` of it, in so many steps."""

    name: str
    loop_s: float
    steps: float
    running: int = 0
    begun_s: float = -1.0
    come_s: float = -1.0
    queue: deque[object] = field(default_factory=deque)

    def admit(self, world: World, chance: random.Random) -> Process:
        """Ends once a turn may begin. Who is refused comes again."""
        self.come_s, me = world.now_s, object()
        if self.queue or self.running >= self._at_hand:
            self.queue.append(me)
            until_s = world.now_s + WAIT_S
            while not (self.queue[0] is me and self._may_begin(world)):
                if world.now_s >= until_s:
                    self.queue.remove(me)
                    yield WAIT, 1.0 + chance.random()
                    yield from self.admit(world, chance)
                    return
                yield WAIT, LOOK_S
            self.queue.popleft()
        self.running += 1
        self.begun_s = world.now_s

    def _may_begin(self, world: World) -> bool:
        is_idle = world.at_station[self.name] * self.loop_s / self.steps < IDLE_ROUND_S
        if world.now_s - self.begun_s > LATEST_S:
            return True
        if len(self.queue) > CROWD:
            return is_idle and world.now_s - self.come_s > QUIET_S
        return is_idle or self.running < self._at_hand

    @property
    def _at_hand(self) -> float:
        return AT_HAND_S / self.loop_s


def _turn(
    world: World, replica: Replica, workload: Workload, costs: Costs, first_s: list[float], chance: random.Random
) -> Process:
    """One turn, from its call to its last event. Events go to Redis behind it."""
    called_s = world.now_s
    yield CLIENT, costs.client_s / 3
    yield from replica.admit(world, chance)
    yield replica.name, costs.begin_s
    yield POSTGRES, costs.postgres_s / 2
    yield CLIENT, costs.client_s / 3
    first_s.append(world.now_s - called_s)
    pieces = -(-workload.tokens // SENTENCE_TOKENS)
    for _ in range(pieces):
        if workload.interval_s:
            yield WAIT, workload.interval_s * workload.tokens / pieces
        yield replica.name, (costs.replica_s - costs.begin_s) / pieces
        world.start(_at(REDIS, costs.redis_s / pieces))
    yield POSTGRES, costs.postgres_s / 2
    replica.running -= 1
    yield CLIENT, costs.client_s / 3


def _steps(workload: Workload) -> float:
    return TURN_STEPS + workload.tokens * (2 if workload.interval_s else 1)


def _at(station: str, seconds: float) -> Process:
    yield station, seconds


@dataclass(frozen=True, slots=True)
class Result:
    turns_per_s: float
    first_event_p50_s: float
    first_event_p99_s: float
    others: float = 0.0


def simulate(run: Run, costs: Costs, others: float) -> Result:
    """Runs the readers of a measured run, beside so many threads of other programs."""
    replicas = [Replica(f"replica {n}", costs.loop_s, _steps(run.workload)) for n in range(run.replicas)]
    world, first_s = World(run.cores, {POSTGRES: UNLIMITED}, others), list[float]()
    chance = random.Random(0)  # noqa: S311

    def read(replica: Replica) -> Process:
        for _ in range(run.turns):
            yield from _turn(world, replica, run.workload, costs, first_s, chance)

    for number in range(run.streams):
        world.start(read(replicas[number % run.replicas]))
    world.run()
    return replace(_result(len(first_s) / world.now_s, first_s), others=world.others_s / world.now_s)


def threads_of_others(run: Run, costs: Costs) -> float:
    """How many threads of other programs have used as much of the cores beside the run as was measured."""
    threads = run.others
    for _ in range(ADJUSTMENTS):
        used = simulate(run, costs, threads).others
        threads *= run.others / used if used else 1.0
    return threads


def simulate_open(workload: Workload, costs: Costs, turns_per_s: float, turns: int, other_s: float = 0.0) -> Result:
    """Runs turns that come to one replica by chance, so many a second, on cores that nothing else uses; each also takes
    `other_s` of the replica."""
    taken = replace(costs, replica_s=costs.replica_s + other_s)
    replica, at_s = Replica("replica", costs.loop_s, _steps(workload)), 0.0
    limits = {POSTGRES: UNLIMITED, CLIENT: UNLIMITED}
    world, first_s = World(UNLIMITED, limits), list[float]()
    chance = random.Random(0)  # noqa: S311
    for _ in range(turns):
        at_s += chance.expovariate(turns_per_s)
        world.start(_turn(world, replica, workload, taken, first_s, chance), at_s)
    world.run()
    return _result(turns / world.now_s, first_s)


def _result(turns_per_s: float, first_s: Sequence[float]) -> Result:
    return Result(turns_per_s, median(first_s), percentile(first_s, 0.99))


def _alone(rows: Figures, workload: str) -> list[dict[str, Any]]:
    """The runs of a workload with one replica, by which the others are predicted; those with fewest streams first."""
    alone = [row for row in rows if row["workload"] == workload and row["replicas"] == 1]
    return sorted(alone, key=lambda row: row["streams"])


def costs_of(rows: Figures, workload: str, streams: float, begin_s: float) -> Costs:
    """What a turn takes where a replica has so many at once. The more it has, the more share commits and wakes: that is
    taken from short turns, and added to what longer ones take."""
    [*_, most], shorts = _alone(rows, workload), _alone(rows, ONE_TOKEN.name)

    def seconds(of: str) -> float:
        places, figures = [log2(row["streams"]) for row in shorts], [float(row[f"{of}_ms"]) for row in shorts]
        more = float(np.interp(log2(streams), places, figures)) - figures[-1]
        return (float(most[f"{of}_ms"]) + more) / 1e3

    replica_s = seconds("replicas")
    loop_s = seconds("loop")
    client_s, redis_s = float(most["client_ms"]) / 1e3, float(most["redis_ms"]) / 1e3
    return Costs(client_s, replica_s, loop_s, min(begin_s, replica_s), seconds(POSTGRES), redis_s)


def run_of(row: Mapping[str, Any]) -> Run:
    workload = WORKLOADS[row["workload"]]
    return Run(workload, row["streams"], row["turns"], row["replicas"], row["cores"], row["others"])


def begin_s_of(rows: Figures) -> float:
    """What a replica takes of a turn before its first event: that with which the runs of short turns with one replica
    have their first events nearest to when they were measured. It alone is fitted, and not measured."""
    shorts = _alone(rows, ONE_TOKEN.name)
    parts = [part * shorts[-1]["replicas_ms"] / 20e3 for part in range(1, 20)]

    def error(begin_s: float) -> float:
        found = [_predicted(rows, row, begin_s)["first_event_ms"] / row["first_event_ms"] for row in shorts]
        return sum(abs(log2(ratio)) for ratio in found)

    return float(min(parts, key=error))


def _predicted(rows: Figures, row: Mapping[str, Any], begin_s: float) -> dict[str, float]:
    costs = costs_of(rows, row["workload"], row["streams"] / row["replicas"], begin_s)
    result = simulate(run_of(row), costs, threads_of_others(run_of(row), costs))
    return {
        "turns_per_s": result.turns_per_s,
        "first_event_ms": result.first_event_p50_s * 1e3,
        "cpu_ms": (costs.replica_s + costs.postgres_s + costs.redis_s) * 1e3,
    }


def predictions(rows: Figures) -> list[dict[str, float]]:
    """What is predicted of each run by those with one replica: turns a second, first events, CPU time of a turn."""
    begin_s = begin_s_of(rows)
    return [_predicted(rows, row, begin_s) for row in rows]
