"""Pages for callers in other languages give a command that finds a matter's id."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from proviso_client import AsyncClient
from tests.support.code_blocks import code_blocks
from tests.support.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["clients/go/README.md", "docs/languages.md"])
async def test_the_command_of_the_page_prints_the_id(staged: Stage, page: str) -> None:
    [program] = re.findall(
        r"^\.venv/bin/python -c '(.*?)'$", "\n".join(code_blocks(ROOT / page, "sh")), re.MULTILINE | re.DOTALL
    )
    async with AsyncClient(staged.target) as client:
        await client.matters.create("Northwind Robotics")
        matter = await client.matters.create("Northwind Robotics")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program.replace("localhost:50051", staged.target), stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    assert printed.decode().split() == [matter.matter_id]
