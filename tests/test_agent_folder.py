"""The agent's folder of the whole service: the default one, and one that is changed while the service runs."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from proviso_client.v1 import catalog_pb2, context_pb2, sessions_pb2
from proviso_client.v1.catalog_pb2_grpc import CatalogServiceStub
from proviso_service.tools.registry import OWN_TOOL_NAMES
from tests.support.catalogs import RULE, write
from tests.support.running import RunningService

TOOL = context_pb2.CONTEXT_ITEM_TYPE_TOOL
RULE_TYPE = context_pb2.CONTEXT_ITEM_TYPE_RULE


async def test_the_default_agent_and_the_services_own_tools_are_the_catalog(service: RunningService) -> None:
    catalog = CatalogServiceStub(service.channel)
    listed = await catalog.ListContextItems(catalog_pb2.ListContextItemsRequest())
    tools = [item for item in listed.items if item.item.type == TOOL]
    assert {item.item.name for item in tools} == set(OWN_TOOL_NAMES)
    assert {item.item.server_name for item in tools} == {"proviso"}
    reference = context_pb2.ContextItemRef(type=TOOL, name="isaacus_iql", server_name="proviso")
    iql = await catalog.GetContextItem(catalog_pb2.GetContextItemRequest(item=reference))
    assert "query" in json.loads(iql.content)["parameters"]["properties"]

    created = await service.sessions.CreateSession(sessions_pb2.CreateSessionRequest())
    always = {(i.item.type, i.item.name) for i in listed.items if i.include_mode == context_pb2.INCLUDE_MODE_ALWAYS}
    assert {(i.item.type, i.item.name) for i in created.session.items} == always
    assert (RULE_TYPE, "Quoting and citing") in always


class Serving:
    """`proviso serve` as a process of its own, followed by its log."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def logged(self, event: str) -> dict[str, Any]:
        """The next line of the log about an event."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            record: dict[str, Any] = json.loads(line)
            if record["event"] == event:
                return record
        raise AssertionError(f"the process has ended without {event}")


@asynccontextmanager
async def serving(folder: Path, models_dir: Path, agent_dir: Path) -> AsyncIterator[Serving]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proviso_service.cli", "serve", "--port", "0"),
        *("--data-dir", str(folder / "data"), "--models-dir", str(models_dir)),
        env={**os.environ, "PROVISO_AGENT_DIR": str(agent_dir), "PROVISO_TELEMETRY__LOG_FORMAT": "json"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield Serving(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_sighup_reads_the_folder_again_and_a_fault_in_it_changes_nothing(
    tmp_path: Path, models_dir: Path
) -> None:
    agent = write(tmp_path / "agent", rules__a_md=RULE)
    async with serving(tmp_path, models_dir, agent) as service:
        address = (await service.logged("serving"))["address"]
        async with grpc.aio.insecure_channel(address) as channel:

            async def rules() -> list[str]:
                asked = catalog_pb2.ListContextItemsRequest(type=RULE_TYPE)
                listed = await CatalogServiceStub(channel).ListContextItems(asked)
                return [item.item.name for item in listed.items]

            assert await rules() == ["Quoting"]
            write(agent, rules__b_md=RULE.replace("Quoting", "Caps"))
            service.process.send_signal(signal.SIGHUP)
            assert (await service.logged("catalog_loaded"))["items"] == 2 + len(OWN_TOOL_NAMES)
            assert await rules() == ["Caps", "Quoting"]

            write(agent, rules__c_md="no fields")
            service.process.send_signal(signal.SIGHUP)
            assert "rules/c.md:1" in (await service.logged("catalog_not_reloaded"))["reason"]
            assert await rules() == ["Caps", "Quoting"]
        service.process.terminate()
        assert await asyncio.wait_for(service.process.wait(), 30) == 0
