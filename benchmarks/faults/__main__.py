"""`python -m benchmarks.faults [--json FILE]` runs a turn for each fault, with the service's default settings."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults.fault import Fault, Row, measure
from benchmarks.faults.model_faults import MODEL_FAULTS, OUTAGES, SHORT_SILENCE, SHORT_SILENCE_S
from benchmarks.faults.tables import to_json, to_markdown
from benchmarks.faults.tool_faults import TOOL_FAULTS
from benchmarks.faults.world import fault_world
from benchmarks.processes import ProcessFailed

DEFAULTS: dict[str, Any] = {}
LOWERED: dict[str, Any] = {"chat_model": {"silence_s": SHORT_SILENCE_S}}


async def _measure(folder: Path, models_dir: Path) -> list[Row]:
    rows = await _rows("defaults", folder, models_dir, (*MODEL_FAULTS, *TOOL_FAULTS, *OUTAGES), DEFAULTS)
    return rows + await _rows("lowered", folder, models_dir, SHORT_SILENCE, LOWERED)


async def _rows(
    name: str, folder: Path, models_dir: Path, faults: Sequence[Fault], settings: dict[str, Any]
) -> list[Row]:
    rows = []
    async with fault_world(name, folder, models_dir, **settings) as world:
        for fault in faults:
            print(fault.name, file=sys.stderr, flush=True)
            rows.append(await measure(world, fault))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description="Measures how the service fails.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file too")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-faults-") as folder:
            rows = asyncio.run(_measure(Path(folder), options.models_dir.resolve()))
    except ProcessFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(to_markdown(rows))
    if options.json:
        options.json.write_text(to_json(rows) + "\n", encoding="utf-8")
    return 0 if all(row.next_turn.completed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
