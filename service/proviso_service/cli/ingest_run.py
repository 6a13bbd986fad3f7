"""An ingest of files into one or more matters, some matters at a time, or into the documentation."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import grpc.aio

from proviso_service.cli.client import DOCUMENTATION, Client, create_matter, explain, newest_matter
from proviso_service.cli.discovery import Found
from proviso_service.cli.replaced import delete_replaced
from proviso_service.cli.uploads import Ingest, Outcome, Progress, Result

MATTERS_AT_ONCE = 4


@dataclass(slots=True)
class IngestRun:
    """`outcomes` holds what is known so far, also when the run is interrupted. With `documentation` the files found
    are for that, and take the places of earlier ones of their names."""

    found: Found
    documentation: bool = False
    outcomes: list[Outcome] = field(default_factory=list)
    _done_bytes: dict[str, float] = field(default_factory=dict)

    async def run(self, client: Client, progress: Progress) -> None:
        """Every file gets one outcome; a matter that fails makes its own files fail and no others. A matter of a name
        that exists is used, the newest of them."""
        queue = iter(self.found.files.items())
        async with asyncio.TaskGroup() as group:
            for _ in range(min(MATTERS_AT_ONCE, len(self.found.files))):
                group.create_task(self._run_matters(client, queue, progress))
        if self.documentation:
            await delete_replaced(client, self.outcomes)

    async def _run_matters(
        self, client: Client, queue: Iterator[tuple[str, Sequence[Path]]], progress: Progress
    ) -> None:
        for name, files in queue:

            def note(done_bytes: float, outcomes: list[Outcome], name: str = name) -> None:
                self.outcomes += outcomes
                self._done_bytes[name] = done_bytes
                progress(sum(self._done_bytes.values()), outcomes)

            try:
                matter_id = await self._matter_id(client, name)
            except grpc.aio.AioRpcError as error:
                reason = explain(error, client.address)
                note(0.0, [Outcome(path, Result.FAILED, reason=reason) for path in files])
            else:
                await Ingest(client, matter_id, files, note).run()

    async def _matter_id(self, client: Client, name: str) -> str:
        if self.documentation:
            return DOCUMENTATION
        matter = await newest_matter(client, name) or await create_matter(client, name)
        return matter.matter_id
