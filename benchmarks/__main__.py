"""`python -m benchmarks [SECTION ...] [--quick] [--write]` measures what the service costs beside others."""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import growth, models, overload, queries, replicas, search, sharing, startup, turns, workers
from benchmarks.competitors import competitors_python
from benchmarks.goals import Results, goals_table
from benchmarks.processes import ProcessFailed
from benchmarks.report import ROOT, Conditions, Place, say

RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "benchmarks" / "results.md"
CHARTS = ROOT / "docs" / "charts"

SECTIONS: dict[str, ModuleType] = {
    "turns": turns,
    "growth": growth,
    "start": startup,
    "search": search,
    "queries": queries,
    "models": models,
    "overload": overload,
    "workers": workers,
    "sharing": sharing,
    "replicas": replicas,
}
"""Each measures its figures, and writes and draws those of any run: `measure`, `tables`, `charts`."""


async def _measure(names: Sequence[str], models_dir: Path, *, quick: bool) -> Results:
    """Measures the sections one after the other."""
    competitors = competitors_python()
    results: dict[str, Any] = {}
    for name in names:
        with tempfile.TemporaryDirectory(prefix="proviso-benchmark-") as folder:
            conditions = Conditions.now(quick=quick)
            figures = await SECTIONS[name].measure(Place(Path(folder), models_dir, competitors, quick))
            conditions.end()
        results[name] = {"conditions": asdict(conditions), "figures": figures}
    return results


def page(results: Results) -> str:
    """The page of the results, as Markdown."""
    parts = [
        "# Results of the benchmarks",
        "Written by `make bench`; [README](README.md) says what is measured and how.",
    ]
    parts += ["## Goals", goals_table(results)]
    for name, result in results.items():
        parts += [f"## {name.capitalize()}", Conditions(**result["conditions"]).line()]
        parts.append(SECTIONS[name].tables(result["figures"]))
    return "\n\n".join(parts) + "\n"


def _write(results: Results) -> None:
    """Keeps the results beside those of the sections that were not measured now, and draws all charts."""
    kept: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    kept = {name: (kept | dict(results))[name] for name in SECTIONS if name in kept or name in results}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")
    CHARTS.mkdir(exist_ok=True)
    for name, result in kept.items():
        for chart, drawing in SECTIONS[name].charts(result["figures"]).items():
            (CHARTS / f"{chart}.svg").write_text(drawing, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the service costs.")
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all where none is named"
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds")
    parser.add_argument("--write", action="store_true", help="keep the results, and write their page and charts")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    try:
        names = options.sections or list(SECTIONS)
        results = asyncio.run(_measure(names, options.models_dir.resolve(), quick=options.quick))
    except (ProcessFailed, subprocess.CalledProcessError) as error:
        say(str(error))
        return 1
    print(page(results))
    if options.write:
        _write(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
