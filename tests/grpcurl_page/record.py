"""Runs docs/grpcurl.md against the real service: `python -m tests.grpcurl_page.record` tells where the page is not what
the commands print, with `--write` it puts there what they do. Prose, commands and cuts are written by hand; for a new
command put an empty block of `text` where its output belongs."""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from proviso_service.embedded.prepare import prepare
from tests.grpcurl_page.cuts import CutError, shortened
from tests.grpcurl_page.page import Example, Page, parse, render
from tests.grpcurl_page.sameness import Correspondence
from tests.grpcurl_page.serving import serving
from tests.grpcurl_page.shell import CommandFailed, Shell, shell
from tests.grpcurl_page.tools import ROOT, tools

PAGE = ROOT / "docs" / "grpcurl.md"
INSTALL: Final = "go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4"
"""Not run: requirements/grpcurl builds the same version."""
SERVE: Final = "PROVISO_AGENT_DIR=agent PROVISO_SERVER__MAX_TURNS_RUNNING=1 proviso serve"
"""Run beside the commands that follow it."""

_ADDRESS = re.compile(r"(?:localhost|127\.0\.0\.1):50051")


@dataclass
class Run:
    """The page with the outputs of this run. `failures` are commands that could not be run or cuts that do not fit,
    `differences` outputs that are not those of the page."""

    page: Page = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


async def run(page: Page, programs: Path, models_dir: Path, folder: Path) -> Run:
    """Runs the commands in order, in one shell in `folder`, which is empty; `programs` has grpcurl and jq."""
    (folder / "service").symlink_to(ROOT / "service")
    done, same, address = Run(), Correspondence(), ""
    environment = _environment(programs, models_dir)
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(shell(folder, environment))
        for part in page:
            if isinstance(part, str) or part.command == INSTALL:
                done.page.append(part)
            elif part.command == SERVE:
                done.page.append(part)
                address = await stack.enter_async_context(serving(SERVE, folder, environment))
                await opened.run(f'proviso() {{ command proviso "$@" --address {address}; }}')
            else:
                done.page.append(await _run(part, opened, address, same, done))
    return done


async def _run(example: Example, opened: Shell, address: str, same: Correspondence, done: Run) -> Example:
    where = f"line {example.line}: {example.command}\n"
    printed = ""
    try:
        printed = await opened.run(_ADDRESS.sub(address, example.command))
        output = shortened(printed, example.cuts)
    except (CommandFailed, CutError) as error:
        done.failures.append(f"{where}{error}\n{printed}")
        return example
    except TimeoutError as error:
        error.add_note(where)
        raise
    if difference := same.difference(example.output or "", output):
        done.differences.append(f"{where}{difference}")
    return replace(example, output=output or None)


def _environment(programs: Path, models_dir: Path) -> Mapping[str, str]:
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    chosen = {"PATH": path, "LC_ALL": "C.UTF-8", "PROVISO_MODELS_DIR": str(models_dir)}
    return {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ} | chosen


async def _record(*, write: bool) -> int:
    models_dir = ROOT / ".proviso" / "models"
    prepare(models_dir)
    with tempfile.TemporaryDirectory() as folder:
        done = await run(parse(PAGE.read_text(encoding="utf-8")), tools(), models_dir, Path(folder))
    print("\n\n".join([*done.failures, *done.differences]) or "the page is what the commands print")
    if done.failures or not (done.differences and write):
        return 1 if done.failures or done.differences else 0
    PAGE.write_text(render(done.page), encoding="utf-8")
    print(f"{PAGE} is written again")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_record(write="--write" in sys.argv[1:])))
