"""The service of client_service.py whose own tool `list_matter_documents` works until a file is there:
`python -m tests.support.surviving_service DATA MODELS SETTINGS GATE`. It writes each of its calls to `GATE.calls`."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from proviso_service.agent import state
from proviso_service.tools.list_matter_documents import ListMatterDocuments
from tests.support import client_service
from tests.support.marked_tools import needing_approval
from tests.support.message_scripted_model import Gate


def slow_listing(gate: Path) -> Any:
    run = ListMatterDocuments.run

    async def listed(tool: ListMatterDocuments, *args: Any) -> Any:
        with gate.with_suffix(".calls").open("a") as made:
            made.write(".")
        await Gate(before=0, path=gate).opened()
        return await run(tool, *args)

    return patch.object(ListMatterDocuments, "run", listed)


if __name__ == "__main__":
    setattr(state, "AnswerCheck", client_service.LenientCheck)  # noqa: B010
    with slow_listing(Path(sys.argv[4])), needing_approval(client_service.APPROVED_TOOL):
        asyncio.run(client_service.main(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])))
