"""The results of the benchmarks, as they are shown."""

import json
import random
import xml.etree.ElementTree as ET
from collections.abc import Generator
from statistics import fmean

import pytest

from benchmarks.__main__ import CHARTS, PAGE, RESULTS, SECTIONS, page
from benchmarks.goals import GOALS, Goal, goals_table
from benchmarks.simulation import World, predictions


def test_the_page_of_results_is_that_of_the_kept_figures() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == page(results), "run `make bench`"


def test_the_charts_are_those_of_the_kept_figures() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    drawn = {
        f"{name}.svg": drawing
        for section, result in results.items()
        for name, drawing in SECTIONS[section].charts(result["figures"]).items()
    }
    assert {file.name: file.read_text(encoding="utf-8") for file in CHARTS.glob("*.svg")} == drawn
    assert all(ET.fromstring(drawing).tag.endswith("svg") for drawing in drawn.values())  # noqa: S314


def test_a_goal_is_met_from_its_limit_on() -> None:
    least = Goal("a", "1", 0.9, "", lambda _: 0.0, is_least=True)
    most = Goal("b", "1", 0.9, "", lambda _: 0.0)
    assert [least.is_met(value) for value in (0.8, 0.9, 1.0)] == [False, True, True]
    assert [most.is_met(value) for value in (0.8, 0.9, 1.0)] == [True, True, False]


def test_goals_whose_section_was_not_measured_are_left_open() -> None:
    assert goals_table({}).count("not measured") >= len(GOALS)


@pytest.mark.parametrize("use", [0.3, 0.6, 0.8])
def test_the_simulation_waits_as_long_as_the_closed_form_of_a_shared_processor(use: float) -> None:
    # M/D/1 with a processor that all share: a piece of work takes its own time divided by the idle share.
    work_s, chance = 0.01, random.Random(1)  # noqa: S311 - the same every time
    world, took_s, at_s = World(1, {}), list[float](), 0.0

    def piece() -> Generator[tuple[str, float], None, None]:
        begun_s = world.now_s
        yield "loop", work_s
        took_s.append(world.now_s - begun_s)

    for _ in range(20_000):
        at_s += chance.expovariate(use / work_s)
        world.start(piece(), at_s)
    world.run()
    assert fmean(took_s) == pytest.approx(work_s / (1 - use), rel=0.05)


def test_stations_share_the_cores_of_the_machine() -> None:
    world, ended_s = World(1.5, {"postgres": 2}), list[float]()

    def piece(station: str) -> Generator[tuple[str, float], None, None]:
        yield station, 1.0
        ended_s.append(world.now_s)

    for station in ("loop", "postgres", "postgres"):
        world.start(piece(station))
    world.run()
    assert ended_s == pytest.approx([2.0, 2.0, 2.0])


def test_what_was_measured_of_one_replica_is_what_the_simulation_says_of_it() -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["replicas"]["figures"]
    alone = [row for row in rows if row["replicas"] == 1 and row["workload"] == "one-token"]
    for row, predicted in zip(rows, predictions(rows), strict=True):
        assert row["predicted"] == pytest.approx(predicted)
    assert all(row["predicted"]["cpu_ms"] == pytest.approx(row["cpu_ms"], rel=0.01) for row in alone)
