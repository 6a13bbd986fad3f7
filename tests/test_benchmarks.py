"""The results of the benchmarks, as they are shown."""

import json
import xml.etree.ElementTree as ET

from benchmarks.__main__ import CHARTS, PAGE, RESULTS, SECTIONS, page
from benchmarks.goals import GOALS, Goal, goals_table


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
