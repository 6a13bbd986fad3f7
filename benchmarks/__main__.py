"""`python -m benchmarks [--quick] [--json FILE]` measures the service's start and streaming."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import StartFigures, goals, start_figures, stream_figures
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.processes import ProcessFailed
from benchmarks.report import Report
from benchmarks.startup import measure_starts
from benchmarks.streaming import Result, running_bench


async def _measure(plan: Plan, folder: Path, models_dir: Path) -> Report:
    used = folder / "used"
    streams = stream_figures(await _stream(plan, folder, used, models_dir))
    starts = await _starts(plan, folder, used, models_dir)
    return Report(streams, starts, goals(streams, starts))


async def _stream(plan: Plan, folder: Path, data_dir: Path, models_dir: Path) -> list[Result]:
    results = []
    async with running_bench(folder, data_dir, models_dir) as bench:
        for case in plan.cases:
            _say(f"{case.workload.name}, {case.streams} streams")
            results.append(await bench.measure(case))
    return results


async def _starts(plan: Plan, folder: Path, used: Path, models_dir: Path) -> list[StartFigures]:
    folders = {
        "empty": [folder / f"empty-{number}" for number in range(plan.starts)],
        "used": [used] * plan.starts,
    }
    figures = []
    for kind, data_dirs in folders.items():
        _say(f"start, {kind} data folder")
        figures.append(start_figures(kind, await measure_starts(folder, data_dirs, models_dir)))
    return figures


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the service costs.")
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds: less than a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-benchmark-") as folder:
            plan = QUICK if options.quick else FULL
            report = asyncio.run(_measure(plan, Path(folder), options.models_dir.resolve()))
    except ProcessFailed as error:
        _say(str(error))
        return 1
    print(report.to_markdown())
    if options.json:
        options.json.write_text(report.to_json() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
