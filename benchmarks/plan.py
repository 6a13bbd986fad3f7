"""How much is measured. The full run takes less than four minutes on two cores, the quick one less than one."""

from dataclasses import dataclass

from benchmarks.workload import FLAT_OUT, ONE_TOKEN, PACED, Workload


@dataclass(frozen=True, slots=True)
class Case:
    """A load that is measured `rounds` times on every server: `streams` readers at once, each of which reads `turns`
    turns."""

    workload: Workload
    streams: int
    turns: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a run, and `starts`: how often the service is started on each data folder."""

    cases: tuple[Case, ...]
    starts: int


FULL = Plan(
    (
        Case(FLAT_OUT, 1, 20, rounds=2),
        Case(FLAT_OUT, 32, 4, rounds=4),
        Case(FLAT_OUT, 256, 1, rounds=1),
        Case(PACED, 1, 1, rounds=1),
        Case(PACED, 32, 1, rounds=2),
        Case(PACED, 256, 1, rounds=1),
        Case(ONE_TOKEN, 32, 8, rounds=2),
    ),
    starts=3,
)

QUICK = Plan(
    (
        Case(FLAT_OUT, 1, 10, rounds=1),
        Case(FLAT_OUT, 32, 2, rounds=2),
        Case(PACED, 32, 1, rounds=1),
        Case(ONE_TOKEN, 32, 4, rounds=1),
    ),
    starts=1,
)
