"""What IQL queries cost over as many passages as 266 contracts have, beside the classifier alone."""

from dataclasses import asdict
from typing import Any

from benchmarks.iql import Report, Runtime, markdown, measure_contracts
from benchmarks.made_contracts import data_folder
from benchmarks.report import Figures, Place, say

CONTRACTS = 266
QUICK_CONTRACTS = 30


async def measure(place: Place) -> Figures:
    """One row with all figures."""
    say("queries: making contracts")
    state = place.folder / "state"
    state.mkdir()
    await data_folder(state, place.models_dir, QUICK_CONTRACTS if place.quick else CONTRACTS)
    return [asdict(await measure_contracts((), place.folder, state, place.models_dir))]


def tables(rows: Figures) -> str:
    """The figures as Markdown tables."""
    return markdown(_report(rows[0]))


def _report(row: dict[str, Any]) -> Report:
    return Report(**{**row, "runtime": Runtime(**row["runtime"])})


def charts(rows: Figures) -> dict[str, str]:
    """There is nothing to draw."""
    return {}
